"""Which hosts reservations leave to each waiting job, as time goes by.

Theory of operation
-------------------

A reservation closes its hosts, from its start to its end, to all jobs that it does not let in. Nobody needs to plan
with it to keep it: a job that is closed out may start on these hosts only while it would end, by its walltime, before
the reservation starts, and again once the reservation is over. So at any moment each waiting job has a set of hosts on
which it may start, which only changes at moments that are known when the job comes. The ledger shows a waiting job as
one that asks for hosts of this set (`Request.allowed`); at each such moment it takes the job back and shows it anew
(`Dispatcher.on_withdrawn`, then `on_submit`). While a job fits nowhere in its set, no dispatcher sees it.

Thus no start can break a reservation, whatever the dispatcher. A `Timeline` that is told of the openings looks for a
start among the hosts that are open to the job at each time. A dispatcher that plans with such timelines
(`Dispatcher.plans_openings`) also sees the jobs that fit nowhere now, and keeps places for them. What others plan ahead
is planned with the hosts that are open now: a plan may begin later than it could, or be made anew when hosts close.
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect_right
from collections.abc import Set
from typing import NamedTuple

from batdispatch.core.jobs.job import Job
from batdispatch.core.machine.site import TICK, Closure, Site

#: Why a job is rejected for which its reservation has no time left.
TOO_LATE = "its reservation ends too soon for it"


class _Waiting(NamedTuple):
    #: As it entered, with all hosts that it may ever have.
    job: Job
    closures: tuple[Closure, ...]


class Openings:
    """The waiting jobs and what is open to them. Times in seconds.

    Attributes:
        lead: how much later than it is decided a job starts.
        planned: whether the dispatcher plans with them, and therefore sees jobs to which nothing is open now.
    """

    def __init__(self, site: Site) -> None:
        self.lead = 0.0
        self.planned = False
        self._site = site
        self._jobs: dict[str, _Waiting] = {}
        #: (when something changes for a job, its id).
        self._changes: list[tuple[float, str]] = []
        #: When hosts are opened to jobs that wait: the moments for which calls are asked.
        self._moments = site.moments

    def __len__(self) -> int:
        """Return how many jobs wait."""
        return len(self._jobs)

    @property
    def ids(self) -> Set[str]:
        """The ids of the jobs that wait."""
        return self._jobs.keys()

    def enter(self, job: Job, now: float) -> Job:
        """Take up a job that waits from now on. Return the job as dispatchers are to see it."""
        self._jobs[job.id] = _Waiting(job, self._site.closures(job))
        return self.look(job.id, now)

    def look(self, job_id: str, now: float) -> Job:
        """Return a waiting job as dispatchers are to see it, and note when that changes."""
        waiting = self._jobs[job_id]
        shown, change = self._at(waiting, now + self.lead)
        if change < math.inf:
            heapq.heappush(self._changes, (change, job_id))
        return shown

    def opened(self, job: Job, time: float) -> tuple[Job, float]:
        """Return a job as one that may use the hosts open to it if it is started then, and when that changes next.

        A job that does not wait is returned as it is. Time: O(w) for w reservations.

        Args:
            job: as it is shown now.
            time: when its start is decided, s.
        """
        waiting = self._jobs.get(job.id)
        if waiting is None:
            return job, math.inf
        shown, change = self._at(waiting, time + self.lead)
        return shown, change - self.lead

    def _at(self, waiting: _Waiting, start: float) -> tuple[Job, float]:
        """Return a job with the hosts open to it if it starts at a time, and when that changes next, in seconds."""
        job, closures = waiting
        allowed = self._site.compute if job.request.allowed is None else job.request.allowed
        change = math.inf
        for begin, end, hosts in closures:
            if begin <= start < end:
                allowed &= ~hosts
            change = min(change, *(moment for moment in (begin, end) if moment > start), math.inf)
        return self._site.asking(job, allowed), change

    def entered(self, job_id: str) -> Job | None:
        """Return a waiting job as it entered; None: it does not wait."""
        waiting = self._jobs.get(job_id)
        return None if waiting is None else waiting.job

    def leave(self, job_id: str) -> None:
        """Forget a job that no longer waits."""
        self._jobs.pop(job_id, None)

    def due(self, now: float) -> list[str]:
        """Return the waiting jobs for which something has changed since it was looked at, in order of the moments."""
        found: dict[str, None] = {}
        while self._changes and self._changes[0][0] <= now + self.lead:
            _, job_id = heapq.heappop(self._changes)
            if job_id in self._jobs:
                found[job_id] = None
        return list(found)

    def is_over(self, job_id: str, now: float) -> bool:
        """Return whether no host will be opened to a waiting job any more."""
        start = now + self.lead
        closures = self._jobs[job_id].closures
        # Only a job's own reservation closes hosts for ever, and then all of them.
        return any(begin <= start and end == math.inf for begin, end, _ in closures) or all(
            end <= start for _, end, _ in closures
        )

    def next_moment(self, now: float) -> float:
        """Return the next moment at which a reservation starts or ends, or infinity."""
        # A moment between two microseconds may have come although the clock shows less.
        index = bisect_right(self._moments, now + TICK / 2)
        return self._moments[index] if index < len(self._moments) else math.inf
