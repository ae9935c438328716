"""Jobs of users on nodes with several resources: most of them short, many alike in a row.

For machines whose published logs lack users, names or resources. What the literature says of such workloads is kept:

- The share of short jobs (under an hour) is exact. It was 93.14 % on CINECA's Eurora.
- Users work in sessions: they submit one program several times in a row, a geometric number with mean 8, some 10 s
  apart. Consecutive jobs of a user are therefore alike, which is what predictions from history live on.
- Users differ in how much they do: the k-th has sessions in proportion to 1/k.
- A program has a user, a name, a class of nodes, a number of units (1 for half the programs, else a power of two up to
  half the nodes of the class), and a unit's demand: cores a power of two, memory at most the cores' share of it, and
  for half the programs some of what else the nodes have (GPUs, MICs).
- Run times of a program vary log-normally (sigma 0.2) around its median; medians are log-uniform: 30 s to 40 minutes
  for short programs, 1 to 12 hours for long ones.
- Walltimes are a multiple of the run time up to 5, rounded up to a usual value (see `estimates`).
- Sessions begin uniformly at random in a time in which the scarcest resource is asked for `load` times.

The numbers are choices, not fits; only the share of short jobs is the log's.

References:
    Galleguillos, Kiziltan, Soto, "A constraint programming-based job dispatcher for modern HPC systems and
    applications", 2020, section 4 (share of short jobs). Zakay, Feitelson, "On identifying user session boundaries in
    parallel workload logs", JSSPP 2012 (sessions).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.fields import read_request
from batdispatch.core.jobs.job import Job
from batdispatch.core.machine.machine import Machine
from batdispatch.core.numerals import number
from batdispatch.inputs.workloads.estimates import estimates
from batdispatch.inputs.workloads.logs import profile_name
from batdispatch.inputs.workloads.model import Workload

#: Jobs of less than so many seconds are short.
SHORT = 3600.0
#: Medians of the run times of short and long programs, s: from, to.
MEDIANS = ((30.0, 2400.0), (SHORT, 12 * SHORT))
#: Longest run time, s.
LONGEST = 86_400.0
SIGMA = 0.2
#: Mean number of jobs of a session, and mean time between them, s.
SESSION, GAP = 8.0, 10.0
#: Programs of a user, short and long ones each.
PROGRAMS = 3
MAX_JOBS = 1_000_000


class Program(msgspec.Struct, frozen=True):
    """What a user runs again and again."""

    user: str
    name: str
    units: int
    demand: dict[str, int]
    #: Of the run time, s.
    median: float


def sessions(
    rng: np.random.Generator,
    machine: Machine,
    *,
    jobs: int,
    short: float = 0.9314,
    load: float = 0.7,
    users: int = 40,
) -> Workload:
    """Return a generated workload for a machine whose nodes have the resource `core`, drawn from `rng`.

    `inputs.generator_options.SessionOptions` says what is stated. The share of short jobs is kept to the job, and the
    load is what all jobs together hold of the scarcest resource, over what there is while sessions begin.

    Raises:
        InputError: a number is out of range, or the machine's nodes have no cores.
    """
    if not 1 <= jobs <= MAX_JOBS:
        raise InputError(f"{jobs}, expected 1 to {MAX_JOBS:,} jobs", source="option --jobs")
    if not 0 <= short <= 1:
        raise InputError(f"{short:g}, expected a share from 0 to 1", source="option --short")
    if not 0.001 <= load <= 100:
        raise InputError(f"{load:g}, expected a load from 0.001 to 100", source="option --load")
    if not 1 <= users <= 10_000:
        raise InputError(f"{users}, expected 1 to 10,000 users", source="option --users")
    if "core" not in machine.resources:
        raise InputError("needs nodes that state a capacity of the resource core", source="option --platform")
    weights = 1.0 / np.arange(1, users + 1)
    weights /= weights.sum()
    kinds = [[_programs(rng, machine, user, kind) for user in range(users)] for kind in (0, 1)]
    drawn: list[list[Program]] = []
    for kind, quota in ((0, round(short * jobs)), (1, jobs - round(short * jobs))):
        while quota:
            size = min(int(rng.geometric(1 / SESSION)), quota)
            own = kinds[kind][int(rng.choice(users, p=weights))]
            drawn.append([own[int(rng.integers(PROGRAMS))]] * size)
            quota -= size
    return _submitted(rng, machine, [drawn[index] for index in rng.permutation(len(drawn))], load)


def _programs(rng: np.random.Generator, machine: Machine, user: int, kind: int) -> list[Program]:
    """Return a user's short (kind 0) or long (kind 1) programs."""
    found = []
    members = np.bincount(machine.classes[machine.classes >= 0])
    for index in range(PROGRAMS):
        group = int(rng.choice(len(members), p=members / members.sum()))
        has = dict(zip(machine.resources, machine.class_capacity[group].tolist(), strict=True))
        cores = min(2 ** int(rng.integers(0, has["core"].bit_length() + 1)), has["core"]) if has["core"] else 0
        demand = {"core": cores}
        part = rng.uniform(0.25, 1.0)
        special = rng.random() < 0.5
        for name, amount in has.items():
            if name == "memory":
                demand[name] = int(amount * part * cores / max(has["core"], 1))
            elif name != "core" and amount and special:
                demand[name] = int(rng.integers(1, amount + 1))
        units = 1
        if rng.random() < 0.5 and members[group] > 1:
            units = 2 ** int(rng.integers(1, max((int(members[group]) // 2).bit_length(), 2)))
        low, high = MEDIANS[kind]
        found.append(
            Program(
                user=f"u{user + 1}",
                name=f"u{user + 1}_{('short', 'long')[kind]}{index + 1}",
                units=units,
                demand={name: amount for name, amount in demand.items() if amount},
                median=float(low * (high / low) ** rng.random()),
            )
        )
    return found


def _submitted(rng: np.random.Generator, machine: Machine, drawn: list[list[Program]], load: float) -> Workload:
    """Give each session's jobs run times, walltimes and submission times."""
    programs = [program for session in drawn for program in session]
    medians = np.array([program.median for program in programs])
    runtimes = np.round(medians * rng.lognormal(0.0, SIGMA, len(programs)))
    is_short = medians < SHORT
    runtimes = np.where(is_short, np.clip(runtimes, 1.0, SHORT - 1), np.clip(runtimes, SHORT, LONGEST))
    limits = estimates(rng, runtimes, "modal")
    totals = dict(zip(machine.resources, machine.total().tolist(), strict=True))
    areas = dict.fromkeys(totals, 0.0)
    for program, runtime in zip(programs, runtimes.tolist(), strict=True):
        for name, amount in program.demand.items():
            areas[name] += program.units * amount * runtime
    span = max(area / totals[name] for name, area in areas.items() if totals[name]) / load
    begins = np.repeat(np.sort(rng.uniform(0.0, span, len(drawn))), [len(session) for session in drawn])
    firsts = np.cumsum([0] + [len(session) for session in drawn[:-1]])
    gaps = rng.exponential(GAP, len(programs))
    gaps[firsts] = 0.0
    passed = np.cumsum(gaps)
    within = passed - np.repeat(passed[firsts], [len(session) for session in drawn])
    submissions = np.round(begins + within)
    numbers = np.arange(len(programs)) - np.repeat(firsts, [len(session) for session in drawn])
    jobs = []
    for rank, index in enumerate(np.argsort(submissions, kind="stable").tolist()):
        program = programs[index]
        extra: dict[str, Any] = {
            "user": program.user,
            "demand": program.demand,
            "executable": f"{program.name}_{int(numbers[index]) + 1}",
        }
        jobs.append(
            Job(
                id=str(rank + 1),
                request=read_request(program.units, extra),
                submission=float(submissions[index]),
                walltime=float(limits[index]),
                profile=profile_name(float(runtimes[index])),
                user=program.user,
                extra=extra,
            )
        )
    profiles = {profile_name(t): {"type": "delay", "delay": number(t)} for t in np.unique(runtimes).tolist()}
    workload = Workload(path=Path("sessions"), name="sessions", nb_res=machine.size, jobs=jobs, profiles=profiles)
    workload.sort()
    return workload
