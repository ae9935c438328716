"""Planned jobs that may start earlier, found by what they could use of the capacity that was freed."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from typing import Any, NamedTuple

from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request

#: Most jobs in a block.
_FULL = 64


class PlannedStart(NamedTuple):
    """A planned job, in the order in which starts move up: by `start` in seconds, then by rank.

    `duration` says for how many seconds its hosts are reserved.
    """

    start: float
    rank: int
    key: str
    duration: float


class Row:
    """Planned jobs in order, where the first one behind another that is short enough is found quickly.

    Time: O(sqrt n) for each change and question while there are some thousands of jobs: they stand in blocks of which
    the shortest duration is known.
    """

    def __init__(self) -> None:
        self._blocks: list[list[PlannedStart]] = []
        #: Of each block: its last job, and the shortest duration in seconds.
        self._lasts: list[PlannedStart] = []
        self._shortest: list[float] = []

    def __bool__(self) -> bool:
        return bool(self._blocks)

    def add(self, planned: PlannedStart) -> None:
        """Enter a job."""
        if not self._blocks:
            self._blocks.append([])
            self._lasts.append(planned)
            self._shortest.append(planned.duration)
        index = min(bisect_left(self._lasts, planned), len(self._blocks) - 1)
        block = self._blocks[index]
        insort(block, planned)
        if len(block) > _FULL:
            half = len(block) // 2
            self._blocks[index : index + 1] = [block[:half], block[half:]]
            self._lasts.insert(index, planned)
            self._shortest.insert(index, 0.0)
            self._look(index + 1)
        self._look(index)

    def remove(self, planned: PlannedStart) -> None:
        """Take out a job that is there."""
        index = bisect_left(self._lasts, planned)
        block = self._blocks[index]
        del block[bisect_left(block, planned)]
        if block:
            self._look(index)
        else:
            del self._blocks[index], self._lasts[index], self._shortest[index]

    def _look(self, index: int) -> None:
        block = self._blocks[index]
        self._lasts[index] = block[-1]
        self._shortest[index] = min(planned.duration for planned in block)

    def first(self) -> PlannedStart:
        """Return the first job."""
        return self._blocks[0][0]

    def after(self, position: tuple[Any, ...], longest: float) -> PlannedStart | None:
        """Return the first job behind a position that is reserved at most `longest` seconds, None if there is none."""
        index = bisect_right(self._lasts, position)
        start = bisect_right(self._blocks[index], position) if index < len(self._blocks) else 0
        while index < len(self._blocks):
            if self._shortest[index] <= longest:
                block = self._blocks[index]
                for at in range(start, len(block)):
                    if block[at].duration <= longest:
                        return block[at]
            start = 0
            index += 1
        return None


class MovableJobs:
    """Planned jobs, apart for each request."""

    def __init__(self) -> None:
        self._rows: dict[Request, Row] = {}
        self._of: dict[str, tuple[Job, PlannedStart]] = {}

    def put(self, job: Job, planned: PlannedStart) -> None:
        """Enter a job, or change when it is planned."""
        self.drop(planned.key)
        self._of[planned.key] = job, planned
        self._rows.setdefault(job.request, Row()).add(planned)

    def drop(self, key: str) -> None:
        """Take a job out if it is there."""
        known = self._of.pop(key, None)
        if known is not None:
            job, planned = known
            row = self._rows[job.request]
            row.remove(planned)
            if not row:
                del self._rows[job.request]

    def clear(self) -> None:
        """Take all jobs out."""
        self._rows.clear()
        self._of.clear()

    def get(self, key: str) -> PlannedStart | None:
        """Return when a job is planned, None if it is not there."""
        known = self._of.get(key)
        return None if known is None else known[1]

    def rows(self) -> list[tuple[Job, Row]]:
        """Return the jobs of each request, and one of them; those that want the fewest units come first."""
        found = [(self._of[row.first().key][0], row) for row in self._rows.values()]
        return sorted(found, key=lambda entry: entry[0].request.units)
