"""The workloads with which DMR was measured: instances of malleable applications that arrive at random.

=========  =====  =====  =========  ======  ======  ==================  =======  ====================================
name       least  most   preferred  period  steps   data                started  time, and how it depends on the size
=========  =====  =====  =========  ======  ======  ==================  =======  ====================================
cg         2      32     8          15 s    10,000  2,148,007,936 B     on most  `runtime` on 32, `scalability`
jacobi     2      32     8          15 s    10,000  537,001,984 B       on most  `runtime` on 32, `scalability`
n-body     1      16     1          0 s     25      2,147,483,648 B     on most  `nbody_runtime` on 16,
                                                                                 `nbody_scalability`
fs         1      20     none       0 s     25      1,000,000,000 B     drawn    drawn, mean `fs_runtime`; linear
=========  =====  =====  =========  ======  ======  ==================  =======  ====================================

An application is drawn for each job, each that is named alike often. Arrivals, and the sizes and run times of the
flexible sleep (fs), are Feitelson's (`batdispatch_papers.dmr.feitelson`). All resizes are by powers of 2. The
malleable jobs of a share are among those of every larger share, and the jobs are otherwise the same; so runs of one
seed compare job by job. A job that is not malleable stays on the size on which it starts.

What the paper leaves open is chosen here. It states no times: 200 s and 1,200 s are those with which rigid jobs wait
about as long as in its table 4, the exponent 0.7 and an N-body that is as fast on one node as on 16 those with which
resized jobs run about as long as there. Data is 8 bytes for each number of the square matrices and arrays of table 3,
and 64 bytes for each particle.

Jobs carry no walltime: the paper states none, and its Slurm had default values, with which a job has no limit. This
matters. The paper tells of a second half of a run in which five jobs hold 40 nodes while one for 32 waits. That can
only be if all N-bodies have overtaken jobs that waited; nodes that are reserved for the first waiting job by walltimes
keep them from it. With `walltime_factor`, a job's walltime is so many times its time on the slowest size that it can
reach, and a minute for resizes, so that walltimes do not keep a job from its sizes; a job that is not malleable has the
same one.

References:
    Iserte, Mayo, Quintana-Ortí, Beltran, Peña: "DMR API: improving cluster productivity by turning applications into
    malleable", Parallel Computing 78, 2018: sections 7.1 to 7.5, table 3.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from msgspec import structs

from batdispatch.core.errors import InputError
from batdispatch.core.hosts import hostset
from batdispatch.core.jobs.fields import read_request
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.scalability import GRAMMAR, LINEAR, Scalability, parse_scalability
from batdispatch.core.jobs.sizes import Sizes, write_sizes
from batdispatch.core.line.options import did_you_mean
from batdispatch.core.numerals import number
from batdispatch.inputs.workloads.logs import profile_name
from batdispatch.inputs.workloads.malleable import choose, slowest
from batdispatch.inputs.workloads.model import Workload
from batdispatch_papers.dmr.feitelson import draw_arrivals, draw_runtimes, draw_sizes

#: Table 3 of the paper, and FS of section 7.3; the scalability is set by the options.
APPLICATIONS = {
    "cg": Sizes(least=2, most=32, preferred=8, steps=10_000, period=15.0, data=8.0 * (4 * 2**14 + 2**28)),
    "jacobi": Sizes(least=2, most=32, preferred=8, steps=10_000, period=15.0, data=8.0 * (2 * 2**13 + 2**26)),
    "n-body": Sizes(least=1, most=16, preferred=1, steps=25, data=64.0 * 2**25),
    "fs": Sizes(least=1, most=20, steps=25, data=1e9),
}
#: The applications of section 7.5.
REAL = ("cg", "jacobi", "n-body")
#: Seconds of a walltime beyond the run time, for resizes.
RESIZING = 60.0
MAX_JOBS = 1_000_000


class Times(NamedTuple):
    """How long the applications take.

    Attributes:
        runtime: of cg and jacobi on 32 units, s.
        scalability: of cg and jacobi, as a job states it.
        nbody_runtime: of n-body on 16 units, s.
        nbody_scalability: of n-body.
        fs_runtime: mean of fs, s.
    """

    runtime: float = 200.0
    scalability: str = "power:0.7"
    nbody_runtime: float = 1200.0
    nbody_scalability: str = "power:0"
    fs_runtime: float = 60.0


_TIMES = Times()


def dmr(
    rng: np.random.Generator,
    *,
    jobs: int = 50,
    hosts: int = 64,
    applications: tuple[str, ...] = REAL,
    share: float = 1.0,
    gap: float = 10.0,
    walltime_factor: float | None = None,
    times: Times = _TIMES,
) -> Workload:
    """Return jobs of some applications.

    Args:
        rng: everything random is drawn from here.
        jobs: how many.
        hosts: of the machine.
        applications: names of `APPLICATIONS`, from which each job's is drawn; one named twice comes twice as often.
        share: of the jobs, rounded to whole jobs, that are malleable; the others are rigid.
        gap: mean time between two arrivals, s.
        walltime_factor: walltime, without the minute for resizes, over the time on the slowest size; None: there is no
            walltime.
        times: how long the applications take.

    Raises:
        InputError: an argument is out of range.
    """
    _check(jobs, hosts, share, gap, walltime_factor, times)
    kinds = _described(applications, times, hosts)
    arrivals = draw_arrivals(rng, jobs, gap).round(3).tolist()
    drawn = rng.integers(0, len(applications), jobs).tolist()
    most = APPLICATIONS["fs"].most
    drawn_sizes = draw_sizes(rng, jobs, most)
    drawn_times = np.maximum(draw_runtimes(rng, drawn_sizes, most, times.fs_runtime).round(3), 0.001).tolist()
    malleable = choose(rng, jobs, share)
    profiles: dict[str, dict[str, Any]] = {}
    listed = []
    width = len(str(jobs))
    for index, arrival in enumerate(arrivals):
        name = applications[drawn[index]]
        sizes = kinds[name]
        if name == "fs":
            units, runtime = int(drawn_sizes[index]), drawn_times[index]
        else:
            units, runtime = sizes.most, times.nbody_runtime if name == "n-body" else times.runtime
        extra: dict[str, Any] = {"name": name}
        if malleable[index]:
            extra["sizes"] = write_sizes(sizes)
        profile = profile_name(runtime)
        profiles[profile] = {"type": "delay", "delay": number(runtime)}
        listed.append(
            Job(
                id=f"{index + 1:0{width}d}-{name}",
                request=read_request(units, extra),
                submission=arrival,
                walltime=_walltime(walltime_factor, runtime * slowest(sizes, units)),
                profile=profile,
                extra=extra,
            )
        )
    workload = Workload(path=Path("dmr"), name="dmr", nb_res=hosts, jobs=listed, profiles=profiles)
    workload.sort()
    return workload


def _walltime(factor: float | None, slowest_time: float) -> float:
    return math.inf if factor is None else round(factor * slowest_time + RESIZING, 3)


def _check(jobs: int, hosts: int, share: float, gap: float, walltime_factor: float | None, times: Times) -> None:
    for option, value, low, high in (
        ("jobs", jobs, 1, MAX_JOBS),
        ("hosts", hosts, 1, hostset.MAX_HOST_ID),
        ("share", share, 0, 1),
        ("gap", gap, 0.001, 1e6),
        ("walltime-factor", 1.0 if walltime_factor is None else walltime_factor, 1, 1000),
        ("runtime", times.runtime, 0.001, 1e6),
        ("nbody-runtime", times.nbody_runtime, 0.001, 1e6),
        ("fs-runtime", times.fs_runtime, 0.001, 1e6),
    ):
        if not low <= value <= high:
            raise InputError(f"{value:g}, expected {low:g} to {high:g}", source=f"option --{option}")


def _described(applications: tuple[str, ...], times: Times, hosts: int) -> dict[str, Sizes]:
    """Return the sizes of each application.

    Raises:
        InputError: an application is unknown or larger than the machine, or a scalability is wrong.
    """
    kinds = {}
    for name in applications:
        if name not in APPLICATIONS:
            expected = f"no application is named so; {did_you_mean(name, APPLICATIONS)}"
            raise InputError(f"{name!r}: {expected}", source="option --applications")
        if APPLICATIONS[name].most > hosts:
            largest = f"{name} runs on up to {APPLICATIONS[name].most} hosts"
            raise InputError(f"{hosts}, and {largest}, expected at least as many", source="option --hosts")
        kinds[name] = structs.replace(APPLICATIONS[name], kind="malleable", scalability=_scalability(name, times))
    return kinds


def _scalability(name: str, times: Times) -> Scalability:
    """Return how an application's speed depends on its size.

    Raises:
        InputError: what is said of it is wrong, or does not cover the application's sizes.
    """
    if name == "fs":
        return LINEAR
    option, text = "scalability", times.scalability
    if name == "n-body":
        option, text = "nbody-scalability", times.nbody_scalability
    found, sizes = parse_scalability(text), APPLICATIONS[name]
    if found is None:
        raise InputError(f"{text!r}, expected {GRAMMAR}", source=f"option --{option}")
    if not found.covers(sizes.least, sizes.most):
        expected = f"a table from at most {sizes.least} to at least {sizes.most} units, the sizes of {name}"
        raise InputError(f"{text!r}, expected {expected}", source=f"option --{option}")
    return found
