"""Jobs that have ended and whose nodes slurmctld does not know to be free yet: Slurm's state COMPLETING.

A job's end stands in Slurm's books some time before its nodes are given to others: the epilog runs, and slurmd has to
report. Accounts count whole seconds, as the ticks of the main loop do, so that without this an end would coincide with
the tick that can only follow it.

References:
    Slurm 22.05, `job_epilog_complete` and `deallocate_nodes` in job_mgr.c and node_scheduler.c.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple

from batdispatch.core.jobs.job import Stay
from batdispatch.core.line.ledger import Ledger


class _Completion(NamedTuple):
    #: When what the job had is given to others, s.
    until: float
    #: Its expected end in seconds, rank, stay.
    entry: tuple[float, int, Stay]


class Completions:
    """The jobs that are completing.

    Invariant: they are in the order in which they ended, so that of their completions.
    """

    def __init__(self, ledger: Ledger, seconds: float) -> None:
        """Begin with none; each completes for so many seconds."""
        self._ledger = ledger
        self._seconds = seconds
        self._jobs: deque[_Completion] = deque()

    def add(self, entry: tuple[float, int, Stay]) -> bool:
        """Take a job that has just ended, and return whether it completes from now on; False: it takes no time.

        Args:
            entry: its expected end in seconds, its rank, its stay.
        """
        if not self._seconds:
            return False
        until = self._ledger.wake_at(self._ledger.now + self._seconds)
        self._jobs.append(_Completion(until, entry))
        return True

    def conclude(self) -> bool:
        """Forget the jobs whose completion is over by now, and return whether there were any."""
        count = len(self._jobs)
        while self._jobs and self._jobs[0].until <= self._ledger.now:
            self._jobs.popleft()
        return len(self._jobs) < count

    @property
    def next(self) -> float | None:
        """Return when the next completion is over, in seconds; None: no job completes."""
        return self._jobs[0].until if self._jobs else None

    def beside(self, running: Iterable[tuple[float, int, Stay]]) -> list[tuple[float, int, Stay]]:
        """Return the running jobs with those that are completing, in order of their expected ends.

        Until slurmctld hears of its end, a job counts as running.
        """
        if not self._jobs:
            return list(running)
        return sorted([*running, *(one.entry for one in self._jobs)], key=lambda entry: entry[:2])

    @property
    def stays(self) -> list[Stay]:
        """Return the jobs with what they had."""
        return [one.entry[2] for one in self._jobs]

    def free(self) -> Any:
        """Return the free capacity without what completing jobs had."""
        ledger = self._ledger
        free = ledger.free
        for stay in self.stays:
            # What a host had that is gone is no longer free anyway.
            if not stay.allocation.mask & ledger.unavailable:
                free = ledger.space.take(free, stay.job, stay.allocation)
        return free
