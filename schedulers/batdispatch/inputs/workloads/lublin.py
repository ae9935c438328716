"""The Lublin-Feitelson model of rigid jobs on a parallel machine.

- Size: 1 with the probability of serial jobs; otherwise 2 to a power that is uniform on [low, medium] with probability
  `share` and on [medium, high] else, the power being rounded for the share of power-of-two jobs. `high` is log2 of the
  machine.
- Run time: exp of a hyper-gamma, Gamma(a1, b1) with probability p = pa * size + pb, else Gamma(a2, b2); so larger jobs
  run longer. Draws above 12 (exp(12) s = 45 h) are repeated.
- Arrivals: gaps of exp(Gamma(alpha * ratio, beta)) s, repeated above 13, count at the day's mean rate; a daily cycle of
  48 half-hour weights, the increments of a Gamma distribution function over the day from 5 o'clock on, stretches and
  squeezes them.

Deviations: a machine that is no power of two cuts sizes at its own size; `load` scales the gaps before the daily cycle
is applied, so that the cycle stays as it is (the authors advise to change the gamma's parameters, which has the same
aim); a gap that ends inside a half hour continues from there (some published programs lose that remainder).

References:
    Lublin, Feitelson, "The workload on parallel supercomputers: modeling the characteristics of rigid jobs", JPDC
    63(11), 2003: the parameters below.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from batdispatch.core.errors import InputError
from batdispatch.core.hosts import hostset
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.core.numerals import number
from batdispatch.inputs.workloads.estimates import Kind, estimates
from batdispatch.inputs.workloads.logs import profile_name
from batdispatch.inputs.workloads.model import Workload

DAY = 86_400.0
#: Half-hour slots of a day, and the slot where the model's day begins (5 o'clock).
SLOTS = 48
FIRST_SLOT = 10
#: Largest logarithms of a run time and of a gap (s) that are kept.
MAX_LOG_RUNTIME = 12.0
MAX_LOG_GAP = 13.0
#: Most jobs made at once.
MAX_JOBS = 5_000_000


class JobClass(msgspec.Struct, frozen=True, kw_only=True):
    """The model's parameters for one kind of jobs."""

    #: Shares of jobs of size 1, and of jobs whose size is made a power of two.
    serial: float
    power2: float
    #: log2 of the smallest parallel size; distance of the medium below the high; the lower stage's share; largest high.
    low: float
    below: float
    share: float
    high: float = math.inf
    #: Hyper-gamma of the logarithm of the run time.
    a1: float
    b1: float
    a2: float
    b2: float
    pa: float
    pb: float
    #: Gamma of the logarithm of the gap at rush hours, and its ratio of all hours to rush hours.
    gap_alpha: float
    gap_beta: float
    gap_ratio: float
    #: Gamma of the arrivals over the day's slots.
    day_alpha: float
    day_beta: float


#: All jobs together.
ALL_JOBS = JobClass(
    serial=0.244,
    power2=0.576,
    low=0.8,
    below=2.5,
    share=0.86,
    a1=4.2,
    b1=0.94,
    a2=312.0,
    b2=0.03,
    pa=-0.0054,
    pb=0.78,
    gap_alpha=10.2303,
    gap_beta=0.4871,
    gap_ratio=1.0225,
    day_alpha=8.1737,
    day_beta=3.9631,
)
BATCH = JobClass(
    serial=0.2927,
    power2=0.6686,
    low=1.2,
    below=2.0,
    share=0.875,
    a1=6.57,
    b1=0.823,
    a2=639.1,
    b2=0.0156,
    pa=-0.003,
    pb=0.6986,
    gap_alpha=6.0415,
    gap_beta=0.8531,
    gap_ratio=1.0519,
    day_alpha=6.1271,
    day_beta=5.2740,
)
INTERACTIVE = JobClass(
    serial=0.1541,
    power2=0.625,
    low=1.0,
    below=2.5,
    share=0.705,
    high=5.5,
    a1=3.8351,
    b1=0.6605,
    a2=7.073,
    b2=0.6856,
    pa=-0.0118,
    pb=0.9156,
    gap_alpha=6.5510,
    gap_beta=0.6621,
    gap_ratio=0.9797,
    day_alpha=8.9186,
    day_beta=3.6680,
)


def gamma_cdf(x: float, alpha: float) -> float:
    """Return the distribution function of Gamma(alpha, 1) at x by its power series; exact to 1e-12 for x up to 50."""
    if x <= 0:
        return 0.0
    term = total = 1.0 / alpha
    k = alpha
    while term > 1e-16 * total:
        k += 1.0
        term *= x / k
        total += term
    return min(total * math.exp(alpha * math.log(x) - x - math.lgamma(alpha)), 1.0)


def slot_weights(kind: JobClass) -> NDArray[np.float64]:
    """Return how busy each half hour of the day is, float64 [slot from midnight], of mean 1."""
    weights = np.zeros(SLOTS)
    for i in range(FIRST_SLOT + 1, FIRST_SLOT + 1 + SLOTS):
        upper, lower = (i + 0.5) / kind.day_beta, (i - 0.5) / kind.day_beta
        weights[(i - 1) % SLOTS] = gamma_cdf(upper, kind.day_alpha) - gamma_cdf(lower, kind.day_alpha)
    normal: NDArray[np.float64] = weights / weights.mean()
    return normal


def draw_sizes(rng: np.random.Generator, kind: JobClass, count: int, hosts: int) -> NDArray[np.int64]:
    """Return job sizes, int64 [job], from 1 to `hosts`."""
    high = min(kind.high, math.log2(hosts))
    low = min(kind.low, high)
    medium = max(low, high - kind.below)
    which = rng.random(count)
    lower = rng.random(count) <= kind.share
    power = rng.random(count)
    power = np.where(lower, low + (medium - low) * power, medium + (high - medium) * power)
    power = np.where(which <= kind.serial + kind.power2, np.floor(power + 0.5), power)
    sizes = np.floor(2.0**power + 0.5).astype(np.int64)
    sizes[which <= kind.serial] = 1
    return np.clip(sizes, 1, hosts)


def draw_runtimes(rng: np.random.Generator, kind: JobClass, sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return run times in whole seconds from 1, float64 [job]."""
    chance = np.clip(kind.pa * sizes + kind.pb, 0.0, 1.0)
    logs = np.empty(len(sizes))
    left = np.arange(len(sizes))
    while len(left):
        first = rng.random(len(left)) <= chance[left]
        logs[left] = np.where(first, rng.gamma(kind.a1, kind.b1, len(left)), rng.gamma(kind.a2, kind.b2, len(left)))
        left = left[logs[left] > MAX_LOG_RUNTIME]
    return np.floor(np.exp(logs))


def draw_gaps(rng: np.random.Generator, kind: JobClass, count: int) -> NDArray[np.float64]:
    """Return gaps between arrivals before the daily cycle, s, float64 [job]."""
    logs = np.empty(count)
    left = np.arange(count)
    while len(left):
        logs[left] = rng.gamma(kind.gap_alpha * kind.gap_ratio, kind.gap_beta, len(left))
        left = left[logs[left] > MAX_LOG_GAP]
    return np.exp(logs)


class DailyCycle:
    """Turns time at the mean rate into time of a day with rush hours; both begin at midnight."""

    def __init__(self, weights: NDArray[np.float64]) -> None:
        self._edges = np.concatenate(([0.0], np.cumsum(weights))) * (DAY / SLOTS)
        self._clock = np.arange(SLOTS + 1) * (DAY / SLOTS)

    def clock(self, even: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return clock times (s since the first midnight), float64 [job]."""
        days, within = np.divmod(even, self._edges[-1])
        times: NDArray[np.float64] = days * DAY + np.interp(within, self._edges, self._clock)
        return times


def offered_load(
    submissions: NDArray[np.float64], sizes: NDArray[np.int64], runtimes: NDArray[np.float64], hosts: int
) -> float:
    """Return sum(size * run time) / (hosts * (last - first submission)); infinite when all come at once."""
    span = float(submissions.max() - submissions.min())
    work = float((sizes * runtimes).sum())
    return work / (hosts * span) if span > 0 else math.inf


def lublin(
    rng: np.random.Generator,
    *,
    jobs: int,
    hosts: int,
    load: float | None = None,
    classes: Literal["all", "separate"] = "all",
    walltimes: Kind = "modal",
    factor: float = 5.0,
) -> Workload:
    """Return a workload of the model, all of whose chance is drawn from `rng`.

    `inputs.generator_options.LublinOptions` says what is stated. If there are two classes, the field `queue` of a job
    says which one it is of.

    Raises:
        InputError: a number is out of range.
    """
    if not 1 <= jobs <= MAX_JOBS:
        raise InputError(f"{jobs}, expected 1 to {MAX_JOBS:,} jobs", source="option --jobs")
    if not 1 <= hosts <= hostset.MAX_HOST_ID:
        raise InputError(f"{hosts}, expected 1 to {hostset.MAX_HOST_ID:,} hosts", source="option --hosts")
    if load is not None and not (0.001 <= load <= 100 and jobs > 1):
        raise InputError(f"{load:g}, expected a load from 0.001 to 100, and at least two jobs", source="option --load")
    kinds = (ALL_JOBS,) if classes == "all" else (BATCH, INTERACTIVE)
    gaps = [np.cumsum(draw_gaps(rng, kind, jobs)) for kind in kinds]
    cycles = [DailyCycle(slot_weights(kind)) for kind in kinds]
    # Which class comes next depends on the scale of time, so it is settled before time is scaled.
    merged = np.concatenate([cycle.clock(gap) for cycle, gap in zip(cycles, gaps, strict=True)])
    order = np.argsort(merged, kind="stable")[:jobs]
    member = order // jobs
    even = np.concatenate(gaps)[order]
    sizes = np.empty(jobs, dtype=np.int64)
    runtimes = np.empty(jobs)
    for index, kind in enumerate(kinds):
        mine = np.flatnonzero(member == index)
        sizes[mine] = draw_sizes(rng, kind, len(mine), hosts)
        runtimes[mine] = draw_runtimes(rng, kind, sizes[mine])

    def clock(scale: float) -> NDArray[np.float64]:
        times = np.empty(jobs)
        for index, cycle in enumerate(cycles):
            times[member == index] = cycle.clock(even[member == index] * scale)
        return times

    submissions = clock(1.0 if load is None else _scale_for(load, clock, sizes, runtimes, hosts))
    limits = estimates(rng, runtimes, walltimes, factor)
    return _workload(np.floor(submissions), sizes, runtimes, limits, hosts, member if len(kinds) > 1 else None)


def _scale_for(load: float, clock: Any, sizes: NDArray[np.int64], runtimes: NDArray[np.float64], hosts: int) -> float:
    """Return by how much to stretch time for an offered load: the load falls as the scale grows."""
    low, high = 1e-9, 1e9
    for _ in range(80):
        middle = math.sqrt(low * high)
        if offered_load(clock(middle), sizes, runtimes, hosts) > load:
            low = middle
        else:
            high = middle
    return high


def _workload(
    submissions: NDArray[np.float64],
    sizes: NDArray[np.int64],
    runtimes: NDArray[np.float64],
    limits: NDArray[np.float64],
    hosts: int,
    member: NDArray[np.int64] | None,
) -> Workload:
    profiles: dict[str, dict[str, Any]] = {
        profile_name(delay): {"type": "delay", "delay": number(delay)} for delay in np.unique(runtimes).tolist()
    }
    queues = ("batch", "interactive")
    order = np.argsort(submissions, kind="stable")
    jobs = [
        Job(
            id=str(rank + 1),
            request=Request(units=int(sizes[index])),
            submission=float(submissions[index]),
            walltime=float(limits[index]),
            profile=profile_name(float(runtimes[index])),
            extra={} if member is None else {"queue": queues[int(member[index])]},
        )
        for rank, index in enumerate(order.tolist())
    ]
    workload = Workload(path=Path("lublin"), name="lublin", nb_res=hosts, jobs=jobs, profiles=profiles)
    workload.sort()
    return workload
