"""What Slurm's two loops ask about partitions.

References:
    Slurm 22.05, `sort_job_queue2` in job_scheduler.c.
"""

from __future__ import annotations

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

    def in_order(self, jobs: list[Job]) -> list[Job]:
        """Return jobs that are in order of their priorities in that of their tiers first.

        Those that ask for a reservation go before all others, but not before jobs that may preempt them.
        """
        if self._tiered:
            jobs = sorted(jobs, key=lambda job: -self.tier(job))
        if self._site is None or not self._site.windows:
            return jobs
        return sorted(jobs, key=lambda job: (-self.tier(job) if self._preempt else 0, self.reservation(job) is None))
