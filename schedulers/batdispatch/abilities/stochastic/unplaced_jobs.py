"""Waiting jobs that have no place in a plan, found by the length of the gap they want."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable

from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request


class UnplacedJobs:
    """Waiting jobs sorted by duration, apart for each request, so that those too long for a gap are not looked at."""

    def __init__(self) -> None:
        #: (seconds, rank, job), sorted.
        self._by_request: dict[Request, list[tuple[float, int, Job]]] = {}
        self._of: dict[str, tuple[float, int]] = {}

    def add(self, job: Job, duration: float, rank: int) -> None:
        """Enter a job of some rank (see `Ledger.rank`) that wants a gap of `duration` seconds."""
        self._of[job.id] = (duration, rank)
        insort(self._by_request.setdefault(job.request, []), (duration, rank, job))

    def discard(self, job: Job) -> None:
        """Take a job out if it is there."""
        entry = self._of.pop(job.id, None)
        if entry is not None:
            listed = self._by_request[job.request]
            del listed[bisect_left(listed, entry)]
            if not listed:
                del self._by_request[job.request]

    def within(self, longest: Callable[[Job], float]) -> list[Job]:
        """For each request, return the jobs that are no longer than `longest` says of one of them, in seconds."""
        found: list[Job] = []
        for listed in self._by_request.values():
            end = bisect_right(listed, (longest(listed[0][2]), math.inf))
            found += [job for _, _, job in listed[:end]]
        return found
