"""Orderings by time of arrival."""

from batdispatch.core.job import Job
from batdispatch.parts.ordering.base import Ordering


class Fcfs(Ordering):
    """First come, first served. Key: order of arrival."""

    def key(self, job: Job, now: float, estimate: float) -> float:
        return job.rank


class Lcfs(Ordering):
    """Last come, first served. Key: order of arrival, reversed."""

    def key(self, job: Job, now: float, estimate: float) -> float:
        return -job.rank
