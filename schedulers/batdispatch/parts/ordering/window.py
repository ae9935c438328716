"""Which queued jobs are decided about together: how many, and in what order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from batdispatch.core.jobs.job import Job
from batdispatch.core.line.ledger import Ledger
from batdispatch.parts.ordering.base import Ordering


class Window:
    """How many jobs a model takes: half as many after each failure of the solver, at least 1; all after a success.

    Attributes:
        size: for the next model.
        halved: how often it was halved.
    """

    def __init__(self, size: int) -> None:
        self._full = self.size = size
        self.halved = 0

    def failed(self, jobs: int) -> None:
        """Take half as many jobs next time as in the model of `jobs` jobs that failed."""
        self.size = max(1, min(self.size, jobs) // 2)
        self.halved += 1

    def succeeded(self) -> None:
        """Take as many jobs as at first."""
        self.size = self._full


def in_order(ledger: Ledger, ordering: Ordering, jobs: Sequence[Job], expected: Callable[[Job], float]) -> list[Job]:
    """Return jobs as an ordering wants them now; ties go by arrival.

    Args:
        ledger: the cluster.
        ordering: the ordering, which has begun.
        jobs: queued jobs.
        expected: how long a job is expected to run, s.
    """
    key, rank, now = ordering.key, ledger.rank, ledger.now
    # A key is a number or a tuple, of one form for all jobs.
    keys: dict[str, Any] = {job.id: (key(job, now, expected(job)), rank(job)) for job in jobs}
    return sorted(jobs, key=lambda job: keys[job.id])
