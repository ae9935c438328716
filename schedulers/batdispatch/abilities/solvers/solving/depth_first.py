"""OR-Tools' original constraint solver as a backend of models: depth-first search by a rule, without learning.

The papers of the constraint family solve with it. It has no deterministic time of its own. Its work is counted here:
what the model takes to be built, and the branches of the search, times what a branch takes with its propagation. That
grows with the tasks of large constraints: jobs in cumulatives, or boxes that do not overlap. The factors are measured,
so that a deterministic second takes about a second of a processor, whatever the machine that is scheduled. The solver's
own counts of propagations differ from one run to the next, since it goes through hash tables.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from ortools.constraint_solver import pywrapcp

from batdispatch.abilities.solvers.solving.runner import ENTRY_SECONDS, MOST, Answer, Limits

#: Deterministic seconds of a branch, whatever is propagated.
BRANCH_SECONDS = 2e-5


class DepthFirstModel:
    """A model with an objective of whole numbers, to be minimised. A subclass adds `read` (see `Model`).

    Attributes:
        cp: the solver, which is the model too.
        variables: those that make up a solution.
        tasks: of all large constraints.
        objective: the variable of the cost.
        raised: what Python raised during the search (an interrupt, say). The solver would go on regardless, so that
            whatever it calls puts exceptions here.
    """

    #: What the model is called in messages.
    name = "unnamed"
    #: Whether a search that has come to its end has proved the last solution optimal.
    complete = True
    #: Deterministic seconds of a branch for each task.
    task_seconds = 0.0
    #: The work at which a search ends, and from which on no model is searched, as a multiple of its limit.
    most = MOST

    def __init__(self) -> None:
        self.cp = pywrapcp.Solver(self.name)
        self.variables: list[Any] = []
        self.tasks = 0
        self.objective: Any = None
        self.raised: list[BaseException] = []

    def size(self) -> tuple[int, int]:
        """Return the numbers of variables that make up a solution, and of constraints."""
        return len(self.variables), self.cp.Constraints()

    def build_work(self) -> float:
        """Return the deterministic seconds that the model takes to be built."""
        return sum(self.size()) * ENTRY_SECONDS

    def branch_work(self) -> float:
        """Return the deterministic seconds that a branch of the search takes, with its propagation."""
        return BRANCH_SECONDS + self.tasks * self.task_seconds

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
        """Search with one thread. Time: bounded by the limits, and by `most` times `limits.work` in any case."""
        most, work = self.most * limits.work, self.build_work()
        if work > most:
            return Answer("UNKNOWN", -math.inf, work, False, None, beyond=True)
        cp = self.cp
        solutions = cp.LastSolutionCollector()
        solutions.Add([*self.variables, self.objective])
        built, each = work, self.branch_work()
        stopped = over = beyond = False

        def best() -> int | None:
            return int(solutions.Value(0, self.objective)) if solutions.SolutionCount() else None

        def stop() -> bool:
            nonlocal work, stopped, over, beyond
            try:
                work = built + cp.Branches() * each
                stopped = stopped or cp.WallTime() >= 1000 * limits.wall
                over = over or stopped or self.enough(work, limits.work, best)
                beyond = beyond or work > most
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
            work=work,
            stopped=stopped,
            beyond=beyond,
            value=None if found is None else lambda variable: int(solutions.Value(0, variable)),
        )
