"""Workloads to compare dispatchers on that no option was chosen by: resampled logs, and sessions of invented users.

Jobs come in sessions, as in real logs: a user submits a few jobs of one program within seconds. Equal seeds give equal
workloads.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np

from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request, amounts
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.inputs.workloads import Workload

#: Walltimes that users choose from, s.
LIMITS = np.array([300, 600, 1800, 3600, 7200, 14400, 28800, 86400])


class Kind(msgspec.Struct, frozen=True):
    """A machine and what its users are like.

    Attributes:
        groups: (number of nodes, capacity of each).
        units: units of a program's jobs and how likely; wide ones are as many nodes.
        demands: a unit's demand and how likely.
        median: s, of the programs' run times, which are log-normal with `spread`.
        load: what the jobs take of the busiest resource until the last arrives.
    """

    groups: tuple[tuple[int, dict[str, int]], ...]
    units: dict[int, float]
    demands: tuple[tuple[float, dict[str, int]], ...]
    median: float
    spread: float
    load: float


#: 64 small nodes with accelerators, as CINECA's Eurora; 1,173 nodes of cores, as KIT's ForHLR II.
KINDS = {
    "eurora": Kind(
        groups=(
            (32, {"core": 16, "mem": 16, "gpu": 2}),
            (32, {"core": 16, "mem": 16, "mic": 2}),
        ),
        units={1: 0.52, 2: 0.16, 4: 0.23, 8: 0.07, 16: 0.02},
        demands=(
            (0.17, {"core": 1, "mem": 1}),
            (0.08, {"core": 2, "mem": 4}),
            (0.08, {"core": 8, "mem": 4}),
            (0.03, {"core": 16, "mem": 8}),
            (0.13, {"core": 4, "mem": 1, "gpu": 1}),
            (0.12, {"core": 4, "mem": 2, "gpu": 2}),
            (0.26, {"core": 4, "mem": 4, "mic": 1}),
            (0.13, {"core": 8, "mem": 2, "mic": 2}),
        ),
        median=260.0,
        spread=1.2,
        load=0.75,
    ),
    "kit": Kind(
        groups=((1152, {"core": 20}), (21, {"core": 48})),
        units={1: 0.6, 2: 0.04, 4: 0.05, 8: 0.06, 16: 0.1, 32: 0.02, 50: 0.02, 100: 0.02, 128: 0.06, 256: 0.03},
        demands=((0.28, {"core": 2}), (0.1, {"core": 5}), (0.05, {"core": 10}), (0.57, {"core": 20})),
        median=1300.0,
        spread=1.7,
        load=0.65,
    ),
}


def machine_of_kind(kind: Kind) -> Machine:
    """Return the machine of a kind."""
    hosts: list[Host] = []
    for count, offered in kind.groups:
        capacity = " ".join(f"{name}={amount}" for name, amount in offered.items())
        for _ in range(count):
            hosts.append(Host(id=len(hosts), name=f"node{len(hosts)}", properties={"capacity": capacity}))
    return Machine(hosts)


def sessions(kind: Kind, machine: Machine, count: int, seed: int) -> Workload:
    """Return `count` jobs of 40 invented users, each with a few programs, of whom some submit far more than others."""
    rng = np.random.default_rng(seed)
    programs = [[_program(kind, rng) for _ in range(int(rng.integers(1, 5)))] for _ in range(40)]
    popularity = 1.0 / np.arange(1, 41)
    jobs: list[Job] = []
    now = 0.0
    while len(jobs) < count:
        user = int(rng.choice(40, p=popularity / popularity.sum()))
        number = int(rng.integers(len(programs[user])))
        units, demand, median, spread = programs[user][number]
        now += float(np.rint(rng.exponential(600.0)))
        arrival = now
        for _ in range(min(int(rng.geometric(0.23)), count - len(jobs))):
            run = float(np.clip(np.rint(median * rng.lognormal(0.0, spread)), 10, LIMITS[-1]))
            wanted = run * rng.uniform(1.05, 6.0)
            limit = int(LIMITS[min(int(np.searchsorted(LIMITS, wanted)), len(LIMITS) - 1)])
            jobs.append(_job(len(jobs), arrival, units, demand, run, limit, user, f"p{number}"))
            arrival += float(np.floor(rng.exponential(3.0)))
    return _workload(jobs, machine, kind.load, f"seed{seed}")


def _program(kind: Kind, rng: np.random.Generator) -> tuple[int, dict[str, int], float, float]:
    """Return units, a unit's demand, the median run time and its spread."""
    shares = np.array(list(kind.units.values()))
    units = int(rng.choice(list(kind.units), p=shares / shares.sum()))
    shares = np.array([share for share, _ in kind.demands])
    demand = kind.demands[int(rng.choice(len(shares), p=shares / shares.sum()))][1]
    return units, demand, kind.median * float(rng.lognormal(0.0, kind.spread)), float(rng.uniform(0.03, 0.5))


def _job(
    number: int, arrival: float, units: int, demand: dict[str, int], run: float, limit: int, user: int, program: str
) -> Job:
    return Job(
        id=str(number),
        request=Request(units=units, per_unit=amounts(demand)),
        submission=arrival,
        walltime=float(max(limit, run)),
        profile=f"d{run:g}",
        user=str(user),
        extra={"demand": demand, "executable": program, "queue": "q"},
    )


def resampled(workload: Workload, machine: Machine, seed: int) -> Workload:
    """Return as many jobs, of sessions drawn from a workload with replacement, with gaps drawn from its gaps.

    A session is the jobs in a row of one user and program (their `executable` up to its last underscore). Arrivals are
    stretched to the load of the original.
    """
    rng = np.random.default_rng(seed)
    groups: list[list[Job]] = []
    known = None
    for job in workload.jobs:
        name = job.user, str(job.extra["executable"]).rsplit("_", 1)[0]
        if name != known:
            groups.append([])
        groups[-1].append(job)
        known = name
    gaps = np.diff([group[0].submission for group in groups])
    jobs: list[Job] = []
    now = 0.0
    while len(jobs) < len(workload.jobs):
        group = groups[int(rng.integers(len(groups)))]
        now += float(rng.choice(gaps))
        for job in group[: len(workload.jobs) - len(jobs)]:
            arrival = now + job.submission - group[0].submission
            jobs.append(_copy(job, str(len(jobs)), arrival))
    return _workload(jobs, machine, load(workload.jobs, machine), f"{workload.name}-{seed}")


def _copy(job: Job, name: str, arrival: float) -> Job:
    return msgspec.structs.replace(job, id=name, submission=arrival)


def load(jobs: list[Job], machine: Machine) -> float:
    """Return what jobs take of the resource they need most until the last arrives, over its capacity."""
    last = max(job.submission for job in jobs)
    capacity = dict(zip(machine.resources, machine.capacity.sum(axis=0).tolist(), strict=True))
    taken = dict.fromkeys(capacity, 0.0)
    for job in jobs:
        for name, amount in (job.request.demand or {}).items():
            taken[name] += job.units * amount * float(job.profile[1:])
    return float(max(taken[name] / capacity[name] for name in taken) / last)


def _workload(jobs: list[Job], machine: Machine, wanted: float, name: str) -> Workload:
    """Return jobs as a workload, their arrivals stretched to a load."""
    factor = load(jobs, machine) / wanted
    jobs = [_copy(job, job.id, float(np.rint(job.submission * factor))) for job in jobs]
    profiles = {job.profile: {"type": "delay", "delay": float(job.profile[1:])} for job in jobs}
    workload = Workload(path=Path(name), name=name, jobs=jobs, profiles=profiles)
    workload.sort()
    return workload
