"""When and where a job could start, if what runs ends when expected: Slurm's will-run test.

Running jobs are taken away in order of their expected ends, not one by one but all whose ends lie in a window. The
first window ends where time is a multiple of its width; each further one is twice as wide as the one before. So the
start that is found may lie after the first moment that would do, by up to the width of the window.

References:
    Slurm 22.05, `_will_run_test` in select/cons_common/job_test.c.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from batdispatch.core.hosts.allocation import Place
from batdispatch.core.jobs.job import Job, Stay
from batdispatch.core.line.ledger import Ledger

#: Chooses a place for a job within some free capacity, or None.
Chooser = Callable[[Any, Job], Place | None]
#: Running jobs in order of their expected end: (end in s, rank, stay).
RunningJobs = list[tuple[float, int, Stay]]
#: Seconds after which a job that has outlived its walltime is taken for ended: Slurm's default KillWait.
_KILL_WAIT = 30.0


class WillRun:
    """The test, for the moment of one backfill pass."""

    def __init__(
        self,
        ledger: Ledger,
        free: Callable[[], Any],
        choose: Chooser,
        running: RunningJobs,
        width: float,
        linear: float,
        clock: float,
    ) -> None:
        """Begin with what runs.

        Args:
            ledger: the cluster.
            free: returns what is free now.
            choose: says where a job goes.
            running: the running jobs.
            width: of the first window, s; 0: each end is looked at by itself.
            linear: by how much each window is wider than the one before, s; 0: it is twice as wide (bf_window_linear).
            clock: what the clock whose multiples end the first window shows at 0, s.
        """
        self._ledger = ledger
        self._free = free
        self._choose = choose
        self._width = width
        self._linear = linear
        self._clock = clock
        self._running = running
        #: What is free once the first 0, 1, 2, ... running jobs have ended, as far as it was asked for.
        self._frees: list[Any] = [free()]
        #: The sums of these over the machine.
        self._sums: list[list[int]] = []
        #: Ids of the jobs among those that are suspended: others may run on their nodes, but not the job in question.
        self._suspended: set[str] = set()

    def without(self, stays: Sequence[Stay], free: Any) -> WillRun:
        """Return the same test, as if some running jobs had ended already and left so much free."""
        gone = {stay.job.id for stay in stays}
        left = [entry for entry in self._running if entry[2].job.id not in gone]
        test = WillRun(self._ledger, self._free, self._choose, left, self._width, self._linear, self._clock)
        test._frees = [free]
        return test

    def beside(self, suspended: RunningJobs) -> WillRun:
        """Return the same test for a job from which suspended ones keep their nodes until their expected ends."""
        if not suspended:
            return self
        running = sorted([*self._running, *suspended], key=lambda entry: entry[:2])
        test = WillRun(self._ledger, self._free, self._choose, running, self._width, self._linear, self._clock)
        test._frees = self._frees[:1]
        test._suspended = {stay.job.id for _, _, stay in suspended}
        return test

    def started(self, stay: Stay, end: float) -> None:
        """Note that a job was started, and when it is expected to end, in seconds."""
        self._running.append((end, stay.rank, stay))
        self._running.sort(key=lambda entry: entry[:2])
        self._frees, self._sums = [self._free()], []

    def first(self, job: Job, hosts: int, *, now_only: bool) -> tuple[float, Place] | None:
        """Return when a job could start on some of the hosts of a mask, in seconds, and its place there, or None.

        `now_only`: whether only a start now counts.
        """
        place = self._within(0, job, hosts)
        if place is not None:
            return self._ledger.now, place
        if now_only:
            return None
        for count, end in self._windows(hosts):
            place = self._within(count, job, hosts)
            if place is not None:
                now = self._ledger.now
                return (end if end > now else max(end + _KILL_WAIT, now + 1.0)), place
        return None

    def _within(self, count: int, job: Job, hosts: int) -> Place | None:
        """Return a place on some hosts once so many running jobs have ended, or None."""
        space, frees = self._ledger.space, self._frees
        while len(frees) <= count:
            _, _, stay = self._running[len(frees) - 1]
            gone = stay.job.id in self._suspended
            frees.append(frees[-1] if gone else space.give(frees[-1], stay.job, stay.allocation))
        while len(self._sums) <= count:
            self._sums.append(space.pooled(frees[len(self._sums)]).tolist())
        # Many ends are looked at in vain, and sums cost a tenth of a look at the hosts.
        if any(have < need for have, need in zip(self._sums[count], space.sums_needed(job), strict=True)):
            return None
        for _, _, stay in self._running[count:] if self._suspended else ():
            if stay.job.id in self._suspended:
                hosts &= ~stay.allocation.mask
        free = space.only(frees[count], hosts)
        return self._choose(free, job) if space.fits(free, job) else None

    def _windows(self, hosts: int) -> Iterator[tuple[int, float]]:
        """Yield for each window how many running jobs have ended with it, and the last end that gives back a host."""
        running, width, edge, last, ended = self._running, self._width, 0.0, 0.0, 0
        for index, (end, _, stay) in enumerate(running):
            if end == math.inf:
                break
            if not stay.allocation.mask & hosts:
                continue
            last, ended = end, index + 1
            edge = edge or (((end + self._clock) // width + 1) * width - self._clock if width else end)
            following = running[ended][0] if ended < len(running) else math.inf
            if following <= (edge + width if width else end):
                continue
            width = self._wider(width, following - edge)
            yield ended, last
            ended = 0
        if ended:
            yield ended, last

    def _wider(self, width: float, reach: float) -> float:
        """Return the next width of a window, in seconds, so that it reaches so far; at once if nothing comes then."""
        width += self._linear or width
        while width and width < reach < math.inf:
            width += self._linear or width
        return width
