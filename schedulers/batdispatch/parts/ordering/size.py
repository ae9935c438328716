"""Orderings by what a job asks for: time, units, or their product."""

from batdispatch.core.jobs.job import Job
from batdispatch.parts.ordering.base import Ordering


class ShortestFirst(Ordering):
    """Puts the job with the shortest expected run time first (SJF). Key: expected run time, s.

    Typical use: where many short jobs wait behind long ones. Long jobs may wait for very long.
    """

    def key(self, job: Job, now: float, expected: float) -> float:
        return expected


class LongestFirst(Ordering):
    """Puts the job with the longest expected run time first (LJF). Key: minus the expected run time, s.

    Typical use: to compare with the other orderings.
    """

    def key(self, job: Job, now: float, expected: float) -> float:
        return -expected


class SmallestFirst(Ordering):
    """Puts the job with the fewest units first. Key: units.

    Typical use: where many small jobs wait behind large ones. Large jobs may wait for very long.
    """

    def key(self, job: Job, now: float, expected: float) -> float:
        return job.units


class LargestFirst(Ordering):
    """Puts the job with the most units first. Key: minus the units.

    Typical use: where large jobs would otherwise wait for too long.
    """

    def key(self, job: Job, now: float, expected: float) -> float:
        return -job.units


class SmallestArea(Ordering):
    """Puts the job with the smallest area first (SAF). Key: units x expected run time, s.

    Typical use: where the mean slowdown matters. Jobs of large area may wait for very long.
    """

    def key(self, job: Job, now: float, expected: float) -> float:
        return job.units * expected


class LargestArea(Ordering):
    """Puts the job with the largest area first (LAF). Key: minus units x expected run time, s.

    Typical use: to plan a batch of jobs, as `stochastic-batch` does, so that small jobs fill what large ones leave.
    """

    def key(self, job: Job, now: float, expected: float) -> float:
        return -job.units * expected
