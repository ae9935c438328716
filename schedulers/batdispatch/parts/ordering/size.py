"""Orderings by what a job asks for: time, units, or their product."""

from batdispatch.core.job import Job
from batdispatch.parts.ordering.base import Ordering


class ShortestFirst(Ordering):
    """Shortest job first (SJF). Key: expected run time, s."""

    def key(self, job: Job, now: float, expected: float) -> float:
        return expected


class LongestFirst(Ordering):
    """Longest job first (LJF). Key: minus the expected run time, s."""

    def key(self, job: Job, now: float, expected: float) -> float:
        return -expected


class SmallestFirst(Ordering):
    """Smallest job first. Key: units."""

    def key(self, job: Job, now: float, expected: float) -> float:
        return job.units


class LargestFirst(Ordering):
    """Largest job first. Key: minus the units."""

    def key(self, job: Job, now: float, expected: float) -> float:
        return -job.units


class SmallestArea(Ordering):
    """Smallest area first (SAF). Key: units x expected run time, s."""

    def key(self, job: Job, now: float, expected: float) -> float:
        return job.units * expected


class LargestArea(Ordering):
    """Largest area first (LAF). Key: minus units x expected run time, s."""

    def key(self, job: Job, now: float, expected: float) -> float:
        return -job.units * expected
