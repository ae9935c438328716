"""OR-Tools' original constraint solver as a backend of models: depth-first search by a rule, without learning.

The papers of the constraint family solve with it. It has no deterministic time of its own. Its work is counted here in
the checks that it makes of its limits, at each step of the search and after each 10,000 propagations, times the size of
the model. The work that limits and rules speak of leaves out the first propagation, and what a step takes beyond that
size. The *effort* counts both, and ends a search at `most` times its limit whatever the rule says.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from ortools.constraint_solver import pywrapcp

from batdispatch.parts.solving.runner import MOST, Answer, Limits

#: Steps that count for the first propagation of all constraints.
FIRST_STEPS = 10


class DepthFirstModel:
    """A model with an objective of whole numbers, to be minimised. A subclass adds `read` (see `Model`).

    Attributes:
        cp: the solver, which is the model too.
        variables: those that make up a solution.
        objective: the variable of the cost.
        raised: what Python raised during the search (an interrupt, say). The solver would go on regardless, so that
            whatever it calls puts exceptions here.
    """

    #: What the model is called in messages.
    name = "unnamed"
    #: Whether a search that has come to its end has proved the last solution optimal.
    complete = True
    #: Checks x (variables + constraints) that count as one deterministic second: about as many as take a second of a
    #: processor, which differs between models.
    rate = 1_000_000
    #: The effort at which a search ends, and from which on no model is searched, as a multiple of its limit.
    most = MOST

    def __init__(self) -> None:
        self.cp = pywrapcp.Solver(self.name)
        self.variables: list[Any] = []
        self.objective: Any = None
        self.raised: list[BaseException] = []

    def size(self) -> tuple[int, int]:
        """Return the numbers of variables that make up a solution, and of constraints."""
        return len(self.variables), self.cp.Constraints()

    def step_effort(self) -> float:
        """Return the deterministic seconds that a step of the search takes, all propagation counted."""
        return max(sum(self.size()), 1) / self.rate

    @abstractmethod
    def search(self) -> Any:
        """Return the rule by which the search branches, a decision builder."""

    def enough(self, spent: float, limit: float, best: Callable[[], int | None]) -> bool:
        """Return whether to stop after so much work.

        Args:
            spent: deterministic seconds.
            limit: the same, as asked for.
            best: the cost of the best solution so far; None: there is none.
        """
        return spent >= limit

    def solve(self, limits: Limits) -> Answer:
        """Search with one thread. Time: bounded by the limits, and by an effort of `most` times `limits.work`."""
        step = self.step_effort()
        most_steps = self.most * limits.work / step - FIRST_STEPS
        if most_steps < 0:
            return Answer("UNKNOWN", -math.inf, 0.0, False, None, beyond=True)
        cp = self.cp
        solutions = cp.LastSolutionCollector()
        solutions.Add([*self.variables, self.objective])
        second = self.rate / max(sum(self.size()), 1)
        checks = 0
        stopped = over = beyond = False

        def best() -> int | None:
            return int(solutions.Value(0, self.objective)) if solutions.SolutionCount() else None

        def stop() -> bool:
            nonlocal checks, stopped, over, beyond
            try:
                checks += 1
                stopped = stopped or cp.WallTime() >= 1000 * limits.wall
                over = over or stopped or self.enough(checks / second, limits.work, best)
                beyond = beyond or (not over and checks >= most_steps)
                over = over or beyond
            except BaseException as problem:
                self.raised.append(problem)
            return over or bool(self.raised)

        # The solver keeps what it calls for ever. If that led back to the solver, neither would ever be freed.
        asked = [stop]

        def ask() -> bool:
            return asked[0]()

        # The solver does not own these: they must not be collected before the search ends.
        rule, limit, cost = self.search(), cp.CustomLimit(ask), cp.Minimize(self.objective, 1)
        cp.Solve(rule, [cost, solutions, limit])
        asked.clear()
        if self.raised:
            raise self.raised[0]
        found = best()
        if found is None:
            status = "UNKNOWN" if over or not self.complete else "INFEASIBLE"
        else:
            status = "FEASIBLE" if over or not self.complete else "OPTIMAL"
        return Answer(
            status=status,
            bound=found if found is not None and status == "OPTIMAL" else -math.inf,
            work=checks / second,
            stopped=stopped,
            beyond=beyond,
            value=None if found is None else lambda variable: int(solutions.Value(0, variable)),
        )
