"""Moving planned starts up after an end: only the jobs that can use what became free are looked at.

The plan counts hosts. Let every planned job be where it could not start earlier by as much as it takes to move it, and
let some capacity become free. Then a job gains only by a window that overlaps this hole, and only if the job is planned
to start after the hole begins: what keeps it from starting earlier lies before its own start. A job that moves leaves a
hole that begins no earlier than the job's former start, so it lets only jobs move that come later in the order. One
pass over the jobs in the order of their starts, with each hole looked at as it arises, therefore ends where a pass over
all of them would, but for gains below `core.plans.lateness.TOLERANCE`: a place may be too short by that, and where it
is, a job may find one that overlaps no hole.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from heapq import heappop, heappush
from typing import Any

from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.core.plans.reservations import Reservation, Reservations
from batdispatch.dispatchers.stochastic.movable import MovableJobs, PlannedStart, Row

#: Seconds by which sums of times may be off.
_ROUNDING = 1e-5

#: In place of a search: the job is looked at whatever became free.
_ALONE = -1

#: A planned job, or the beginning of one: what comes behind it is looked at.
Position = tuple[Any, ...]

#: What became free: from, until, in seconds.
Hole = tuple[float, float]


def gains(before: Reservation, found: Reservation, least: float) -> bool:
    """Return whether a reservation that was found moves a start up, and by at least `least` seconds."""
    return found.start < before.start and before.start - found.start >= least


class RepackPass:
    """One pass over the planned jobs that may use what became free.

    Time: O(s) for each job that moves, for a plan of s steps; O(w + sqrt n) for each hole, each request and each job
    that may use the hole, for stretches of w steps around it and n planned jobs.
    """

    def __init__(
        self, plan: Reservations, movable: MovableJobs, waiting: Mapping[str, Job], *, share: float, slack: float
    ) -> None:
        """Take a plan that counts hosts.

        Args:
            plan: the reservations.
            movable: the planned jobs.
            waiting: the jobs that may be moved, by their keys in the plan.
            share: of the time reserved for a job, by which its start comes earlier at least.
            slack: seconds by which a place may be too short for its job.
        """
        self._plan, self._movable, self._waiting = plan, movable, waiting
        self._share, self._spare = share, slack + _ROUNDING
        #: (job that may use room, number of the search that found it), and some of searches that are over.
        self._next: list[tuple[PlannedStart, int]] = []
        self._searches: dict[int, _Search] = {}
        self._numbers = 0
        #: The searches for the jobs of each request. No two of them see the same stretch.
        self._of: dict[Request, set[int]] = {}
        self._moves = 0

    def run(self, holes: Iterable[Hole], again: Iterable[str] = ()) -> list[tuple[str, Reservation]]:
        """Move starts up.

        Args:
            holes: what became free since the last pass.
            again: keys of jobs that are looked at whatever became free.

        Returns:
            the keys of the jobs that moved, with the reservations that they had, in the order in which they moved.
        """
        plan = self._plan
        moved: list[tuple[str, Reservation]] = []
        done: set[str] = set()
        for key in again:
            planned = self._movable.get(key)
            if planned is not None:
                heappush(self._next, (planned, _ALONE))
        for hole in holes:
            self._open(*hole, (-math.inf,))
        while self._next:
            planned, number = heappop(self._next)
            search = self._searches.get(number)
            if search is None and number != _ALONE:
                continue
            key = planned.key
            job, before = self._waiting.get(key), plan.planned.get(key)
            if (
                key not in done
                and job is not None
                and before is not None
                and before.start == planned.start
                and (search is None or self._may_use(search, planned))
            ):
                done.add(key)
                if self._move_up(job, planned, before):
                    moved.append((key, before))
            if number in self._searches:
                self._go_on(number, planned)
        return moved

    def _move_up(self, job: Job, planned: PlannedStart, before: Reservation) -> bool:
        """Give a job an earlier reservation if that gains enough; return whether it has moved."""
        plan, key = self._plan, planned.key
        plan.withdraw(key)
        found = plan.earliest(job, planned.duration)
        if found is None or not gains(before, found, self._share * planned.duration):
            plan.put(key, before)
            return False
        plan.put(key, found)
        self._moves += 1
        self._movable.put(job, planned._replace(start=found.start))
        self._open(max(before.start, found.end), before.end, planned)
        return True

    def _open(self, start: float, end: float, position: Position) -> None:
        """Look behind a position for the first job of each request that may use what is free from `start` to `end`."""
        if end <= start:
            return
        for sample, row in self._movable.rows():
            request = sample.request
            begin, longest, last = self._plan.timeline.stretches(sample, start, end)
            if longest <= 0:
                # Larger requests have no room either.
                break
            others = self._of.setdefault(request, set())
            for other in sorted(others):
                search = self._searches[other]
                if search.begin <= last and begin <= search.end:
                    begin, last = min(begin, search.begin), max(last, search.end)
                    others.discard(other)
                    del self._searches[other]
            self._numbers += 1
            others.add(self._numbers)
            self._searches[self._numbers] = _Search(sample, row, begin, last)
            self._go_on(self._numbers, position)

    def _look(self, search: _Search) -> None:
        """Let a search know what the moves have left of its room."""
        if search.moves != self._moves:
            search.moves = self._moves
            room = self._plan.timeline.stretches(search.sample, search.begin, search.end)
            search.begin, search.longest, search.end = room

    def _may_use(self, search: _Search, planned: PlannedStart) -> bool:
        """Return whether the room that is left lets a job start early enough: False only if it surely cannot."""
        self._look(search)
        longest = search.longest + self._spare
        fits = planned.duration <= longest or planned.start <= search.end + self._spare
        return fits and self._share * planned.duration <= longest

    def _go_on(self, number: int, position: Position) -> None:
        """Note the next job behind a position that may use the room of a search, or end the search.

        A job may use it if it fits in one of the stretches, or if it starts where one ends. Then it gains no more than
        the length of the stretch.
        """
        search = self._searches[number]
        self._look(search)
        found = None
        if search.longest > 0:
            longest, last = search.longest + self._spare, search.end + self._spare
            position = max(position, (search.begin, math.inf))
            if position < (last, math.inf):
                found = search.row.after(position, longest / self._share if self._share else math.inf)
            if found is None or found.start > last:
                found = search.row.after(max(position, (last, math.inf)), longest)
        if found is None:
            self._of[search.sample.request].discard(number)
            del self._searches[number]
        else:
            heappush(self._next, (found, number))


class _Search:
    """A search for jobs of one request that may use the room from `begin` to `end`, in seconds.

    Attributes:
        sample: one of the jobs.
        row: the planned jobs of the request.
        begin: of the first stretch with room.
        end: of the last one.
        longest: length of the longest one, s.
        moves: how many jobs had moved when the room was looked at.
    """

    __slots__ = ("begin", "end", "longest", "moves", "row", "sample")

    def __init__(self, sample: Job, row: Row, begin: float, end: float) -> None:
        self.sample, self.row = sample, row
        self.begin, self.end = begin, end
        self.longest, self.moves = 0.0, -1
