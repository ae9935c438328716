"""Free capacity over future time: what planning dispatchers read and write."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Generic, TypeVar

from batdispatch.core.allocation import Allocation
from batdispatch.core.job import Job
from batdispatch.core.space import Space

F = TypeVar("F")

#: Chooses an allocation for a job within free capacity, or None.
Chooser = Callable[[F, Job], Allocation | None]


def end_of(start: float, duration: float) -> float:
    """Return when something that starts at `start` and lasts `duration` ends, in seconds.

    Rounded to microseconds as simulators do: otherwise 0.1 + 0.7 < 0.8 would leave slivers between one job's end and
    the next one's start, and a job that is planned anew at 0.8 would no longer fit before its successor.
    """
    return round(start + duration, 6)


class Timeline(Generic[F]):
    """A step function of time: `frees[i]` holds on ``[times[i], times[i + 1])``, the last one for ever.

    Works for any `Space`: host masks, node x resource arrays, or plain counts. Neighbouring steps differ, as long as
    nothing is reserved that was not free and nothing released that was not reserved.
    """

    def __init__(self, space: Space[F], now: float, free: F) -> None:
        self.space = space
        self.times: list[float] = [now]
        self.frees: list[F] = [free]

    def advance(self, now: float) -> None:
        """Forget what lies before `now`. Linear in the number of steps dropped."""
        index = bisect_right(self.times, now) - 1
        if index > 0:
            del self.times[:index]
            del self.frees[:index]
        self.times[0] = max(self.times[0], now)

    def at(self, time: float) -> F:
        """Return what is free at `time`, which must not lie before the first step."""
        return self.frees[bisect_right(self.times, time) - 1]

    def _cut(self, time: float) -> int:
        """Make `time` the beginning of a step and return its index."""
        index = bisect_left(self.times, time)
        if index == len(self.times) or self.times[index] != time:
            self.times.insert(index, time)
            self.frees.insert(index, self.frees[index - 1])
        return index

    def _join(self, time: float) -> None:
        """Remove the step boundary at `time` if nothing changes there."""
        index = bisect_left(self.times, time)
        if 0 < index < len(self.times) and self.space.same(self.frees[index - 1], self.frees[index]):
            del self.times[index]
            del self.frees[index]

    def _change(self, op: Callable[[F, Job, Allocation], F], job: Job, alloc: Allocation, a: float, b: float) -> None:
        """Apply `op` to every step of ``[a, b)``, clipped to the timeline."""
        a = max(a, self.times[0])
        if b <= a:
            return
        first = self._cut(a)
        last = len(self.times) if math.isinf(b) else self._cut(b)
        frees = self.frees
        for index in range(first, last):
            frees[index] = op(frees[index], job, alloc)
        self._join(b)
        self._join(a)

    def reserve(self, job: Job, allocation: Allocation, start: float, end: float) -> None:
        """Take what a job uses out of ``[start, end)``."""
        self._change(self.space.take, job, allocation, start, end)

    def release(self, job: Job, allocation: Allocation, start: float, end: float) -> None:
        """Put what a job uses back into ``[start, end)``."""
        self._change(self.space.give, job, allocation, start, end)

    def restrict(self, hosts: int) -> None:
        """Leave nothing free outside the mask `hosts`, at any time."""
        times, frees = self.times, [self.space.only(free, hosts) for free in self.frees]
        self.times, self.frees = times[:1], frees[:1]
        for time, free in zip(times[1:], frees[1:], strict=True):
            if not self.space.same(self.frees[-1], free):
                self.times.append(time)
                self.frees.append(free)

    def earliest(
        self, job: Job, duration: float, choose: Chooser[F], *, after: float = -math.inf
    ) -> tuple[float, Allocation] | None:
        """Return the earliest start and an allocation that stays free until ``end_of(start, duration)``, or None.

        None happens only when walltime-less jobs hold capacity for ever, or when `choose` never finds an allocation.
        Quadratic in the number of steps at worst, in practice nearly linear.
        """
        times, frees = self.times, self.frees
        fits, meet = self.space.fits, self.space.meet
        index = max(bisect_right(times, after) - 1, 0)
        count = len(times)
        while index < count:
            window = frees[index]
            following = index + 1
            if fits(window, job):
                start = max(times[index], after)
                end = end_of(start, duration)
                later = index + 1
                while later < count and times[later] < end:
                    window = meet(window, frees[later])
                    if not fits(window, job):
                        # A step that does not fit even alone ends every window that would contain it.
                        following = index + 1 if fits(frees[later], job) else later + 1
                        break
                    later += 1
                else:
                    allocation = choose(window, job)
                    if allocation is not None:
                        return start, allocation
            index = following
        return None
