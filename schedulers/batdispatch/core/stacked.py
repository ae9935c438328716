"""A timeline for plans that are made, read once and thrown away: all capacities in one array.

The steps of a `Timeline` are values that nobody changes, so that they can be handed out. Here a reservation changes all
the steps that it covers in place, at once, which is many times as fast where it covers many.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.allocation import Allocation, Place
from batdispatch.core.job import Job
from batdispatch.core.space import Space
from batdispatch.core.timeline import Chooser, Timeline, end_of


class StackedTimeline(Timeline[NDArray[np.int64]]):
    """Like `Timeline`, for spaces whose free capacities are arrays; neighbouring steps may be equal.

    What `choose` and `at` are given is only valid until the next change.
    """

    def __init__(self, space: Space[NDArray[np.int64]], now: float, free: NDArray[np.int64]) -> None:
        self._block = np.empty((0, *free.shape), dtype=np.int64)
        super().__init__(space, now, free)

    @classmethod
    def rising(
        cls,
        space: Space[NDArray[np.int64]],
        now: float,
        free: NDArray[np.int64],
        ends: Iterable[tuple[float, Job, Allocation]],
    ) -> StackedTimeline:
        listed = [end for end in ends if not math.isinf(end[0])]
        timeline = cls(space, now, free)
        times = timeline.times
        times.extend(sorted({time for time, _, _ in listed} - {now}))
        count = len(times)
        size = 2 * count + 16
        timeline._starts = np.full(size, math.inf)
        timeline._starts[:count] = times
        timeline._block = np.empty((size, *free.shape), dtype=np.int64)
        timeline._sums = np.empty((size, len(space.pooled(free))), dtype=np.int64)
        block, sums = timeline._block, timeline._sums
        block[0], sums[0] = free, space.pooled(free)
        index = 0
        for time, job, allocation in listed:
            if time != times[index]:
                index += 1
                block[index], sums[index] = block[index - 1], sums[index - 1]
            space.shift(block[index : index + 1], job, allocation, 1)
            sums[index] += space.pooled_use(job, allocation)
        return timeline

    @property
    def frees(self) -> list[NDArray[np.int64]]:
        """What is free in each step; only valid until the next change."""
        return list(self._block[: len(self.times)])

    @frees.setter
    def frees(self, frees: list[NDArray[np.int64]]) -> None:
        self._block = np.array(frees, dtype=np.int64)

    def copy(self) -> StackedTimeline:
        timeline = StackedTimeline.__new__(StackedTimeline)
        count = len(self.times)
        timeline.space, timeline.times = self.space, self.times.copy()
        timeline._starts, timeline._sums = self._starts.copy(), self._sums.copy()
        timeline._block = np.empty_like(self._block)
        timeline._block[:count] = self._block[:count]
        return timeline

    def restrict(self, hosts: int) -> None:
        raise NotImplementedError("hosts that are away are left out from the beginning")

    # ------------------------------------------------------------------ writing

    def reserve(self, job: Job, allocation: Allocation, start: float, end: float) -> None:
        self._shift(job, allocation, start, end, -1)

    def release(self, job: Job, allocation: Allocation, start: float, end: float) -> None:
        self._shift(job, allocation, start, end, 1)

    def _shift(self, job: Job, allocation: Allocation, start: float, end: float, sign: int) -> None:
        start = max(start, self.times[0])
        if end <= start:
            return
        first = self._cut(start)
        last = len(self.times) if math.isinf(end) else self._cut(end)
        self.space.shift(self._block[first:last], job, allocation, sign)
        self._sums[first:last] += sign * self.space.pooled_use(job, allocation)

    def _cut(self, time: float) -> int:
        index = bisect_left(self.times, time)
        count = len(self.times)
        if index < count and self.times[index] == time:
            return index
        if count + 1 == len(self._starts) or count == len(self._block):
            self._starts = np.concatenate((self._starts, np.full(count + 16, math.inf)))
            more = np.empty((len(self._starts), self._sums.shape[1]), dtype=np.int64)
            more[:count] = self._sums[:count]
            self._sums = more
            more = np.empty((len(self._starts), *self._block.shape[1:]), dtype=np.int64)
            more[:count] = self._block[:count]
            self._block = more
        self._starts[index + 1 : count + 2] = self._starts[index : count + 1]
        for table in (self._sums, self._block):
            table[index + 1 : count + 1] = table[index:count]
            table[index] = table[index - 1]
        self._starts[index] = time
        self.times.insert(index, time)
        return index

    def _delete(self, first: int, last: int) -> None:
        count = len(self.times)
        kept = count - last
        self._starts[first : first + kept + 1] = self._starts[last : count + 1]
        for table in (self._sums, self._block):
            table[first : first + kept] = table[last:count]
        del self.times[first:last]

    # ------------------------------------------------------------------ searching

    def _within(
        self, first: int, last: int, job: Job, duration: float, choose: Chooser[Any], after: float
    ) -> tuple[float, Place] | None:
        times, block = self.times, self._block
        limit = times[last] if last < len(times) else math.inf
        index = first
        while index < last:
            start = max(times[index], after)
            end = end_of(start, duration)
            if end > limit:
                return None
            later = bisect_left(times, end, index + 1)
            window = block[index] if later == index + 1 else np.minimum.reduce(block[index:later])
            place = choose(window, job, start, end)
            if place is not None:
                return start, place
            index = max(index + 1, self._next(index, later, job))
        return None

    def _next(self, index: int, later: int, job: Job) -> int:
        """Return the first step from which a job fits up to step `later`: no earlier start can reach beyond it."""
        if later == index + 1 or not job.request.plain:
            return index + 1
        rooms = np.minimum.accumulate(self.space.room(self._block[index:later], job)[::-1])
        enough = np.add.reduce(rooms, axis=1) >= job.request.units
        return later - int(enough.sum())
