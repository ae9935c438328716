"""The effort of one decision that calls solvers several times, and the end that all its calls share.

The deterministic time of a solver counts its search. The effort counts as well what a model takes to be built and
loaded, which is estimated from its entries before anything is built, and what linear relaxations take. What would
exceed `MOST` times the limit is not begun, or is cut short. The decision then goes on with what it has, and is counted
and told.

Guarantee: `spent <= MOST * limits.work`, but for what a solver exceeds the limit by that it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from batdispatch.abilities.solvers.solving.runner import (
    ENTRY_SECONDS,
    MOST,
    Limits,
    Model,
    SolverResult,
    result_without_solver,
    run,
)

S = TypeVar("S")


class Effort:
    """What the solvers have taken for one decision so far.

    Attributes:
        limits: when each call stops; `work` is also what the end of all calls is a multiple of.
        spent: deterministic seconds, everything counted.
        work: deterministic time of the solvers alone.
        build_seconds, solve_seconds: by the clock that was handed in.
        variables, constraints: of the largest model.
        limited: whether the wall-clock safety net ended a search.
        beyond: whether something was not begun or was cut short, since it would have gone beyond the end.
    """

    def __init__(self, limits: Limits, clock: Callable[[], float]) -> None:
        self.limits, self.clock = limits, clock
        self.spent = self.work = self.build_seconds = self.solve_seconds = 0.0
        self.variables = self.constraints = 0
        self.limited = self.beyond = False

    @property
    def left(self) -> float:
        """Deterministic seconds until the end."""
        return max(MOST * self.limits.work - self.spent, 0.0)

    def spend(self, seconds: float) -> bool:
        """Return whether so many more deterministic seconds may be taken; if so, **they count as taken**."""
        if seconds >= self.left:
            self.beyond = True
            return False
        self.spent += seconds
        return True

    def run(
        self,
        build: Callable[[], Model[S]],
        hint: tuple[S, float],
        *,
        bound: float,
        entries: int,
        work: float | None = None,
    ) -> SolverResult[S]:
        """Build a model and solve it, as `runner.run` does. A model that is too large to be built is UNKNOWN.

        Args:
            build: makes the model, and tells it of the hint.
            hint: a feasible solution and its cost.
            bound: a cost that no solution undercuts.
            entries: about how many entries the model has.
            work: deterministic time for this call, where it has less than `limits.work`.

        Raises:
            BatdispatchError: the solver refuses the model.
        """
        if not self.spend(entries * ENTRY_SECONDS):
            return result_without_solver(*hint, bound=bound, status="UNKNOWN")
        wanted = self.limits.work if work is None else work
        limits = msgspec.structs.replace(self.limits, work=min(wanted, self.left))
        found = run(build, hint, bound=bound, limits=limits, clock=self.clock)
        self.spent += found.work
        self.work += found.work
        self.build_seconds += found.build_seconds
        self.solve_seconds += found.solve_seconds
        self.variables = max(self.variables, found.variables)
        self.constraints = max(self.constraints, found.constraints)
        self.limited |= found.limited
        self.beyond |= limits.work < wanted and found.status in ("FEASIBLE", "UNKNOWN")
        return found

    def figures(self) -> Mapping[str, Any]:
        """Return what a `SolverResult` of all calls together says of them."""
        return {
            "variables": self.variables,
            "constraints": self.constraints,
            "build_seconds": self.build_seconds,
            "solve_seconds": self.solve_seconds,
            "work": self.work,
            "limited": self.limited,
            "beyond": self.beyond,
        }
