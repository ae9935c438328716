"""Our model of units counted by node, for CP-SAT."""

from __future__ import annotations

from typing import Any

import numpy as np

from batdispatch.dispatchers.constraint.instance import Instance
from batdispatch.dispatchers.constraint.lists import Plan
from batdispatch.dispatchers.constraint.models.problem import Problem
from batdispatch.parts.solving.cp_sat import CpSatModel
from batdispatch.parts.solving.runner import Answer, Limits, Value


class Counts(Problem, CpSatModel):
    """Ours: how many units of each job are on each node; a cumulative with these demands per node and resource.

    Has the same solutions as PCP'19 without telling equal units of a node apart. Nodes that no job could use are left
    out, and the pooled capacity is an implied constraint. The solver is told the plan, as a complete solution.
    """

    name = "counts"

    def __init__(self, instance: Instance, plan: Plan, *, hint: bool = True) -> None:
        """Make the model.

        Args:
            instance: the instance.
            plan: a feasible plan of it.
            hint: whether the solver is told the plan, and that worse ones are of no use.
        """
        super().__init__(instance, plan)
        cp, weights = self.cp, self.weights
        # A plan that costs no more than the hint delays no job by more than this.
        budget = sum(weights[job] * int(plan.starts[job]) for job in self.moved)
        latest = {job: min(self.horizon, budget // weights[job]) if hint else self.horizon for job in self.moved}
        self.starts = {job: cp.new_int_var(0, latest[job], f"s{job}") for job in self.moved}
        self.spans = {
            job: cp.new_fixed_size_interval_var(start, self.durations[job], f"t{job}")
            for job, start in self.starts.items()
        }
        cp.minimize(sum(weights[job] * start for job, start in self.starts.items()))
        self._build()
        if hint:
            for job, row in self.placed.items():
                cp.add_hint(self.starts[job], int(plan.starts[job]))
                there = self.planned(job)
                for node, variable in row.items():
                    cp.add_hint(variable, there.get(node, 0))

    def _build(self) -> None:
        cp = self.cp
        #: By job and node: the variable of how many units are there.
        self.placed: dict[int, dict[int, Any]] = {}
        for job in self.moved:
            able = self.able(job)
            self.placed[job] = {node: cp.new_int_var(0, count, f"n{job},{node}") for node, count in able.items()}
            # Every unit is somewhere.
            cp.add(sum(self.placed[job].values()) == self.units(job))
        # A cumulative per node and resource.
        for node, axis in np.argwhere(self.capacity > 0).tolist():
            spans, demands = [], []
            for job, row in self.placed.items():
                amount = self.amount(job, node, axis)
                if amount and node in row:
                    spans.append(self.spans[job])
                    demands.append(amount * row[node])
            self._cumulative(spans, demands, self.held_on(node, axis), int(self.capacity[node, axis]))
        if len(self.capacity) > 1:
            for axis, total in enumerate(self.capacity.sum(axis=0).tolist()):
                needs: list[int] = self.instance.needs[:, axis].tolist()
                using = [job for job in self.moved if needs[job]]
                spans, demands = [self.spans[job] for job in using], [needs[job] for job in using]
                self._cumulative(spans, demands, self.held_in_all(axis), total)

    def _cumulative(
        self, spans: list[Any], demands: list[Any], held: list[tuple[int, int, int]], capacity: int
    ) -> None:
        """Add a cumulative constraint; `held` are (begin, end, amount) of jobs that are not moved."""
        if spans:
            fixed = [self.cp.new_fixed_size_interval_var(begin, end - begin, "") for begin, end, _ in held]
            self.cp.add_cumulative(spans + fixed, demands + [amount for _, _, amount in held], capacity)

    def solve(self, limits: Limits) -> Answer:
        return self.admit(super().solve(limits))

    def counts(self, job: int, value: Value) -> dict[int, int]:
        return {node: value(count) for node, count in self.placed[job].items()}
