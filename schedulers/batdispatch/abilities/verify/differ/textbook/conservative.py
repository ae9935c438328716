"""Conservative backfilling as Mu'alem and Feitelson (TPDS 2001, section 2.2) define it, on counts of processors."""

from __future__ import annotations

from bisect import bisect_left

from batdispatch.abilities.verify.differ.textbook.jobs import ENDLESS
from batdispatch.abilities.verify.differ.textbook.moment import Moment


class Conservative:
    """Each job is promised the earliest start that delays no promise made before.

    The profile of free processors is built anew from the running jobs and the promises whenever it is needed: slow, and
    there is nothing that could go stale.
    """

    def __init__(self) -> None:
        #: Waiting job -> promised start, microseconds; in order of the promises.
        self._promised: dict[int, int] = {}

    def decide(self, moment: Moment) -> None:
        """Promise starts to new jobs, move promises where a job ended, and start what is due."""
        rules = moment.rules
        moves = moment.surprised if rules.plan == "compress-early" else moment.ended
        moment.ended = moment.surprised = False
        if moves and rules.plan == "anew":
            self._promised.clear()
        fresh = [index for index in moment.queue if index not in self._promised]
        if moves and rules.plan in ("compress", "compress-early"):
            profile = self._profile(moment)
            for index in moment.queue:
                if index in self._promised:
                    start = max(self._promised[index], moment.now)
                    profile.give(start, start + moment.jobs[index].walltime, moment.jobs[index].units)
                    self._promise(moment, profile, index)
        if fresh:
            profile = self._profile(moment)
            for index in fresh:
                self._promise(moment, profile, index)
        free = moment.free
        for index in [index for index in moment.queue if self._promised[index] <= moment.now]:
            # A job that has outlived what it asked for may still hold what was promised.
            if moment.jobs[index].units <= free:
                free -= moment.jobs[index].units
                del self._promised[index]
                moment.start(index)

    def due(self, moment: Moment) -> int | None:
        """Return the next moment at which a promise is due, microseconds."""
        return min((start for start in self._promised.values() if moment.now < start < ENDLESS), default=None)

    def _promise(self, moment: Moment, profile: Profile, index: int) -> None:
        job = moment.jobs[index]
        start = self._promised[index] = profile.earliest(job.units, job.walltime)
        profile.take(start, start + job.walltime, job.units)

    def _profile(self, moment: Moment) -> Profile:
        """Return the free processors from now on, with the running jobs and all promises taken out."""
        jobs = moment.jobs
        taken = [(moment.now, max(end, moment.now + 1), jobs[index].units) for end, index in moment.running]
        for index, promised in self._promised.items():
            start = max(promised, moment.now)
            taken.append((start, start + jobs[index].walltime, jobs[index].units))
        return Profile.of(moment.now, moment.rules.hosts, taken)


class Profile:
    """Free processors as a step function of time: ``free[i]`` from ``times[i]`` on. Times in microseconds."""

    def __init__(self, times: list[int], free: list[int]) -> None:
        self.times, self.free = times, free

    @classmethod
    def of(cls, now: int, hosts: int, taken: list[tuple[int, int, int]]) -> Profile:
        """Return the profile from `now` on of a machine on which (from, to, processors) are taken."""
        changes: dict[int, int] = {now: 0}
        for start, end, units in taken:
            changes[start] = changes.get(start, 0) - units
            changes[end] = changes.get(end, 0) + units
        times = sorted(changes)
        free, level = [], hosts
        for time in times:
            level += changes[time]
            free.append(level)
        return cls(times, free)

    def earliest(self, units: int, length: int) -> int:
        """Return the earliest time from which on so many processors are free for so long."""
        times, free = self.times, self.free
        anchor = None
        for index, time in enumerate(times):
            if anchor is not None and time >= anchor + length:
                break
            if free[index] < units:
                anchor = None
            elif anchor is None:
                anchor = time
        # Behind a job that never ends nothing is promised before it has ended.
        return ENDLESS * 4 if anchor is None else anchor

    def take(self, start: int, end: int, units: int) -> None:
        """Take processors out for some time."""
        self._change(start, end, -units)

    def give(self, start: int, end: int, units: int) -> None:
        """Give processors back for some time."""
        self._change(start, end, units)

    def _change(self, start: int, end: int, units: int) -> None:
        first, last = self._step(start), self._step(end)
        for index in range(first, last):
            self.free[index] += units

    def _step(self, time: int) -> int:
        """Return the index of the step that begins at a time, made if it is not there."""
        index = bisect_left(self.times, time)
        if index == len(self.times) or self.times[index] != time:
            self.times.insert(index, time)
            self.free.insert(index, self.free[index - 1])
        return index
