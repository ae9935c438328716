"""What models for CP-SAT have in common."""

from __future__ import annotations

from typing import Any

from batdispatch.abilities.solvers.constraint.instance import Instance
from batdispatch.abilities.solvers.constraint.lists import Plan
from batdispatch.abilities.solvers.constraint.models.problem import InstanceModel
from batdispatch.abilities.solvers.solving.cp_sat import CpSatModel
from batdispatch.abilities.solvers.solving.runner import Answer, Limits


class ForCpSat(InstanceModel, CpSatModel):
    """A model with one start variable and one interval per job, and the objective."""

    def __init__(self, instance: Instance, plan: Plan, *, bounded: bool) -> None:
        """Make starts and intervals.

        Args:
            instance: the instance.
            plan: a feasible plan of it.
            bounded: whether plans that cost more than this one are of no use.
        """
        super().__init__(instance, plan)
        cp, weights = self.cp, self.weights
        # A plan that costs no more than the given one delays no job by more than this.
        budget = sum(weights[job] * int(plan.starts[job]) for job in self.moved)
        last = {
            job: min(self.latest[job], budget // weights[job]) if bounded else self.latest[job] for job in self.moved
        }
        self.starts = {job: cp.new_int_var(self.soonest[job], last[job], f"s{job}") for job in self.moved}
        self.spans = {
            job: cp.new_fixed_size_interval_var(start, self.durations[job], f"t{job}")
            for job, start in self.starts.items()
        }
        cp.minimize(sum(weights[job] * start for job, start in self.starts.items()))

    def cumulative(self, spans: list[Any], demands: list[Any], held: list[tuple[int, int, int]], capacity: int) -> None:
        if spans:
            fixed = [self.cp.new_fixed_size_interval_var(begin, end - begin, "") for begin, end, _ in held]
            self.cp.add_cumulative(spans + fixed, demands + [amount for _, _, amount in held], capacity)

    def solve(self, limits: Limits) -> Answer:
        return self.admit(super().solve(limits))
