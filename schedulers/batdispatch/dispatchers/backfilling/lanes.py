"""Waiting jobs by what they ask for, so that a decision looks only at those that may start."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush
from typing import Any

from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request

#: Says for how many seconds a job that asks like this one may run to start now: infinite, if the length does not
#: matter; negative, if it cannot start at all.
Longest = Callable[[Job], float]


class Lanes:
    """The waiting jobs in a fixed order. Those that ask alike stand in one lane: if one does not fit, none of it does.

    Time: to go through c candidates, O(l + c (log l + n)) for l lanes of at most n jobs, where the n is one pass over
        numbers; a lane whose shortest job is too long costs O(1). To add or to remove a job, O(n) likewise.
    """

    def __init__(self) -> None:
        self._lanes: dict[Request, _Lane] = {}
        self._made = 0

    def add(self, job: Job, key: Any, length: float) -> None:
        """Let a job wait.

        Args:
            job: the job.
            key: its place in the order; no two jobs have the same.
            length: how long it is expected to run, s.
        """
        lane = self._lanes.get(job.request)
        if lane is None:
            self._made += 1
            lane = self._lanes[job.request] = _Lane(self._made)
        lane.add(job, key, length)

    def remove(self, job: Job, key: Any) -> None:
        """Take out a job that no longer waits, if it is there."""
        lane = self._lanes.get(job.request)
        if lane is not None:
            lane.remove(key)
            if not lane.jobs:
                del self._lanes[job.request]

    def candidates(self, plausible: Callable[[Sequence[Job]], list[Job]], longest: Longest) -> Iterator[Job]:
        """Yield the jobs that may start, in order. Who looks on may start them, but removes them only afterwards.

        Args:
            plausible: passes on, of jobs that ask differently, those that may fit, in the same order.
            longest: asked again after each job yielded; what it says of a job never grows.
        """
        tried = 0
        turns: list[tuple[Any, int, int, int, _Lane]] = []

        def line_up(lane: _Lane, first: int) -> None:
            limit = longest(lane.jobs[0])
            index = lane.first_within(limit, first)
            if index is not None:
                heappush(turns, (lane.keys[index], lane.number, index, tried, lane))

        for job in plausible([lane.jobs[0] for lane in self._lanes.values()]):
            line_up(self._lanes[job.request], 0)
        while turns:
            _, _, index, asked, lane = heappop(turns)
            if asked < tried and lane.lengths[index] > longest(lane.jobs[0]):
                # It could start when it was lined up, but others were started since.
                line_up(lane, index + 1)
                continue
            yield lane.jobs[index]
            tried += 1
            line_up(lane, index + 1)


class _Lane:
    """Jobs that ask alike, in order: parallel lists, which are searched and shifted at the speed of C."""

    __slots__ = ("_shortest", "jobs", "keys", "lengths", "number")

    def __init__(self, number: int) -> None:
        #: Tells lanes apart.
        self.number = number
        self.keys: list[Any] = []
        self.jobs: list[Job] = []
        #: Seconds.
        self.lengths: list[float] = []
        self._shortest = math.inf

    def add(self, job: Job, key: Any, length: float) -> None:
        index = bisect_left(self.keys, key)
        self.keys.insert(index, key)
        self.jobs.insert(index, job)
        self.lengths.insert(index, length)
        self._shortest = min(self._shortest, length)

    def remove(self, key: Any) -> None:
        index = bisect_left(self.keys, key)
        if index == len(self.keys) or self.keys[index] != key:
            return
        del self.keys[index], self.jobs[index]
        if self.lengths.pop(index) == self._shortest:
            self._shortest = min(self.lengths, default=math.inf)

    def first_within(self, limit: float, start: int) -> int | None:
        """Return the index of the first job from `start` on that is no longer than `limit`, or None."""
        if self._shortest > limit:
            return None
        lengths = self.lengths
        for index in range(start, len(lengths)):
            if lengths[index] <= limit:
                return index
        return None
