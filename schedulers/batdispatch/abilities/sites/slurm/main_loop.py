"""Slurm's main loop: jobs in order, each starts if it fits, and one that does not holds up its partition.

References:
    Slurm 22.05, `_schedule` in job_scheduler.c.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from batdispatch.abilities.sites.slurm.completions import Completions
from batdispatch.abilities.sites.slurm.partitions import Partitions
from batdispatch.abilities.sites.slurm.preemption import Preemption
from batdispatch.core.hosts.allocation import Place
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.ledger import Ledger


class MainLoop:
    """One run of the loop.

    A job that does not fit lets no further job of its partition start, nor any job on nodes of that partition, unless
    it has waited for less than `min_age`. A job that names its nodes keeps only these nodes from the others, and one
    that asks for a reservation only further jobs of that from starting. A job that lacks a licence keeps nothing, nor
    does one that a reservation keeps back, or that shares nodes and would not fit even if all that are left were idle.

    Attributes:
        stopped: whether jobs were left that the loop did not look at.
    """

    def __init__(
        self,
        ledger: Ledger,
        choose: Callable[[Any, Job], Place | None],
        partitions: Partitions,
        completing: Completions,
        *,
        licenses_hold_up: bool = False,
        min_age: float = 0.0,
        starts: int = 0,
        part_jobs: int = 0,
        preemption: Preemption | None = None,
    ) -> None:
        self.stopped = False
        self._ledger = ledger
        self._choose = choose
        self._partitions = partitions
        self._completing = completing
        self._licenses_hold_up = licenses_hold_up
        self._min_age = min_age
        self._starts = starts
        self._part_jobs = part_jobs
        self._preemption = preemption
        #: Mask of the hosts that are left for the jobs to come.
        self._open = ledger.machine.compute & ~ledger.unavailable
        #: Partitions and reservations of which no further job starts.
        self._failed: set[tuple[str, str]] = set()

    def run(self, jobs: Sequence[Job], most: int | None) -> list[Job]:
        """Start jobs in order, of at most so many looked at, and return those that were started."""
        started: list[Job] = []
        tried: Counter[str] = Counter()
        for count, job in enumerate(jobs):
            if not self._open:
                break
            # It may have started in another one of its partitions.
            if job.id not in self._ledger.queue:
                continue
            if most is not None and count > most:
                self.stopped = True
                break
            if 0 < self._starts <= len(started):
                self.stopped = True
                break
            partition, reservation = self._partitions.name(job), self._partitions.reservation(job)
            queue = ("", partition) if reservation is None else ("reservation", reservation)
            if queue in self._failed:
                continue
            tried[partition] += 1
            if 0 < self._part_jobs < tried[partition]:
                continue
            if lacks_licence(self._ledger, self._completing.free, job):
                if self._licenses_hold_up:
                    break
                continue
            if self._start(job):
                started.append(job)
            elif job.request.named:
                self._open &= ~self._ledger.space.need(job).hosts
            elif reservation is not None:
                self._failed.add(queue)
            elif self._ledger.now - job.submission < self._min_age:
                # Too young to hold up others (bf_min_age_reserve).
                continue
            elif self._is_busy(job):
                self._failed.add(queue)
                self._open &= ~self._partitions.hosts(partition)
        return started

    def _start(self, job: Job) -> bool:
        ledger = self._ledger
        hosts = self._open if self._preemption is None else self._open & self._preemption.suspension.open_to(job)
        free = ledger.space.only(self._completing.free(), hosts)
        place = self._choose(free, job) if ledger.space.fits(free, job) else None
        if place is not None:
            self._partitions.start(job, place)
        elif self._preemption is not None:
            # Whoever is preempted has not ended yet: until then, the job holds up others as any that does not fit.
            self._preemption.preempt(job, hosts)
        return place is not None

    def _is_busy(self, job: Job) -> bool:
        """Return whether a job waits for nodes that are left, and so holds up others.

        A job that takes whole nodes does unless a reservation keeps it back: it would not fit now on an idle machine.
        Any other does if it would fit were they idle, or if one of them has a job that takes whole nodes or that was
        preempted and has not ended.
        """
        ledger, space, takes_hosts = self._ledger, self._ledger.space, self._ledger.machine.takes_hosts
        if takes_hosts(job.request):
            return space.fits(space.whole(), job)
        if space.fits(space.only(space.whole(), self._open), job):
            return True
        ending = self._preemption.ending if self._preemption is not None else ()
        return any(
            stay.allocation.mask & self._open and (stay.job.id in ending or takes_hosts(stay.job.request))
            for stay in (*ledger.running.values(), *self._completing.stays)
        )


def lacks_licence(ledger: Ledger, free: Callable[[], Any], job: Job) -> bool:
    """Return whether fewer licences are free than a job asks for."""
    if not job.request.licences:
        return False
    left = ledger.space.pooled(free())[len(ledger.machine.resources) :]
    return bool((left < ledger.space.need(job).licences).any())
