"""Orderings by time of arrival."""

from batdispatch.core.job import Job
from batdispatch.parts.ordering.base import Ordering


class Fcfs(Ordering):
    """First come, first served. All keys are equal: ties go by arrival."""

    def key(self, job: Job, now: float, expected: float) -> float:
        return 0.0


class Lcfs(Ordering):
    """Last come, first served. Key: order of arrival, reversed."""

    def key(self, job: Job, now: float, expected: float) -> float:
        return -self.ledger.rank(job)
