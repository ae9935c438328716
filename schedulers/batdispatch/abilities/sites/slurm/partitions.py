"""What Slurm's two loops ask about partitions.

References:
    Slurm 22.05, `sort_job_queue2` in job_scheduler.c.
"""

from __future__ import annotations

from batdispatch.core.hosts.allocation import Place
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.ledger import Ledger


class Partitions:
    """The partitions of a machine; one without a name where the site tells of none."""

    def __init__(self, ledger: Ledger, *, preempt: bool = False) -> None:
        """Look at a machine; `preempt`: jobs of higher tiers preempt others."""
        self._preempt = preempt
        self._site = ledger.machine.site
        self._all = ledger.machine.compute
        tiers = {} if self._site is None else {one.tier for one in self._site.partitions.values()}
        self._tiered = len(tiers) > 1
        self._ledger = ledger
        #: By id of a job that names several partitions: itself, and once for each of these.
        self._entries: dict[str, tuple[Job, tuple[Job, ...]]] = {}

    def name(self, job: Job) -> str:
        """Return the name of a job's partition."""
        partition = None if self._site is None else self._site.partition_of(job)
        return "" if partition is None else partition.name

    def hosts(self, name: str) -> int:
        """Return the mask of a partition's hosts."""
        return self._site.hosts[name] if self._site is not None and name else self._all

    def tier(self, job: Job) -> int:
        """Return the tier of a job's partition."""
        partition = None if self._site is None else self._site.partition_of(job)
        return 1 if partition is None else partition.tier

    def reservation(self, job: Job) -> str | None:
        """Return the name of the reservation that a job asks for; None: it asks for none."""
        window = None if self._site is None else self._site.window_of(job)
        return None if window is None else window.name

    def start(self, job: Job, place: Place, within: Job | None = None) -> Job:
        """Start a job, which is in one partition from then on, and return it as it runs.

        Args:
            job: as it waits, or as it was tried in one of its partitions.
            place: where.
            within: as it was tried, if that is not `job`.
        """
        ledger = self._ledger
        waiting = ledger.queue.get(job.id)
        if waiting is not None and job.id in self._entries:
            job = ledger.amend(waiting, request=job.request, extra=(within or job).extra)
        ledger.start(job, place)
        return job

    def within(self, job: Job, tried: Job) -> Job:
        """Return a job that names several partitions as in the one in which it is tried; any other as it is."""
        if self._site is None or job.id not in self._entries:
            return job
        there = self._site.hosts[self.name(tried)]
        return self._site.asking(job, there if job.request.allowed is None else there & job.request.allowed)

    def as_waiting(self, started: list[Job]) -> list[Job]:
        """Return jobs that were started as those that waited."""
        return [self._entries.pop(job.id)[0] if job.id in self._entries else job for job in started]

    def _each(self, jobs: list[Job]) -> list[Job]:
        """Return jobs that wait in several partitions once for each of these, in the same order, and the others."""
        site, found = self._site, list[Job]()
        if site is None or len(site.partitions) < 2:
            return jobs
        for job in jobs:
            known = self._entries.get(job.id)
            if known is None or known[0] is not job:
                entries = site.entries(job)
                if entries[0] is job:
                    found.append(job)
                    continue
                known = self._entries[job.id] = (job, entries)
            found += known[1]
        return found

    def in_order(self, jobs: list[Job]) -> list[Job]:
        """Return jobs that are in order of their priorities in that of their tiers first.

        A job that names several partitions comes once for each of them, in which it is tried by itself.
        Those that ask for a reservation go before all others, but not before jobs that may preempt them.
        """
        jobs = self._each(jobs)
        if self._tiered:
            jobs = sorted(jobs, key=lambda job: -self.tier(job))
        if self._site is None or not self._site.windows:
            return jobs
        return sorted(jobs, key=lambda job: (-self.tier(job) if self._preempt else 0, self.reservation(job) is None))
