"""Workloads of jobs whose run time is a random variable: the four scenarios of the speculative scheduling paper.

A stochastic job has the fields ``runtime_law`` (its law, in seconds) and ``history`` (the run times of the jobs of its
kind submitted before it, the latest last), and no walltime: that is for the dispatcher to choose. Small jobs have one.

What the paper leaves open is chosen here, and most of it can be chosen otherwise: small jobs have one unit each and
exponential run times, and arrive at the events of a Poisson process until the large work would be done at a utilisation
of 0.65; scenario 4 counts Intrepid's 80 midplanes of 512 nodes, its applications have beta widths, and arrive uniformly
over two weeks.

References:
    Gainaru, Pallez, Sun, Raghavan: "Speculative scheduling for stochastic HPC applications", ICPP 2019.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.stochastic.requests.laws import Floats, Law
from batdispatch.abilities.stochastic.requests.vocabulary import parse_law
from batdispatch.core.errors import InputError
from batdispatch.core.hosts import hostset
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.core.numerals import number
from batdispatch.inputs.workloads.logs import profile_name
from batdispatch.inputs.workloads.model import Workload
from batdispatch_papers.stochastic.workload_options import Arrivals, Widths

HOUR = 3600.0
#: Most jobs made at once.
MAX_JOBS = 1_000_000
#: Previous runs that a job states.
HISTORY = 5
#: Utilisation by which the time is estimated during which small jobs arrive.
EXPECTED_UTILISATION = 0.65
#: Large and small jobs of scenarios 1 to 3, in hours, and the applications of scenario 4 with how many there are.
LARGE = {1: "tnorm:0,20,8,2", 2: "tnorm:1,20,8,2", 3: "tnorm:1,8,4,2"}
SMALL = "tnorm:0.1,6,1,1"
APPLICATIONS = (("abdominal", "tnorm:11,31,20,8", 10), ("brain", "tnorm:1.5,3,1.7,0.5", 90), ("fsl", "", 300))
FSL_MINUTES = "tnorm:10,35,20,8"
WEEKS = 14 * 24 * HOUR
#: Run time of a small job of Intrepid: 31 node-hours on 48.6 nodes.
INTREPID_SMALL = 31 / 48.6 * HOUR


def draw_widths(rng: np.random.Generator, widths: Widths, count: int, hosts: int) -> NDArray[np.int64]:
    """Return how many hosts jobs want, int64 [count], from 1 to `hosts`.

    ``beta``: hosts x Beta(2, 2), rounded down; ``normal``: normal of mean hosts / 2 and deviation 2, truncated;
    ``powers``: each power of two with the same probability, as the partitions of a Blue Gene; ``all``; ``half``.
    """
    if widths == "beta":
        drawn = np.floor(hosts * rng.beta(2, 2, count))
    elif widths == "normal":
        law = parse_law(f"tnorm:1,{max(hosts, 2)},{hosts / 2},2")
        drawn = np.floor(law.draw(rng, count))
    elif widths == "powers":
        drawn = 2.0 ** rng.integers(0, hosts.bit_length(), count)
    else:
        drawn = np.full(count, hosts if widths == "all" else hosts // 2, dtype=np.float64)
    return np.clip(drawn.astype(np.int64), 1, hosts)


class _Maker:
    """Collects jobs and their profiles."""

    def __init__(self, rng: np.random.Generator, hosts: int) -> None:
        self.rng = rng
        self.hosts = hosts
        self.jobs: list[Job] = []
        self.profiles: dict[str, dict[str, Any]] = {}

    def stochastic(self, kind: str, law: Law, submissions: Floats, widths: NDArray[np.int64]) -> None:
        """Add jobs of one kind, in order of submission; the first `HISTORY` runs drawn are history only."""
        count = len(submissions)
        drawn = np.round(self.law_draw(law, count + HISTORY), 3)
        for n in range(count):
            extra = {"kind": kind, "runtime_law": law.text, "history": drawn[n : n + HISTORY].tolist()}
            self._add(kind, n, float(submissions[n]), int(widths[n]), float(drawn[n + HISTORY]), extra, math.inf)

    def law_draw(self, law: Law, count: int) -> Floats:
        """Return run times, float64 [count], of at least a millisecond."""
        return np.maximum(law.draw(self.rng, count), 1e-3)

    def small(self, mean: float, rate: float, end: float, units: int) -> None:
        """Add small jobs of known run time; until `end` (s) their work is `rate` times the machine."""
        count = int(self.rng.poisson(rate * self.hosts * end / (units * mean))) if rate else 0
        if len(self.jobs) + count > MAX_JOBS:
            raise InputError(f"would make {count:,} small jobs, at most {MAX_JOBS:,} jobs are made at once")
        submissions = np.sort(self.rng.uniform(0, end, count)).round(3)
        lengths = np.maximum(self.rng.exponential(mean, count).round(3), 1e-3)
        for n, (submission, length) in enumerate(zip(submissions.tolist(), lengths.tolist(), strict=True)):
            self._add("small", n, submission, units, length, {"kind": "small"}, round(length + 1, 3))

    def _add(
        self,
        kind: str,
        n: int,
        submission: float,
        units: int,
        length: float,
        extra: dict[str, Any],
        walltime: float,
    ) -> None:
        profile = profile_name(length)
        self.profiles[profile] = {"type": "delay", "delay": number(length)}
        self.jobs.append(
            Job(
                id=f"{kind}-{n + 1}",
                request=Request(units=units),
                submission=submission,
                walltime=walltime,
                profile=profile,
                extra=extra,
            )
        )

    def workload(self) -> Workload:
        """Return what was made."""
        made = Workload(
            path=Path("stochastic"), name="stochastic", nb_res=self.hosts, jobs=self.jobs, profiles=self.profiles
        )
        made.sort()
        return made


def scenario(
    rng: np.random.Generator,
    which: int,
    *,
    jobs: int = 100,
    hosts: int | None = None,
    law: str | None = None,
    widths: Widths = "beta",
    rate: float | None = None,
    share: float = 0.3,
    small_units: int = 1,
    arrivals: Arrivals = "uniform",
) -> Workload:
    """Return the workload of a scenario.

    Args:
        rng: everything random is drawn from here.
        which: 1: stochastic jobs only; 2: and small jobs of known run time; 3: large and small stochastic jobs; 4:
            neuroscience applications on Intrepid, and small jobs.
        jobs: stochastic jobs (scenario 4: the paper's 400).
        hosts: of the machine; 10, and 80 in scenario 4, unless given.
        law: of the large jobs in scenarios 1 to 3, in hours.
        widths: see `draw_widths`.
        rate: work of small jobs, as a share of the machine, in scenarios 2 (0.1 unless given) and 4 (0.21).
        share: of small stochastic jobs, in scenario 3.
        small_units: of each small job, in scenarios 2 and 4.
        arrivals: of scenario 4's applications: over the two weeks, or at their start.

    Raises:
        InputError: an argument is out of range.
    """
    hosts = hosts or (80 if which == 4 else 10)
    if not 1 <= jobs <= MAX_JOBS:
        raise InputError(f"{jobs}, expected 1 to {MAX_JOBS:,} jobs", source="option --jobs")
    if not 1 <= hosts <= hostset.MAX_HOST_ID:
        raise InputError(f"{hosts}, expected 1 to {hostset.MAX_HOST_ID:,} hosts", source="option --hosts")
    if not 1 <= small_units <= hosts:
        raise InputError(f"{small_units}, expected 1 to {hosts:,} units", source="option --small-units")
    if rate is not None and not 0 <= rate < 1:
        raise InputError(f"{rate:g}, expected at least 0 and less than 1", source="option --rate")
    if not 0 <= share <= 1:
        raise InputError(f"{share:g}, expected 0 to 1", source="option --share")
    maker = _Maker(rng, hosts)
    if which == 4:
        for kind, text, count in APPLICATIONS:
            parsed = parse_law(text).scaled(HOUR) if text else parse_law(FSL_MINUTES).scaled(60.0)
            submissions = np.sort(rng.uniform(0, WEEKS if arrivals == "uniform" else 0.0, count)).round(3)
            maker.stochastic(kind, parsed, submissions, draw_widths(rng, widths, count, hosts))
        maker.small(INTREPID_SMALL, 0.21 if rate is None else rate, WEEKS, small_units)
        return maker.workload()
    large = parse_law(law or LARGE[which], source="option --law").scaled(HOUR)
    few = round(jobs * share) if which == 3 else 0
    maker.stochastic("large", large, np.zeros(jobs - few), draw_widths(rng, widths, jobs - few, hosts))
    if which == 3:
        maker.stochastic(
            "short", parse_law(SMALL).scaled(HOUR), np.full(few, 10.0), draw_widths(rng, widths, few, hosts)
        )
    if which == 2:
        work = sum(job.units * maker.profiles[job.profile]["delay"] for job in maker.jobs)
        end = work / (hosts * EXPECTED_UTILISATION)
        maker.small(large.mean / 100, 0.1 if rate is None else rate, end, small_units)
    return maker.workload()
