"""Free capacity over future time: what planning dispatchers read and write."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

import numpy as np

from batdispatch.core.allocation import Allocation, Place
from batdispatch.core.errors import ImpossibleDecision
from batdispatch.core.job import Job
from batdispatch.core.space import HostSpace, Space
from batdispatch.core.steps import Block, Masks, Steps, Values
from batdispatch.core.sums import Sums

F = TypeVar("F")

#: Chooses a place for a job within what is free from a start to an end, or None.
Chooser = Callable[[F, Job, float, float], Place | None]


def end_of(start: float, duration: float) -> float:
    """Return when something that starts at `start` and lasts `duration` ends, in seconds.

    Rounded to microseconds as simulators do: otherwise 0.1 + 0.7 < 0.8 would leave slivers between one job's end and
    the next one's start, and a job that is planned anew at 0.8 would no longer fit before its successor.
    """
    end = start + duration
    # Most logs count whole seconds, and to round costs ten times as much as to see this.
    return round(end, 6) if end % 1.0 else end


class Timeline(Generic[F]):
    """A step function of time: ``frees[i]`` holds on ``[times[i], times[i + 1])``, the last one for ever.

    Works for any `Space`: host masks, node x resource arrays, or plain counts; `batdispatch.core.steps` keeps them.
    Neighbouring steps differ, as long as nothing is reserved that was not free and nothing released that was not
    reserved. Beside the exact capacities it keeps their sums over the machine: where a job is larger than the sum, its
    place need not be looked for.

    Commands (`advance`, `reserve`, `release`, `restrict`) change the timeline; everything else only looks. What is
    returned or handed to a chooser never changes later.

    Attributes:
        space: interprets free capacities.
        times: where steps begin, s, ascending.
    """

    def __init__(self, space: Space[F], now: float, free: F) -> None:
        self.space = space
        self.times: list[float] = [now]
        self._steps: Steps[F] = steps_of(space, free)
        self._sums = Sums(space.pooled(free).tolist())

    @classmethod
    def rising(cls, space: Space[F], now: float, free: F, ends: Iterable[tuple[float, Job, Allocation]]) -> Timeline[F]:
        """Return a timeline on which `free` grows by what running jobs give back when they end.

        Time: O(r F) for r running jobs and free capacities of size F.

        Args:
            space: interprets `free`.
            now: s.
            free: what is free now.
            ends: (time in s, not before `now`; job; allocation) of the running jobs, in order of time.
        """
        timeline = cls(space, now, free)
        for time, job, allocation in ends:
            if math.isinf(time):
                break
            last = timeline._cut(time)
            timeline._steps.shift(last, last + 1, job, allocation, 1)
            timeline._sums.shift(last, last + 1, space.sums_used(job, allocation), 1)
        return timeline

    def copy(self) -> Timeline[F]:
        """Return a timeline of its own that is like this one. Linear in the number of steps."""
        timeline: Timeline[F] = Timeline.__new__(Timeline)
        timeline.space, timeline.times, timeline._steps = self.space, self.times.copy(), self._steps.copy()
        timeline._sums = self._sums.copy()
        return timeline

    @property
    def frees(self) -> list[F]:
        """What is free in each step."""
        return self._steps.values()

    def at(self, time: float) -> F:
        """Return what is free at `time`, which must not lie before the first step."""
        return self._steps.at(bisect_right(self.times, time) - 1)

    # ------------------------------------------------------------------ writing

    def advance(self, now: float) -> None:
        """Forget what lies before `now`. Linear in the number of steps."""
        index = bisect_right(self.times, now) - 1
        if index > 0:
            self._delete(0, index)
        self.times[0] = max(self.times[0], now)

    def reserve(self, job: Job, allocation: Allocation, start: float, end: float) -> None:
        """Take what a job uses out of ``[start, end)``.

        Raises:
            ImpossibleDecision: it is not free all the time.
        """
        self._change(job, allocation, start, end, -1)

    def release(self, job: Job, allocation: Allocation, start: float, end: float) -> None:
        """Put what a job uses back into ``[start, end)``."""
        self._change(job, allocation, start, end, 1)

    def restrict(self, hosts: int) -> None:
        """Leave nothing free outside the mask `hosts`, at any time."""
        self._steps.restrict(hosts)
        for index, free in enumerate(self._steps.values()):
            self._sums.put(index, self.space.pooled(free).tolist())
        for time in self.times[1:]:
            self._join(time)

    def _change(self, job: Job, allocation: Allocation, start: float, end: float, sign: int) -> None:
        """Give (1) or take (-1) what a job uses in every step of ``[start, end)``, clipped to the timeline."""
        start = max(start, self.times[0])
        if end <= start:
            return
        first = self._cut(start)
        last = len(self.times) if math.isinf(end) else self._cut(end)
        if sign < 0:
            lacking = self.space.lacking(self._steps.meet(first, last), job, allocation)
            if lacking is not None:
                self._join(end)
                self._join(start)
                host, resource, free, needed = lacking
                where = "the machine" if host < 0 else f"host {host} ({self.space.machine.hosts[host].name})"
                raise ImpossibleDecision(
                    f"a plan cannot keep {allocation} for job {job.id} from {start:.6f} to {end:.6f} s: {where} has "
                    f"{free} {resource} free in that time, the job needs {needed} there"
                )
        self._steps.shift(first, last, job, allocation, sign)
        self._sums.shift(first, last, self.space.sums_used(job, allocation), sign)
        self._join(end)
        self._join(start)

    def _cut(self, time: float) -> int:
        """Make `time` the beginning of a step and return its index."""
        index = bisect_left(self.times, time)
        if index < len(self.times) and self.times[index] == time:
            return index
        self.times.insert(index, time)
        self._steps.repeat(index)
        self._sums.repeat(index)
        return index

    def _delete(self, first: int, last: int) -> None:
        """Remove the steps ``first..last - 1``."""
        del self.times[first:last]
        self._steps.remove(first, last)
        self._sums.remove(first, last)

    def _join(self, time: float) -> None:
        """Remove the step boundary at `time` if nothing changes there."""
        index = bisect_left(self.times, time)
        if 0 < index < len(self.times) and self._steps.repeated(index):
            self._delete(index, index + 1)

    # ------------------------------------------------------------------ searching

    def earliest(
        self, job: Job, duration: float, choose: Chooser[F], *, after: float = -math.inf
    ) -> tuple[float, Place] | None:
        """Return the earliest start and a place that stays free until ``end_of(start, duration)``, or None.

        None happens only when walltime-less jobs hold capacity for ever, or when `choose` never finds a place.
        Nearly linear in the number of steps; quadratic at worst.
        """
        sums = self._sums.against(self.space.sums_needed(job))
        # From `index` on the sums suffice up to step `known`, and `search` looks from there on.
        index = known = max(bisect_right(self.times, after) - 1, 0)
        search = None
        while (window := self._window(*sums, index, known, duration, after)) is not None:
            begin, later, start, end = window
            if search is None or begin != index:
                search = self._steps.search(job, begin)
            index, known = begin, later
            begin = search.begin(index, later)
            if begin == index:
                place = choose(search.free(index, later), job, start, end)
                if place is not None:
                    return start, place
                begin += 1
            index, known = begin, max(begin, known)
        return None

    def free_until(self, job: Job, allocation: Allocation, start: float, end: float) -> float:
        """Return until when what a job uses on an allocation stays free from `start` on, at most `end`, in seconds."""
        index = bisect_right(self.times, start) - 1
        while index < len(self.times) and self.times[index] < end:
            if self.space.lacking(self._steps.at(index), job, allocation) is not None:
                return max(self.times[index], start)
            index += 1
        return end

    def may_move_up(self, job: Job, allocation: Allocation, start: float, end: float, after: float) -> bool:
        """Return whether a job might start before its reservation: False only if it surely cannot.

        Args:
            job: the job.
            allocation: as reserved.
            start: of the reservation, s.
            end: of the reservation, s.
            after: earliest start looked for, s.
        """
        sums = self._sums.copy()
        first, last = bisect_left(self.times, start), bisect_left(self.times, end)
        sums.shift(first, last, self.space.sums_used(job, allocation), 1)
        origin = max(bisect_right(self.times, after) - 1, 0)
        window = self._window(*sums.against(self.space.sums_needed(job)), origin, origin, end - start, after)
        return window is not None and window[2] < start

    def around(self, job: Job, start: float, end: float) -> tuple[float, float]:
        """Return (length of the longest, end of the last) stretch that overlaps ``[start, end)`` and suffices by sums.

        Both in seconds, 0 and minus infinity if there is none. In a stretch no sum is below what the job needs.
        """
        sums, least = self._sums.against(self.space.sums_needed(job))
        times, count = self.times, len(self.times)
        index = max(bisect_right(times, start) - 1, 0)
        while index > 0 and sums[index] >= least and sums[index - 1] >= least:
            index -= 1
        longest, last = 0.0, -math.inf
        while index < count and times[index] < end:
            if sums[index] >= least:
                begin = times[index]
                while index < count and sums[index] >= least:
                    index += 1
                last = times[index] if index < count else math.inf
                longest = max(longest, last - begin)
            index += 1
        return longest, last

    def _window(
        self, sums: list[int], least: int, index: int, known: int, duration: float, after: float
    ) -> tuple[int, int, float, float] | None:
        """Return the first window that the sums allow, or None.

        It is (first step, step behind the last one, start in s, end in s).

        Args:
            sums: one number for each step.
            least: how large the number must be in each step of the window.
            index: the step at which the earliest window begins.
            known: step up to which the numbers from `index` on are known to suffice.
            duration: s.
            after: earliest start, s.
        """
        times = self.times
        count = len(times)
        while index < count:
            if known == index:
                while sums[index] < least:
                    index += 1
                    if index == count:
                        return None
                known = index + 1
            start = max(times[index], after)
            end = end_of(start, duration)
            while known < count and times[known] < end:
                if sums[known] < least:
                    break
                known += 1
            else:
                return index, known, start, end
            index = known = known + 1
        return None


def steps_of(space: Space[Any], free: Any) -> Steps[Any]:
    """Return a single step in which `free` is free: a block if it is an array, else a list of masks or of values."""
    if isinstance(free, np.ndarray):
        return Block(space, free)
    return Masks(space, [free]) if isinstance(space, HostSpace) else Values(space, [free])


def gaps_from_now(
    timeline: Timeline[Any], now: float, horizon: float = math.inf, shortest: float = 1.0, less: float = 0.0
) -> Iterator[tuple[Space[Any], Any, float]]:
    """Yield (space, free capacity, length in seconds) of the gaps that begin now and end by `horizon`.

    The shortest one is widest and comes first. Each length is told with `less` seconds taken off; gaps that are then
    shorter than `shortest` seconds are left out.
    """
    times, frees, space = timeline.times, timeline.frees, timeline.space
    window = frees[0]
    for index in range(1, len(times)):
        end = min(times[index], horizon)
        narrower = space.meet(window, frees[index])
        if end < horizon and space.same(narrower, window):
            continue
        if end - now - less >= shortest:
            yield space, window, end - now - less
        if end >= horizon:
            return
        window = narrower
