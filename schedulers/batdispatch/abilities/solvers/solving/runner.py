"""The one way to call a solver: a hint, deterministic limits, one worker, a seed, and the better of hint and incumbent.

A family brings a model and nothing more. A model is made on a backend, and each backend has a file: `cp_sat.py` for
CP-SAT. To add another backend (a MIP solver, say), add a file whose class has the methods of `Model`; nothing here
changes. A backend's file is imported only when a model is built, because loading a solver takes half a second.

Guarantee: the solution costs no more than the hint, unless the caller asks for the incumbent whatever it costs.
Time: bounded by `Limits.work`, and by `Limits.wall` as a safety net, which is recorded when it is reached.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import msgspec

S = TypeVar("S")
S_co = TypeVar("S_co", covariant=True)

#: The effort at which the solvers' part of a decision ends, as a multiple of its limit.
MOST = 10.0

#: Deterministic seconds that an entry of a model takes to be built and to be loaded: a variable in a row, or where rows
#: are counted as a whole, a variable or a constraint.
ENTRY_SECONDS = 1e-5

#: Reads a variable's value.
Value = Callable[[Any], int]


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """When a solver stops.

    Attributes:
        work: limit in the solver's deterministic time, so that the same limit stops at the same place on any machine.
        wall: limit in seconds of wall-clock time, a safety net.
        seed: seed of the solver's random choices.
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
        beyond: whether the search ended since its effort came to a multiple of the limit, before its rule ended it.
    """

    status: str
    bound: float
    work: float
    stopped: bool
    value: Value | None
    beyond: bool = False


class Model(Protocol[S_co]):
    """A model on some backend, for the least cost."""

    def size(self) -> tuple[int, int]:
        """Return the numbers of variables and constraints as the solver has them."""

    def solve(self, limits: Limits) -> Answer:
        """Let the backend solve the model with one worker."""

    def read(self, value: Value) -> tuple[S_co, float]:
        """Return the solution that the variables' values stand for, and its cost."""


class SolverResult(msgspec.Struct, Generic[S], kw_only=True):
    """What came of a problem.

    Attributes:
        solution: the best solution known.
        cost: of it.
        status: the solver's word (see `Answer`); where no solver was called, BOUND if a bound proves the solution
            optimal, GREEDY if nothing was proved, and UNKNOWN if a model was wanted and could not be built.
        bound: a cost that no solution undercuts; where the model has a bound of its own, no solution of the model.
        first: cost of the hint.
        variables, constraints: of the model; 0 where none was built.
        build_seconds, solve_seconds: by the clock that was handed in.
        work: the solver's deterministic time.
        limited: whether the wall-clock safety net ended the search, so that another machine may decide otherwise.
        beyond: see `Answer`.
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
    beyond: bool = False

    @property
    def solved(self) -> bool:
        """Whether the solution was found as it was meant to be: not where a solver was to find one and found none."""
        return self.status not in ("UNKNOWN", "INFEASIBLE")

    @property
    def gap(self) -> float:
        """How far the cost may be above the least one: (cost - bound) / |cost|; 0 where the cost is 0."""
        return (self.cost - self.bound) / abs(self.cost) if self.cost else 0.0

    @property
    def improvement(self) -> float:
        """How much less than the hint the solution costs: (first - cost) / |first|; 0 where the hint costs nothing."""
        return (self.first - self.cost) / abs(self.first) if self.first else 0.0


def result_without_solver(
    solution: S, cost: float, *, bound: float, status: str = "", seconds: float = 0.0
) -> SolverResult[S]:
    """Return a problem's solution that no solver was called for; the status is worked out unless given."""
    status = status or ("BOUND" if cost <= bound else "GREEDY")
    return SolverResult(solution=solution, cost=cost, status=status, bound=bound, first=cost, solve_seconds=seconds)


def run(
    build: Callable[[], Model[S]],
    hint: tuple[S, float],
    *,
    bound: float,
    limits: Limits,
    clock: Callable[[], float],
    trust: bool = True,
) -> SolverResult[S]:
    """Build a model, solve it, and return the better of the hint and the solver's incumbent.

    Args:
        build: makes the model, and tells it of the hint.
        hint: a feasible solution and its cost.
        bound: a cost that no solution undercuts.
        limits: when the solver stops.
        clock: seconds, for the account.
        trust: whether the hint may be returned. If not, an incumbent is returned even if it costs more than the hint;
            for tests of models that were not told the hint.

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
    return SolverResult(
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
        beyond=answer.beyond,
    )
