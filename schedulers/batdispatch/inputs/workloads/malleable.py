"""A share of the jobs of a log made malleable: nobody's log says so, but the rule by which it is done is simple.

A job of `size` units can be made malleable if it asks for whole hosts and nothing else, its run time is known, and the
rule leaves it a second size that it can reach:

- least: `size / shrink`, rounded up; most: `size x expand`, or the whole machine if that is less;
- from a size it goes to a power of `factor` times or over it;
- a reconfiguring point each `step` seconds of its run time, rounded up to whole steps, and at least one;
- data: `data` bytes for each unit that it asks for;
- one scalability for all.

Everything else stays as it is: arrival, size at the start, run time there, and the walltime. The malleable jobs of a
share are among those of every larger share, so that shares compare job by job.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from batdispatch.core.errors import InputError
from batdispatch.core.hosts import hostset
from batdispatch.core.jobs.fields import is_whole_hosts, read_request
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.profiles import runtime_of
from batdispatch.core.jobs.scalability import GRAMMAR, Scalability, parse_scalability
from batdispatch.core.jobs.sizes import MAX_DATA, MAX_PERIOD, MAX_STEPS, MAX_UNITS, Sizes, write_sizes
from batdispatch.inputs.generator_options import MalleableRule
from batdispatch.inputs.workloads.model import Workload


class Conversion(NamedTuple):
    """What became of the jobs.

    Attributes:
        malleable: jobs that were made malleable.
        able: jobs that the rule could make so; the share is of these.
        unable: jobs that stay as they were whatever the share.
    """

    malleable: int
    able: int
    unable: int


_RULE = MalleableRule()


def choose(rng: np.random.Generator, count: int, share: float) -> NDArray[np.bool_]:
    """Return which of `count` jobs belong to a share, bool [job]: of a larger share with the same `rng`, more of them.

    Half a job counts as a job. The generator is used alike whatever the share.
    """
    chosen = np.zeros(count, dtype=np.bool_)
    chosen[rng.permutation(count)[: math.floor(share * count + 0.5)]] = True
    return chosen


def slowest(sizes: Sizes, units: int) -> float:
    """Return the time on the slowest size that a job of `units` units can reach, over its time there; at least 1."""
    reachable = (units, *sizes.above(units), *sizes.below(units))
    return max(map(sizes.scalability.time, reachable)) / sizes.scalability.time(units)


def made_malleable(
    rng: np.random.Generator,
    workload: Workload,
    *,
    share: float = 1.0,
    hosts: int | None = None,
    rule: MalleableRule = _RULE,
) -> tuple[Workload, Conversion]:
    """Return a workload of which a share of the jobs is malleable, and how many there are.

    Args:
        rng: which jobs are chosen is drawn from here.
        workload: is not changed.
        share: of the jobs that can be made malleable, rounded to whole jobs.
        hosts: of the machine; None: as many as the workload says.
        rule: how it is done.

    Raises:
        InputError: an argument is out of range, the machine's size is unknown, or no job can be made malleable.
    """
    scalability = _check(share, hosts, rule)
    machine = hosts or workload.nb_res
    if machine is None:
        raise InputError(f"{workload.path} does not say how many hosts the machine has", source="option --hosts")
    runtimes = {name: runtime_of(profile, workload.profiles) for name, profile in workload.profiles.items()}
    made = [_sized(job, runtimes[job.profile], machine, rule, scalability) for job in workload.jobs]
    able = [index for index, sizes in enumerate(made) if sizes is not None]
    if not able:
        expected = "expected one of whole hosts whose run time is known and whose size the rule can change"
        raise InputError(f"has no job that can be made malleable, {expected}", source=str(workload.path))
    chosen = choose(rng, len(able), share)
    jobs = list(workload.jobs)
    for index, is_chosen in zip(able, chosen.tolist(), strict=True):
        sizes = made[index]
        if is_chosen and sizes is not None:
            job = jobs[index]
            extra = {**job.extra, "sizes": write_sizes(sizes)}
            jobs[index] = structs.replace(job, request=read_request(job.units, extra), extra=extra)
    counts = Conversion(int(chosen.sum()), len(able), len(jobs) - len(able))
    return structs.replace(workload, nb_res=machine, jobs=jobs, digest="", batsim=4), counts


def _check(share: float, hosts: int | None, rule: MalleableRule) -> Scalability:
    """Return the scalability of the jobs.

    Raises:
        InputError: an argument is out of range.
    """
    ranges: tuple[tuple[str, Any, float, float], ...] = (
        ("share", share, 0, 1),
        ("hosts", 1 if hosts is None else hosts, 1, hostset.MAX_HOST_ID),
        ("shrink", rule.shrink, 1, MAX_UNITS),
        ("expand", rule.expand, 1, MAX_UNITS),
        ("factor", rule.factor, 2, MAX_UNITS),
        ("step", rule.step, 0.001, 1e9),
        ("period", rule.period, 0, MAX_PERIOD),
        ("data", rule.data, 0, 1e12),
    )
    for option, value, low, high in ranges:
        if not low <= value <= high:
            raise InputError(f"{value:g}, expected {low:g} to {high:g}", source=f"option --{option}")
    found = parse_scalability(rule.scalability)
    if found is None or found.law == "table":
        expected = GRAMMAR.partition(", or table")[0]
        raise InputError(f"{rule.scalability!r}, expected {expected}", source="option --scalability")
    return found


def _sized(
    job: Job, runtime: float | None, machine: int, rule: MalleableRule, scalability: Scalability
) -> Sizes | None:
    """Return the sizes that the rule gives a job, or None if it cannot be made malleable."""
    if runtime is None or not is_whole_hosts(job.request) or job.units > machine:
        return None
    sizes = Sizes(
        least=-(-job.units // rule.shrink),
        most=min(job.units * rule.expand, machine),
        factor=rule.factor,
        kind="malleable",
        steps=min(max(math.ceil(runtime / rule.step), 2), MAX_STEPS),
        period=rule.period,
        data=min(rule.data * job.units, MAX_DATA),
        scalability=scalability,
    )
    return sizes if sizes.above(job.units) or sizes.below(job.units) else None
