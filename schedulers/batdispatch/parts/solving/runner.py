"""The one way to call a solver: a hint, deterministic limits, one worker, a seed, and the better of hint and incumbent.

A family brings a model and nothing more. A model is made on a backend, of which there is one file each: `cp_sat.py` for
CP-SAT. Another one (a MIP solver, say) is another file whose class has the methods of `Model`; nothing here changes.
A backend's file is imported only when a model is built: loading a solver takes half a second.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import msgspec

S = TypeVar("S")
S_co = TypeVar("S_co", covariant=True)

#: Reads a variable's value.
Value = Callable[[Any], int]


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """When a solver stops.

    Attributes:
        work: limit in the solver's deterministic time, so that the same limit stops at the same place on any machine.
        wall: limit in seconds of wall-clock time, a safety net.
        seed: of the solver's random choices.
    """

    work: float
    wall: float
    seed: int = 0


class Answer(NamedTuple):
    """What a backend says of a model.

    Attributes:
        status: OPTIMAL, FEASIBLE (there is an incumbent), UNKNOWN (there is none) or INFEASIBLE.
        bound: no solution of the model costs less; minus infinity where nothing is known.
        work: deterministic time spent.
        stopped: whether the wall-clock limit ended the search.
        value: reads the incumbent; None: there is none.
    """

    status: str
    bound: float
    work: float
    stopped: bool
    value: Value | None


class Model(Protocol[S_co]):
    """A model on some backend, for the least cost."""

    def size(self) -> tuple[int, int]:
        """Return the numbers of variables and constraints as the solver has them."""

    def solve(self, limits: Limits) -> Answer:
        """Let the backend solve the model with one worker."""

    def read(self, value: Value) -> tuple[S_co, float]:
        """Return the solution that the variables' values stand for, and its cost."""


class Found(msgspec.Struct, Generic[S], kw_only=True):
    """What came of a problem.

    Attributes:
        solution: the best solution known.
        cost: of it.
        status: the solver's word (see `Answer`); where no solver was called, BOUND if a bound proves the solution
            optimal, GREEDY if nothing was proved, and UNKNOWN if a model was wanted and could not be built.
        bound: a cost that no solution undercuts.
        first: cost of the hint.
        variables, constraints: of the model; 0 where none was built.
        build_seconds, solve_seconds: by the clock that was handed in.
        work: the solver's deterministic time.
        limited: whether the wall-clock safety net ended the search, so that another machine may decide otherwise.
    """

    solution: S
    cost: float
    status: str
    bound: float
    first: float
    variables: int = 0
    constraints: int = 0
    build_seconds: float = 0.0
    solve_seconds: float = 0.0
    work: float = 0.0
    limited: bool = False

    @property
    def solved(self) -> bool:
        """Whether a solution was found by what was to find it."""
        return self.status not in ("UNKNOWN", "INFEASIBLE")


def settled(solution: S, cost: float, *, bound: float, status: str = "", seconds: float = 0.0) -> Found[S]:
    """Return a problem's solution that no solver was called for; the status is worked out unless given."""
    status = status or ("BOUND" if cost <= bound else "GREEDY")
    return Found(solution=solution, cost=cost, status=status, bound=bound, first=cost, solve_seconds=seconds)


def run(
    build: Callable[[], Model[S]],
    hint: tuple[S, float],
    *,
    bound: float,
    limits: Limits,
    clock: Callable[[], float],
    trust: bool = True,
) -> Found[S]:
    """Build a model, solve it, and return the better of the hint and the solver's incumbent.

    Args:
        build: makes the model, and tells it of the hint.
        hint: a feasible solution and its cost.
        bound: a cost that no solution undercuts.
        limits: when the solver stops.
        clock: seconds, for the account.
        trust: False: an incumbent is returned even if it costs more than the hint, which it was not told.

    Raises:
        BatdispatchError: the solver refuses the model.
    """
    began = clock()
    model = build()
    variables, constraints = model.size()
    built = clock()
    answer = model.solve(limits)
    ended = clock()
    solution, cost = hint
    if answer.value is not None:
        found, found_cost = model.read(answer.value)
        if found_cost < cost or not trust:
            solution, cost = found, found_cost
    return Found(
        solution=solution,
        cost=cost,
        status=answer.status,
        bound=max(bound, min(answer.bound, cost)),
        first=hint[1],
        variables=variables,
        constraints=constraints,
        build_seconds=built - began,
        solve_seconds=ended - built,
        work=answer.work,
        limited=answer.stopped,
    )
