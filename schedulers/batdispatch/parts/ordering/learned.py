"""Static orderings found by regression over simulated schedules.

Carastan-Santos, de Camargo: "Obtaining dynamic scheduling policies with simulation and machine learning", SC 2017,
table 3. r is the expected run time (s), n the units, s the submission time (s; 1 at least, for the logarithm).
"""

import math
from collections.abc import Callable

from batdispatch.core.jobs.job import Job
from batdispatch.parts.ordering.base import Ordering


class _Learned(Ordering):
    """Smallest f(r, n) + weight x log10(s) first."""

    weight: float
    work: Callable[[float, int], float]

    def key(self, job: Job, now: float, expected: float) -> float:
        return type(self).work(max(expected, 1.0), job.units) + self.weight * math.log10(max(job.submission, 1.0))


class F1(_Learned):
    """Puts the job with the smallest log10(r) n + 870 log10(s) first.

    Typical use: to order jobs by a formula that was fitted to simulated schedules for a small mean slowdown.
    """

    weight = 8.70e2
    work = staticmethod(lambda r, n: math.log10(r) * n)


class F2(_Learned):
    """Puts the job with the smallest sqrt(r) n + 25,600 log10(s) first.

    Typical use: as for `f1`.
    """

    weight = 2.56e4
    work = staticmethod(lambda r, n: math.sqrt(r) * n)


class F3(_Learned):
    """Puts the job with the smallest r n + 6,860,000 log10(s) first.

    Typical use: as for `f1`.
    """

    weight = 6.86e6
    work = staticmethod(lambda r, n: r * n)


class F4(_Learned):
    """Puts the job with the smallest r sqrt(n) + 530,000 log10(s) first.

    Typical use: as for `f1`.
    """

    weight = 5.30e5
    work = staticmethod(lambda r, n: r * math.sqrt(n))
