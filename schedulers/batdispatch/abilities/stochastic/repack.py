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

from collections.abc import Iterable

from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.core.plans.reservations import Reservations

#: Seconds by which sums of times may be off.
_ROUNDING = 1e-5

#: What became free: from, until, in seconds.
Hole = tuple[float, float]


class FreedRoom:
    """The stretches of a plan that what became free lies in, as the jobs of each request see them."""

    def __init__(self, plan: Reservations, holes: Iterable[Hole], slack: float) -> None:
        """Take what became free of a plan that counts hosts.

        Args:
            plan: the reservations.
            holes: what became free.
            slack: seconds by which a place may be too short for its job.
        """
        self._timeline, self._spare = plan.timeline, slack + _ROUNDING
        #: Those that overlap are one.
        self._holes: list[Hole] = []
        #: For each request and hole: begin of the first stretch with room, length of the longest, end of the last.
        self._stretches: dict[Request, list[tuple[float, float, float]]] = {}
        for hole in holes:
            self.add(*hole)

    def add(self, start: float, end: float) -> None:
        """Take one more hole, of a job that has moved: what it takes now is no longer there."""
        if end > start:
            near = [hole for hole in self._holes if hole[0] <= end and start <= hole[1]]
            merged = min([start, *(hole[0] for hole in near)]), max([end, *(hole[1] for hole in near)])
            self._holes = [*(hole for hole in self._holes if hole not in near), merged]
        self._stretches.clear()

    def may_help(self, job: Job, start: float, duration: float, least: float) -> bool:
        """Return whether a job may start earlier by it: False only if it surely cannot.

        A job may use a hole if it fits in one of the stretches, or if it starts where one ends. Then it gains no more
        than the length of the stretch.

        Args:
            job: a planned job.
            start: its planned start, s.
            duration: for how long its hosts are reserved, s.
            least: by how much it has to gain, s.
        """
        known = self._stretches.get(job.request)
        if known is None:
            found = (self._timeline.stretches(job, *hole) for hole in self._holes)
            known = self._stretches[job.request] = [one for one in found if one[1] > 0]
        for begin, longest, last in known:
            room = longest + self._spare
            if begin < start and least <= room and (duration <= room or start <= last + self._spare):
                return True
        return False
