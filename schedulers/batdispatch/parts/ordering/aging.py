"""Orderings whose keys grow with the time a job has waited."""

import math

from batdispatch.core.job import Job
from batdispatch.parts.ordering.base import Ordering


class Slowdown(Ordering):
    """Largest slowdown if started now first: (wait + expected) / expected.

    Also known as expansion factor; the priority of the constraint-programming dispatchers (PCP'20).
    """

    dynamic = True

    def key(self, job: Job, now: float, expected: float) -> float:
        return -(now - job.submission + expected) / expected if math.isfinite(expected) else -1.0


class Wfp3(Ordering):
    """WFP3: largest (wait / expected)^3 x units first.

    Tang, Lan, Desai, Buettner: "Fault-aware, utility-based job scheduling on Blue Gene/P systems", Cluster 2009.
    """

    dynamic = True

    def key(self, job: Job, now: float, expected: float) -> float:
        return -(((now - job.submission) / expected) ** 3) * job.units


class Unicef(Ordering):
    """UNICEF: largest wait / (log2(units) x expected) first: quick turnaround for small, short jobs.

    Tang et al., Cluster 2009, as Wfp3. log2 is taken of at least 2 units, where the published formula divides by zero.
    """

    dynamic = True

    def key(self, job: Job, now: float, expected: float) -> float:
        return -(now - job.submission) / (math.log2(max(job.units, 2)) * expected)
