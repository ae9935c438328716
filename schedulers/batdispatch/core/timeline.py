"""Free capacity over future time: what planning dispatchers read and write."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.allocation import Allocation, Place
from batdispatch.core.job import Job
from batdispatch.core.space import Space

F = TypeVar("F")

#: Chooses a place for a job within what is free from a start to an end, or None.
Chooser = Callable[[F, Job, float, float], Place | None]

#: Most steps whose rooms are worked out at a time: one alone costs almost as much as a few. A search often ends early,
#: so it begins with one and doubles.
_AT_ONCE = 32


def end_of(start: float, duration: float) -> float:
    """Return when something that starts at `start` and lasts `duration` ends, in seconds.

    Rounded to microseconds as simulators do: otherwise 0.1 + 0.7 < 0.8 would leave slivers between one job's end and
    the next one's start, and a job that is planned anew at 0.8 would no longer fit before its successor.
    """
    return round(start + duration, 6)


class Timeline(Generic[F]):
    """A step function of time: `frees[i]` holds on ``[times[i], times[i + 1])``, the last one for ever.

    Works for any `Space`: host masks, node x resource arrays, or plain counts. Neighbouring steps differ, as long as
    nothing is reserved that was not free and nothing released that was not reserved. Beside the exact capacities it
    keeps their sums over the machine: where a job is larger than the sum, its place need not be looked for.
    """

    def __init__(self, space: Space[F], now: float, free: F) -> None:
        self.space = space
        self.times: list[float] = [now]
        self.frees: list[F] = [free]
        sums = space.pooled(free)
        #: float64 [step] and int64 [step, pooled resource], longer than `times`; after the last step stands infinity.
        self._starts: NDArray[np.float64] = np.array([now] + 15 * [math.inf])
        self._sums: NDArray[np.int64] = np.tile(sums, (16, 1))

    @classmethod
    def rising(cls, space: Space[F], now: float, free: F, ends: Iterable[tuple[float, Job, Allocation]]) -> Timeline[F]:
        """Return a timeline on which `free` grows by what running jobs give back when they end.

        Args:
            space: interprets `free`.
            now: s.
            free: what is free now.
            ends: (time in s, not before `now`; job; allocation) of the running jobs, in order of time.
        """
        timeline = cls(space, now, free)
        times, frees = timeline.times, timeline.frees
        sums = [space.pooled(free)]
        for time, job, allocation in ends:
            free = space.give(free, job, allocation)
            total = sums[-1] + space.pooled_use(job, allocation)
            if time == times[-1]:
                frees[-1], sums[-1] = free, total
            elif not math.isinf(time):
                times.append(time)
                frees.append(free)
                sums.append(total)
        room = max(16, 2 * len(times))
        timeline._starts = np.full(room, math.inf)
        timeline._starts[: len(times)] = times
        timeline._sums = np.zeros((room, len(sums[0])), dtype=np.int64)
        timeline._sums[: len(times)] = sums
        return timeline

    def copy(self) -> Timeline[F]:
        """Return a timeline of its own that is like this one. Linear in the number of steps."""
        timeline = Timeline.__new__(Timeline)
        timeline.space = self.space
        timeline.times, timeline.frees = self.times.copy(), self.frees.copy()
        timeline._starts, timeline._sums = self._starts.copy(), self._sums.copy()
        return timeline

    def advance(self, now: float) -> None:
        """Forget what lies before `now`. Linear in the number of steps."""
        index = bisect_right(self.times, now) - 1
        if index > 0:
            self._delete(0, index)
        self.times[0] = self._starts[0] = max(self.times[0], now)

    def at(self, time: float) -> F:
        """Return what is free at `time`, which must not lie before the first step."""
        return self.frees[bisect_right(self.times, time) - 1]

    # ------------------------------------------------------------------ writing

    def reserve(self, job: Job, allocation: Allocation, start: float, end: float) -> None:
        """Take what a job uses out of ``[start, end)``."""
        self._change(self.space.take, -self.space.pooled_use(job, allocation), job, allocation, start, end)

    def release(self, job: Job, allocation: Allocation, start: float, end: float) -> None:
        """Put what a job uses back into ``[start, end)``."""
        self._change(self.space.give, self.space.pooled_use(job, allocation), job, allocation, start, end)

    def restrict(self, hosts: int) -> None:
        """Leave nothing free outside the mask `hosts`, at any time."""
        for index, free in enumerate(self.frees):
            self.frees[index] = self.space.only(free, hosts)
            self._sums[index] = self.space.pooled(self.frees[index])
        for time in self.times[1:]:
            self._join(time)

    def _change(
        self,
        op: Callable[[F, Job, Allocation], F],
        sums: NDArray[np.int64],
        job: Job,
        allocation: Allocation,
        start: float,
        end: float,
    ) -> None:
        """Apply `op` to every step of ``[start, end)``, clipped to the timeline."""
        start = max(start, self.times[0])
        if end <= start:
            return
        first = self._cut(start)
        last = len(self.times) if math.isinf(end) else self._cut(end)
        frees = self.frees
        for index in range(first, last):
            frees[index] = op(frees[index], job, allocation)
        self._sums[first:last] += sums
        self._join(end)
        self._join(start)

    def _cut(self, time: float) -> int:
        """Make `time` the beginning of a step and return its index."""
        index = bisect_left(self.times, time)
        count = len(self.times)
        if index < count and self.times[index] == time:
            return index
        if count + 1 == len(self._starts):
            self._starts = np.concatenate((self._starts, self._starts))
            self._sums = np.concatenate((self._sums, self._sums))
        self._starts[index + 1 : count + 2] = self._starts[index : count + 1]
        self._sums[index + 1 : count + 1] = self._sums[index:count]
        self._starts[index] = time
        self._sums[index] = self._sums[index - 1]
        self.times.insert(index, time)
        self.frees.insert(index, self.frees[index - 1])
        return index

    def _delete(self, first: int, last: int) -> None:
        """Remove the steps ``first..last - 1``."""
        count = len(self.times)
        kept = count - last
        self._starts[first : first + kept + 1] = self._starts[last : count + 1]
        self._sums[first : first + kept] = self._sums[last:count]
        del self.times[first:last]
        del self.frees[first:last]

    def _join(self, time: float) -> None:
        """Remove the step boundary at `time` if nothing changes there."""
        index = bisect_left(self.times, time)
        if 0 < index < len(self.times) and self.space.same(self.frees[index - 1], self.frees[index]):
            self._delete(index, index + 1)

    # ------------------------------------------------------------------ searching

    def earliest(
        self, job: Job, duration: float, choose: Chooser[F], *, after: float = -math.inf
    ) -> tuple[float, Place] | None:
        """Return the earliest start and a place that stays free until ``end_of(start, duration)``, or None.

        None happens only when walltime-less jobs hold capacity for ever, or when `choose` never finds a place.
        Nearly linear in the number of steps; quadratic at worst.
        """
        sums = self._sums[: len(self.times)]
        for first, last in self._gaps(sums, self.space.pooled_need(job), duration, after):
            found = self._within(first, last, job, duration, choose, after)
            if found is not None:
                return found
        return None

    def may_move_up(self, job: Job, allocation: Allocation, start: float, end: float, after: float) -> bool:
        """Return whether a job might start before its reservation: False only if it surely cannot.

        Args:
            job: the job.
            allocation: as reserved.
            start: of the reservation, s.
            end: of the reservation, s.
            after: earliest start looked for, s.
        """
        sums = self._sums[: len(self.times)].copy()
        first = bisect_left(self.times, start)
        sums[first : bisect_left(self.times, end)] += self.space.pooled_use(job, allocation)
        for index, _ in self._gaps(sums, self.space.pooled_need(job), end - start, after):
            return max(self.times[index], after) < start
        return False

    def _gaps(
        self, sums: NDArray[np.int64], need: NDArray[np.int64], duration: float, after: float
    ) -> Iterator[tuple[int, int]]:
        """Yield the step ranges that the sums allow a job of `duration` seconds to lie in."""
        count = len(self.times)
        origin = max(bisect_right(self.times, after) - 1, 0)
        below = sums[origin:] < need
        short: NDArray[np.bool_] = below[:, 0] if below.shape[1] == 1 else np.logical_or.reduce(below, axis=1)
        blocked = short.nonzero()[0] + origin
        # Between two blocked steps lies a gap; where they are neighbours it has no length.
        walls = np.empty(len(blocked) + 2, dtype=np.intp)
        walls[0], walls[1:-1], walls[-1] = origin - 1, blocked, count
        firsts, lasts = walls[:-1] + 1, walls[1:]
        begins = np.maximum(self._starts[firsts], after)
        wide = (firsts < lasts) & ((begins + duration).round(6) <= self._starts[lasts])
        for index in wide.nonzero()[0].tolist():
            yield int(firsts[index]), int(lasts[index])

    def _within(
        self, first: int, last: int, job: Job, duration: float, choose: Chooser[F], after: float
    ) -> tuple[float, Place] | None:
        """Return the earliest start and place within the steps ``first..last - 1``."""
        times, frees = self.times, self.frees
        enough, meet = self.space.enough, self.space.meet
        limit = times[last] if last < len(times) else math.inf
        rooms: list[Any] = []
        at_once = 1
        index = later = first
        # The room all along the steps ``index..later - 1``, which is enough.
        window: Any = None
        while index < last:
            start = max(times[index], after)
            end = end_of(start, duration)
            if end > limit:
                return None
            while later < last and (later == index or times[later] < end):
                while later - first >= len(rooms):
                    done = first + len(rooms)
                    rooms.extend(self.space.rooms(frees[done : min(done + at_once, last)], job))
                    at_once = min(2 * at_once, _AT_ONCE)
                room = rooms[later - first]
                if room is None:
                    break
                if later > index:
                    room = meet(window, room)
                    if not enough(room, job):
                        break
                window = room
                later += 1
            else:
                place = choose(reduce(meet, frees[index:later]), job, start, end)
                if place is not None:
                    return start, place
                index = later = index + 1
                continue
            # Step `later` has too little room to extend the window. Start a new window at `later` and grow it backwards
            # for as long as the job still fits.
            window = rooms[later - first]
            if window is None:
                index = later = later + 1
                continue
            index, later = later, later + 1
            while enough(longer := meet(window, rooms[index - 1 - first]), job):
                window = longer
                index -= 1
        return None


def gaps_from_now(
    timeline: Timeline[Any], now: float, horizon: float = math.inf, shortest: float = 1.0
) -> Iterator[tuple[Space[Any], Any, float]]:
    """Yield (space, free capacity, length in seconds) of the gaps that begin now and end by `horizon`.

    The shortest one is widest and comes first; gaps shorter than `shortest` seconds are left out.
    """
    times, frees, space = timeline.times, timeline.frees, timeline.space
    window = frees[0]
    for index in range(1, len(times)):
        end = min(times[index], horizon)
        narrower = space.meet(window, frees[index])
        if end < horizon and space.same(narrower, window):
            continue
        if end - now >= shortest:
            yield space, window, end - now
        if end >= horizon:
            return
        window = narrower
