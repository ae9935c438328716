"""Free capacity over future time: what planning dispatchers read and write."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

import numpy as np

from batdispatch.core.capacity.space import HostSpace, Space
from batdispatch.core.errors import ImpossibleDecision
from batdispatch.core.hosts.allocation import Allocation, Place
from batdispatch.core.jobs.job import Job
from batdispatch.core.machine.machine import POWER
from batdispatch.core.plans.steps import Block, Masks, Steps, Values
from batdispatch.core.plans.sums import Sums
from batdispatch.core.plans.windows import SumWindow, SumWindows, windows

F = TypeVar("F")

#: Chooses a place for a job within what is free from a start to an end, or None.
Chooser = Callable[[F, Job, float, float], Place | None]
#: Returns a job as one that asks for the hosts open to it if it starts at a time, and until when these are open, see
#: `Openings.opened`.
Opener = Callable[[Job, float], tuple[Job, float]]


class Timeline(Generic[F]):
    """A step function of time: ``frees[i]`` holds on ``[times[i], times[i + 1])``, the last one for ever.

    Works for any `Space`: host masks, node x resource arrays, or plain counts; `core.plans.steps` keeps them.
    Neighbouring steps differ, as long as nothing is reserved that was not free and nothing released that was not
    reserved. Beside the exact capacities it keeps their sums over the machine: where a job is larger than the sum, its
    place need not be looked for.

    Commands (`advance`, `reserve`, `release`, `restrict`) change the timeline; everything else only looks. What is
    returned or handed to a chooser never changes later.

    Attributes:
        space: interprets free capacities.
        times: where steps begin, s, ascending.
        opened: which hosts are open to a job at which time; None: all that it asks for, always.
    """

    def __init__(self, space: Space[F], now: float, free: F, opened: Opener | None = None) -> None:
        self.space = space
        self.opened = opened
        self.times: list[float] = [now]
        self._steps: Steps[F] = steps_of(space, free)
        self._sums = Sums(space.pooled(free).tolist())

    @classmethod
    def rising(
        cls,
        space: Space[F],
        now: float,
        free: F,
        ends: Iterable[tuple[float, Job, Allocation]],
        opened: Opener | None = None,
    ) -> Timeline[F]:
        """Return a timeline on which `free` grows by what running jobs give back when they end.

        Time: O(r F) for r running jobs and free capacities of size F.

        Args:
            space: interprets `free`.
            now: s.
            free: what is free now.
            ends: (time in s, not before `now`; job; allocation) of the running jobs, in order of time.
            opened: see there.
        """
        timeline = cls(space, now, free, opened)
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
        timeline.space, timeline.times, timeline.opened = self.space, self.times.copy(), self.opened
        timeline._steps = self._steps.head(len(self.times))
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

    def occupy(self, job: Job, allocation: Allocation, start: float, end: float) -> None:
        """Take what a running job uses out of ``[start, end)``, whether or not the machine has as much shared power.

        Some jobs run with less of it than they asked for, and others may have started on the rest.

        Raises:
            ImpossibleDecision: a host of its own is not free all the time.
        """
        self._change(job, allocation, start, end, -1, runs=True)

    def release(self, job: Job, allocation: Allocation, start: float, end: float) -> None:
        """Put what a job uses back into ``[start, end)``."""
        self._change(job, allocation, start, end, 1)

    def restrict(self, hosts: int, start: float = -math.inf, end: float = math.inf) -> None:
        """Leave nothing free outside the mask `hosts` in ``[start, end)``; at any time unless given."""
        start = max(start, self.times[0])
        if end <= start:
            return
        first = self._cut(start)
        last = len(self.times) if math.isinf(end) else self._cut(end)
        self._steps.restrict(hosts, first, last)
        for index in range(first, last):
            self._sums.put(index, self.space.pooled(self._steps.at(index)).tolist())
        for index in range(last, first - 1, -1):
            self._join(index)

    def _change(
        self, job: Job, allocation: Allocation, start: float, end: float, sign: int, *, runs: bool = False
    ) -> None:
        """Give (1) or take (-1) what a job uses in every step of ``[start, end)``, clipped to the timeline."""
        start = max(start, self.times[0])
        if end <= start:
            return
        first = self._cut(start)
        last = len(self.times) if math.isinf(end) else self._cut(end)
        if sign < 0:
            lacking = self.space.lacking(self._steps.meet(first, last), job, allocation)
            if lacking is not None and not (runs and lacking[1] == POWER):
                self._join(last)
                self._join(first)
                host, resource, free, needed = lacking
                where = "the machine" if host < 0 else f"host {host} ({self.space.machine.hosts[host].name})"
                raise ImpossibleDecision(
                    f"a plan cannot keep {allocation} for job {job.id} from {start:.6f} to {end:.6f} s: {where} has "
                    f"{free} {resource} free in that time, the job needs {needed} there"
                )
        self._steps.shift(first, last, job, allocation, sign)
        self._sums.shift(first, last, self.space.sums_used(job, allocation), sign)
        self._join(last)
        self._join(first)

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

    def _join(self, index: int) -> None:
        """Remove the boundary at which a step begins if nothing changes there."""
        if 0 < index < len(self.times) and self._steps.repeated(index):
            self._delete(index, index + 1)

    # ------------------------------------------------------------------ searching

    def earliest(
        self,
        job: Job,
        duration: float,
        choose: Chooser[F],
        *,
        after: float = -math.inf,
        latest: float = math.inf,
    ) -> tuple[float, Place] | None:
        """Return the earliest start and a place that stays free until ``end_of(start, duration)``, or None.

        None happens only when there is no start up to `latest`, when walltime-less jobs hold capacity for ever, or when
        `choose` never finds a place. It is called as ``choose(free, job, start, end)`` and returns a place, or None.
        Nearly linear in the number of steps; quadratic at worst.
        """
        count = len(self.times)
        stop = count if latest == math.inf else bisect_right(self.times, latest)
        if self.opened is not None:
            return self._open(job, duration, choose, after, math.nextafter(latest, math.inf), stop, count, None)
        return self._first(job, duration, choose, after, stop, count, None)

    def earlier(
        self,
        job: Job,
        allocation: Allocation,
        start: float,
        end: float,
        duration: float,
        choose: Chooser[F],
        *,
        after: float,
        before: float,
    ) -> tuple[float, Place] | None:
        """Return what `earliest` would if a job gave its reservation back, where that is before a time; else None.

        Most jobs of a plan cannot start earlier; the sums say so without a change of the plan.

        Args:
            job: the job.
            allocation: as reserved.
            start: of the reservation, s.
            end: of the reservation, s; not before ``end_of(start, duration)``.
            duration: s.
            choose: says where the job goes.
            after: earliest start looked for, s.
            before: the start looked for is before this, s, and before `start`.
        """
        # Where the reservation begins within a step, a window that begins earlier needs the whole step: what the job
        # holds counts from the next step on.
        own = bisect_left(self.times, start)
        stop = own if before >= start else bisect_left(self.times, before, 0, own)
        held = bisect_left(self.times, end, own), allocation
        if self.opened is not None:
            return self._open(job, duration, choose, after, min(before, start), stop, own, held)
        return self._first(job, duration, choose, after, stop, own, held)

    def may_move_up(self, job: Job, start: float, end: float, after: float) -> bool:
        """Return whether a job might start before its reservation: False only if it surely cannot.

        Args:
            job: the job.
            start: of the reservation, s.
            end: of the reservation, s.
            after: earliest start looked for, s.
        """
        own = bisect_left(self.times, start)
        origin = max(bisect_right(self.times, after) - 1, 0)
        sums = self._sums.against(self.space.sums_needed(job))
        return next(windows(self.times, *sums, origin, end - start, after, own, own), None) is not None

    def all_along(self, start: float, end: float) -> F:
        """Return what is free all along ``[start, end)``, which must not begin before the first step."""
        first = bisect_right(self.times, start) - 1
        return self._steps.meet(first, bisect_left(self.times, end, first + 1))

    def _open(
        self,
        job: Job,
        duration: float,
        choose: Chooser[F],
        after: float,
        before: float,
        stop: int,
        own: int,
        held: tuple[int, Allocation] | None,
    ) -> tuple[float, Place] | None:
        """Return what `_first` would, where hosts open and close to the job as time goes by.

        Between two such moments the job asks for the hosts that are open to it if it starts there.

        Args:
            job: the job.
            duration: s.
            choose: says where the job goes.
            after: earliest start, s.
            before: the start is before this, s; a step before `stop` may last longer.
            stop, own, held: as for `_first`.
        """
        assert self.opened is not None
        after = max(after, self.times[0])
        while after < before:
            shown, change = self.opened(job, after)
            if shown.request.allowed != 0:
                last = stop if change == math.inf else min(stop, bisect_left(self.times, change))
                found = self._first(shown, duration, choose, after, last, own, held)
                if found is not None:
                    return found
            after = change
        return None

    def _first(
        self,
        job: Job,
        duration: float,
        choose: Chooser[F],
        after: float,
        stop: int,
        own: int,
        held: tuple[int, Allocation] | None,
    ) -> tuple[float, Place] | None:
        """Return the first start in the steps before `stop`, and a place, or None.

        Args:
            job: the job.
            duration: s.
            choose: says where the job goes.
            after: earliest start, s.
            stop: the first step in which the job must not start.
            own: first step that the job holds an allocation in; the number of steps if it holds none.
            held: step behind the last one in which it does, and the allocation, or None.
        """
        sums, least = self._sums.against(self.space.sums_needed(job))
        index = max(bisect_right(self.times, after) - 1, 0)
        allowed = windows(self.times, sums, least, index, duration, after, stop, own)
        first = next(allowed, None)
        if first is None:
            # So it is with most jobs of a plan, which cannot start earlier.
            return None
        found: Any
        if job.request.plain and isinstance(self._steps, Masks):
            mask = 0 if held is None else held[1].mask
            found = self._steps.free_along(first, allowed, least, own, mask)
        else:
            found = self._free_along(first, allowed, job, own, held)
        for free, start, end in found:
            place = choose(free, job, start, end)
            if place is not None:
                return start, place
        return None

    def _free_along(
        self, first: SumWindow, allowed: SumWindows, job: Job, own: int, held: tuple[int, Allocation] | None
    ) -> Iterator[tuple[F, float, float]]:
        """Yield (what is free, start, end) of the windows with room; arguments as for `_first`."""
        index, later, start, end = first
        steps = self._steps if held is None else self._steps.given(own, *held, job)
        search, wanted = steps.search(job, index), index
        try:
            while True:
                if index != wanted:
                    search = steps.search(job, index)
                wanted = search.begin(index, later)
                if wanted == index:
                    yield search.free(index, later), start, end
                    wanted += 1
                index, later, start, end = allowed.send(wanted)
        except StopIteration:
            return

    def free_until(self, job: Job, allocation: Allocation, start: float, end: float) -> float:
        """Return until when what a job uses on an allocation stays free from `start` on, at most `end`, in seconds."""
        index = bisect_right(self.times, start) - 1
        while index < len(self.times) and self.times[index] < end:
            if self.space.lacking(self._steps.at(index), job, allocation) is not None:
                return max(self.times[index], start)
            index += 1
        return end

    def around(self, job: Job, start: float, end: float) -> tuple[float, float]:
        """Return (length of the longest, end of the last) of the `stretches`, in seconds."""
        return self.stretches(job, start, end)[1:]

    def stretches(self, job: Job, start: float, end: float) -> tuple[float, float, float]:
        """Return what stretches overlap ``[start, end)`` in which no sum is below what a job needs.

        That is (begin of the first, length of the longest, end of the last), in seconds; if there is none, infinity, 0
        and minus infinity.
        """
        sums, least = self._sums.against(self.space.sums_needed(job))
        times, count = self.times, len(self.times)
        index = max(bisect_right(times, start) - 1, 0)
        while index > 0 and sums[index] >= least and sums[index - 1] >= least:
            index -= 1
        first, longest, last = math.inf, 0.0, -math.inf
        while index < count and times[index] < end:
            if sums[index] >= least:
                begin = times[index]
                while index < count and sums[index] >= least:
                    index += 1
                last = times[index] if index < count else math.inf
                first, longest = min(first, begin), max(longest, last - begin)
            index += 1
        return first, longest, last


def steps_of(space: Space[Any], free: Any) -> Steps[Any]:
    """Return a single step in which `free` is free: a block if it is an array, else a list of masks or of values."""
    if isinstance(free, np.ndarray):
        return Block(space, free)
    return Masks(space, [free]) if isinstance(space, HostSpace) else Values(space, [free])


def gaps_from_now(
    timeline: Timeline[Any], now: float, horizon: float = math.inf, less: float = 0.0
) -> Iterator[tuple[Space[Any], Any, float]]:
    """Yield (space, free capacity, length in seconds) of the gaps that begin now and end by `horizon`.

    The shortest one is widest and comes first. Each length is told with `less` seconds taken off; gaps that are then
    shorter than a second are left out.
    """
    times, frees, space = timeline.times, timeline.frees, timeline.space
    window = frees[0]
    for index in range(1, len(times)):
        end = min(times[index], horizon)
        narrower = space.meet(window, frees[index])
        if end < horizon and space.same(narrower, window):
            continue
        if end - now - less >= 1.0:
            yield space, window, end - now - less
        if end >= horizon:
            return
        window = narrower
