"""What the published models have in common: they are searched from scratch by the papers' rules.

A search is told of no plan and of no bound: what it returns it has found.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from batdispatch.abilities.solvers.constraint.instance import Instance
from batdispatch.abilities.solvers.constraint.lists import Plan
from batdispatch.abilities.solvers.constraint.models.problem import InstanceModel
from batdispatch.abilities.solvers.solving.depth_first import DepthFirstModel
from batdispatch.abilities.solvers.solving.runner import MOST, Answer, Limits

#: How often HCP'19 and PCP'19 double their limit: from 1 s to 16 s.
DOUBLINGS = 4
#: Ten times the last of these limits.
MOST_DOUBLED = MOST * 2**DOUBLINGS


class SearchedModel(InstanceModel, DepthFirstModel):
    """A model with one start variable and one interval per job, and the objective."""

    def __init__(self, instance: Instance, plan: Plan) -> None:
        super().__init__(instance, plan)
        cp = self.cp
        self.starts = {job: cp.IntVar(self.soonest[job], self.latest[job], f"s{job}") for job in self.moved}
        self.spans = {
            job: cp.FixedDurationIntervalVar(start, self.durations[job], f"t{job}")
            for job, start in self.starts.items()
        }
        self.variables += self.starts.values()
        self.objective = cp.ScalProd(list(self.starts.values()), [self.weights[job] for job in self.moved]).Var()
        self.build()

    def build(self) -> None:
        """Add the constraints."""
        raise NotImplementedError

    def solve(self, limits: Limits) -> Answer:
        if not self.moved:
            return Answer("FEASIBLE", -math.inf, 0.0, False, lambda variable: 0)
        return self.admit(super().solve(limits))

    def cumulative(self, spans: list[Any], demands: list[Any], held: list[tuple[int, int, int]], capacity: int) -> None:
        if not spans:
            return
        fixed = [self.cp.FixedInterval(begin, end - begin, "") for begin, end, _ in held]
        amounts = [amount for _, _, amount in held]
        self.tasks += len(spans) + len(held)
        self.cp.Add(self.cp.Cumulative(spans + fixed, demands + amounts, capacity, ""))


class DoublingLimit:
    """The limit of HCP'19 and PCP'19: doubled until the best cost is the same at two limits in a row.

    The authors begin anew each time, from 1 to 16 s. A deterministic search that goes on finds the same.
    """

    def __init__(self) -> None:
        self._checks = 0
        self._last: int | None = None

    def enough(self, spent: float, limit: float, best: Callable[[], int | None]) -> bool:
        """Return whether to stop after so much work (see `DepthFirstModel.enough`)."""
        while self._checks <= DOUBLINGS and spent >= limit * 2**self._checks:
            cost = best()
            self._checks += 1
            if cost is not None and cost == self._last:
                return True
            self._last = cost
        return self._checks > DOUBLINGS


class DoublingModel(SearchedModel):
    """A model that is searched within a `DoublingLimit`."""

    most = MOST_DOUBLED

    def __init__(self, instance: Instance, plan: Plan) -> None:
        self._limit = DoublingLimit()
        super().__init__(instance, plan)

    def enough(self, spent: float, limit: float, best: Callable[[], int | None]) -> bool:
        return self._limit.enough(spent, limit, best)
