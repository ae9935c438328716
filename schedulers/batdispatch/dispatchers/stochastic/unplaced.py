"""Waiting jobs that have no place in a plan, found by the length of the gap they want."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable

from batdispatch.core.job import Job

#: What one unit of a job needs, and how many units it has: equal for jobs that fit the same gaps but for their length.
Need = tuple[tuple[int, ...] | None, int]


class Unplaced:
    """Waiting jobs sorted by duration, apart for each need, so that those too long for a gap are not looked at."""

    def __init__(self) -> None:
        #: (seconds, rank, job), sorted.
        self._by_need: dict[Need, list[tuple[float, int, Job]]] = {}
        self._of: dict[str, tuple[float, int]] = {}

    def add(self, job: Job, duration: float) -> None:
        """Enter a job that wants a gap of some seconds."""
        self._of[job.id] = (duration, job.rank)
        insort(self._by_need.setdefault((job.request, job.units), []), (duration, job.rank, job))

    def discard(self, job: Job) -> None:
        """Take a job out if it is there."""
        entry = self._of.pop(job.id, None)
        if entry is not None:
            need = (job.request, job.units)
            listed = self._by_need[need]
            del listed[bisect_left(listed, entry)]
            if not listed:
                del self._by_need[need]

    def within(self, longest: Callable[[Job], float]) -> list[Job]:
        """Return the jobs that are not longer than the longest gap for their need, which `longest` gives in seconds."""
        found: list[Job] = []
        for listed in self._by_need.values():
            end = bisect_right(listed, (longest(listed[0][2]), math.inf))
            found += [job for _, _, job in listed[:end]]
        return found
