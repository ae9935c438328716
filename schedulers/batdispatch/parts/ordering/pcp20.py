"""The priority of the constraint-programming dispatchers."""

import math

from batdispatch.core.job import Job
from batdispatch.parts.ordering.base import Ordering


class Pcp20Priority(Ordering):
    """Largest slowdown if started now first: (wait + expected) / expected; ties: shorter, then smaller.

    Smaller means expected x units x sum of the amounts that a unit needs, where a whole node counts as 1. Galleguillos,
    Kiziltan, Soto: "A constraint programming-based job dispatcher for modern HPC systems and applications", 2020,
    section 4. A job is taken to run for at least a second; of a job expected to run for ever the slowdown is 1.
    """

    dynamic = True

    def key(self, job: Job, now: float, expected: float) -> tuple[float, ...]:
        expected = max(expected, 1.0)
        slowdown = (now - job.submission + expected) / expected if math.isfinite(expected) else 1.0
        amounts = self.ledger.space.need(job).amounts
        demand = job.units * (sum(amounts) if amounts and job.request.per_unit is not None else 1)
        return -slowdown, expected, expected * demand
