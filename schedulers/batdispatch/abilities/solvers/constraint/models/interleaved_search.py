"""PCP'20's search rule: starts and positions of one job after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ortools.constraint_solver import pywrapcp


class Later(pywrapcp.PyDecision):  # type: ignore[misc]
    """Let a job start as early as it can, or else not before a later moment."""

    def __init__(self, start: Any, now: int, later: int) -> None:
        super().__init__()
        self._start, self._now, self._later = start, now, later

    def Apply(self, solver: Any) -> None:
        self._start.SetValue(self._now)

    def Refute(self, solver: Any) -> None:
        self._start.SetMin(self._later)


class InterleavedSearch(pywrapcp.PyDecisionBuilder):  # type: ignore[misc]
    """Of the jobs that can start first, take the first in order, at its earliest start; then its places; and so on.

    In PCP'20 the order is that of priority, and the places are positions: the one with the fewest values left is set to
    its largest value, which is best fit [1, section 3]. In PCP'19 a place is whether a unit is on a node.

    If a start leads to nothing better, the job starts when the next job ends, at the earliest. Some best schedule has
    no other starts, since no delay pays.

    References:
        [1] C. Galleguillos, Z. Kiziltan, R. Soto. A constraint programming-based job dispatcher for modern HPC systems
            and applications. 2020.
    """

    def __init__(
        self,
        starts: Sequence[Any],
        places: Sequence[Sequence[Any]],
        durations: Sequence[int],
        ends: Sequence[int],
        *,
        raised: list[BaseException],
        only_starts: bool = False,
        sums: Sequence[int] | None = None,
    ) -> None:
        """Make the rule.

        Args:
            starts: the start variable of each job, in order.
            places: the variables of the places of each.
            durations: of each, s.
            ends: when jobs that the model does not move end, s from now, ascending.
            raised: takes exceptions (see `DepthFirstModel`).
            only_starts: whether places are never set to other values than their largest.
            sums: of the values of each job's places, where they must have one. The solver's own constraint on a sum
                lets some others pass, if intervals that cannot be performed change several of its terms at once.
        """
        super().__init__()
        self._starts, self._places, self._durations, self._ends = starts, places, durations, ends
        self._raised, self._only_starts, self._sums = raised, only_starts, sums
        #: Whether start and places of a job are set; the solver takes these back when it backtracks.
        self._done = [pywrapcp.RevBool(False) for _ in starts]
        #: The solver does not own decisions that Python made.
        self._made: list[Later] = []

    def Next(self, solver: Any) -> Any:
        try:
            return self._next(solver)
        except BaseException as problem:
            self._raised.append(problem)
            return solver.FailDecision()

    def _next(self, solver: Any) -> Any:
        """Return the next decision, or None at a solution."""
        while True:
            chosen, first = -1, 0
            for job, start in enumerate(self._starts):
                if not self._done[job].Value():
                    soonest = start.Min()
                    if chosen < 0 or soonest < first:
                        chosen, first = job, soonest
            if chosen < 0:
                return None
            start = self._starts[chosen]
            if not start.Bound():
                decision = Later(start, first, next_end(self._starts, self._durations, self._ends, chosen, first))
                self._made.append(decision)
                return decision
            unset = [place for place in self._places[chosen] if not place.Bound()]
            if unset:
                place = min(unset, key=lambda place: int(place.Size()))
                if self._only_starts:
                    return solver.AssignVariableValueOrFail(place, place.Max())
                return solver.AssignVariableValue(place, place.Max())
            if self._sums and sum(place.Value() for place in self._places[chosen]) != self._sums[chosen]:
                return solver.FailDecision()
            self._done[chosen].SetValue(solver, True)


def next_end(starts: Sequence[Any], durations: Sequence[int], ends: Sequence[int], chosen: int, moment: int) -> int:
    """Return the first moment after another at which a job may end: the others start no sooner than they can.

    Args:
        starts: the start variable of each job.
        durations: of each, s.
        ends: when jobs that the model does not move end, s from now, ascending.
        chosen: the job that is put off.
        moment: after which an end is looked for, s from now.
    """
    found = [end for end in ends if end > moment][:1]
    for job, start in enumerate(starts):
        end = start.Min() + durations[job]
        if job != chosen and end > moment:
            found.append(end)
    # Nothing is left to wait for: no later start than this one can be better.
    return min(found, default=moment + 1)
