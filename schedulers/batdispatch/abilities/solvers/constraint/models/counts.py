"""Our model of units counted by node, for CP-SAT."""

from __future__ import annotations

from typing import Any

import numpy as np

from batdispatch.abilities.solvers.constraint.instance import Instance
from batdispatch.abilities.solvers.constraint.lists import Plan
from batdispatch.abilities.solvers.constraint.models.for_cp_sat import ForCpSat
from batdispatch.abilities.solvers.solving.runner import Value


class Counts(ForCpSat):
    """Ours: how many units of each job are on each node; a cumulative with these demands per node and resource.

    Has the same solutions as PCP'19 without telling equal units of a node apart. Nodes that no job could use are left
    out, and the pooled capacity is an implied constraint. The solver is told the plan, as a complete solution.
    """

    name = "counts"

    def __init__(self, instance: Instance, plan: Plan) -> None:
        """Make the model of an instance, of which a feasible plan is known."""
        super().__init__(instance, plan, bounded=True)
        self._build()
        for job, row in self.placed.items():
            self.cp.add_hint(self.starts[job], int(plan.starts[job]))
            there = self.planned(job)
            for node, variable in row.items():
                self.cp.add_hint(variable, there.get(node, 0))

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
            self.cumulative(spans, demands, self.held_on(node, axis), int(self.capacity[node, axis]))
        if len(self.capacity) > 1:
            self.pool()

    def counts(self, job: int, value: Value) -> dict[int, int]:
        return {node: value(count) for node, count in self.placed[job].items()}
