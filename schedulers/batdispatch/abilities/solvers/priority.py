"""The priority of the constraint-programming dispatchers."""

import math
from typing import ClassVar, Literal

from batdispatch.core.jobs.job import Job
from batdispatch.core.line.options import Options
from batdispatch.parts.ordering.base import Ordering


class Pcp20PriorityOptions(Options, frozen=True, kw_only=True):
    """Options of pcp20-priority.

    ties: Choose which of the jobs with equal slowdowns comes first. `shorter`: the shorter one, and of equally long
        ones the smaller one, as in the code of PCP'20. `smaller`: the smaller one at once, as in that of HCP'19.
    """

    ties: Literal["shorter", "smaller"] = "shorter"


class Pcp20Priority(Ordering):
    """Puts the job first whose slowdown would be largest if it started now; ties: the shorter, then the smaller one.

    The slowdown is (wait + expected) / expected. The smaller job is the one with the smaller product of expected run
    time, units, and the sum of the amounts that a unit needs, where a whole node counts as 1. A job is taken to run
    for at least a second. If a job is expected to run for ever, its slowdown is 1.

    Typical use: with `pcp20`, `pcp19`, `hcp19` and `best-list`, whose default it is.
    References: Galleguillos, Kiziltan, Soto: "A constraint programming-based job dispatcher for modern HPC systems and
    applications", 2020, section 2.2. It leaves ties open.
    """

    options_type: ClassVar[type[Options]] = Pcp20PriorityOptions
    dynamic = True

    def key(self, job: Job, now: float, expected: float) -> tuple[float, ...]:
        expected = max(expected, 1.0)
        slowdown = (now - job.submission + expected) / expected if math.isfinite(expected) else 1.0
        ledger = self.ledger
        whole = ledger.machine.units_are_hosts(job.request)
        demand = job.units * (1 if whole else sum(ledger.space.need(job).amounts))
        return -slowdown, expected if self.options.ties == "shorter" else 0.0, expected * demand
