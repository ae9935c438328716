"""Orderings whose keys grow with the time a job has waited. None divides by less than a tick of the clock."""

import math
from typing import Annotated

import msgspec

from batdispatch.core.jobs.job import Job
from batdispatch.core.line.options import Options
from batdispatch.core.line.ticks import TICK
from batdispatch.parts.ordering.base import Ordering


class Slowdown(Ordering):
    """Puts the job first whose slowdown would be largest if it started now: (wait + expected) / expected.

    The literature also calls this the expansion factor. `pcp20-priority` refines it.

    Typical use: where short jobs should wait less than long ones, and each job should move up while it waits.
    """

    dynamic = True

    def key(self, job: Job, now: float, expected: float) -> float:
        expected = max(expected, TICK)
        return -(now - job.submission + expected) / expected if math.isfinite(expected) else -1.0


class Wfp3(Ordering):
    """Puts the job with the largest (wait / expected)^3 x units first (WFP3).

    Typical use: where large jobs should move up while they wait, and short jobs should wait less than long ones.
    References: Tang, Lan, Desai, Buettner: "Fault-aware, utility-based job scheduling on Blue Gene/P systems", Cluster
    2009.
    """

    dynamic = True

    def key(self, job: Job, now: float, expected: float) -> float:
        return -(((now - job.submission) / max(expected, TICK)) ** 3) * job.units


class Unicef(Ordering):
    """Puts the job with the largest wait / (log2(units) x expected) first (UNICEF).

    Typical use: where small and short jobs should be served quickly.
    Deviations: log2 is taken of at least 2 units, because the published formula divides by zero for one unit.
    References: Tang, Lan, Desai, Buettner: "Fault-aware, utility-based job scheduling on Blue Gene/P systems", Cluster
    2009.
    """

    dynamic = True

    def key(self, job: Job, now: float, expected: float) -> float:
        return -(now - job.submission) / (math.log2(max(job.units, 2)) * max(expected, TICK))


class AgedAreaOptions(Options, frozen=True, kw_only=True):
    """Options of aged-area.

    head_start: Add this many seconds to the wait of each job.
    power: Take the wait, with this addition, to this power. 0: the order is that of `smallest-area`.
    width: Take the units to this power in the area. 0: only the run time counts.
    """

    head_start: Annotated[float, msgspec.Meta(gt=0)] = 86_400.0
    power: Annotated[float, msgspec.Meta(ge=0, le=10)] = 3.0
    width: Annotated[float, msgspec.Meta(ge=0, le=10)] = 1.0


class AgedArea(Ordering):
    """Puts the job with the smallest area / (wait + `head_start`)^`power` first.

    Its area is units^`width` x expected run time, s.

    Typical use: as `smallest-area`, where no job may wait for very long: a job moves up while it waits.
    """

    options_type = AgedAreaOptions
    dynamic = True

    def key(self, job: Job, now: float, expected: float) -> float:
        waited = now - job.submission + self.options.head_start
        key: float = job.units**self.options.width * expected / waited**self.options.power
        return key
