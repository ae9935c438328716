"""Orderings by time of arrival."""

from batdispatch.core.jobs.job import Job
from batdispatch.parts.ordering.base import Ordering


class Fcfs(Ordering):
    """Puts the job first that arrived first (first come, first served). All keys are equal.

    Typical use: where nobody should be overtaken by jobs that came later. It is the default of many dispatchers.
    """

    def key(self, job: Job, now: float, expected: float) -> float:
        return 0.0


class Lcfs(Ordering):
    """Puts the job first that arrived last (last come, first served). Key: order of arrival, reversed.

    Typical use: to compare with `fcfs`. Jobs that arrived early may wait for ever.
    """

    def key(self, job: Job, now: float, expected: float) -> float:
        return -self.ledger.rank(job)
