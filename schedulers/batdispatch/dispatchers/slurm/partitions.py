"""What Slurm's two loops ask about partitions."""

from __future__ import annotations

from batdispatch.core.jobs.job import Job
from batdispatch.core.line.ledger import Ledger


class Partitions:
    """The partitions of a machine; one without a name where the site tells of none."""

    def __init__(self, ledger: Ledger) -> None:
        self._site = ledger.site
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

    def in_order(self, jobs: list[Job]) -> list[Job]:
        """Return jobs that are in order of their priorities in that of their tiers first."""
        return sorted(jobs, key=lambda job: -self.tier(job)) if self._tiered else jobs
