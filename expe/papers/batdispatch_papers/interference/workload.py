"""Parallel jobs that send messages all the time, for machines whose network is simulated.

What jobs wait for is their network, so that it shows where they stand and who uses the same links. A job has a nominal
run time T and a pattern of messages, drawn alike often:

- ``all-to-all``: each executor sends the same to each other one.
- ``ring``: each executor sends the same to the next and to the previous one.
- ``halo``: executors stand in a box that is as close to a cube as their number allows, numbered with the first
  dimension fastest, and each sends the same to its neighbours in the box.

The executor that sends most sends `intensity` x T x `bandwidth` bytes, where `bandwidth` is that of a host's link: with
intensity 1, a job whose messages meet nothing else takes T. Each host computes for half of this time meanwhile. A share
of the jobs is pinned to an I/O node, each to one drawn at random. Such a job writes to it when all messages are sent:
`io_load` x T x `bandwidth` bytes in all, alike from all its hosts.

Sizes are powers of two, log-uniform from 2 hosts to the largest one that `largest` allows, except for a quarter of the
jobs, whose sizes are log-uniform over all numbers. Nominal run times are log-normal around a median of 5 minutes (sigma
0.7), from half a minute to half an hour. Jobs arrive uniformly at random in a time in which all hosts are asked for
`load` times if every job takes its nominal run time. Walltimes are a multiple of the nominal run time, alike for all.

The numbers are choices, not fits to a log: published logs say nothing of messages.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.fields import read_request
from batdispatch.core.jobs.job import Job
from batdispatch.core.machine.machine import Machine
from batdispatch.core.numerals import number
from batdispatch.inputs.workloads.model import Workload

PATTERNS = ("all-to-all", "ring", "halo")
#: Nominal run times, s: median, sigma of the logarithm, shortest, longest.
MEDIAN, SIGMA, SHORTEST, LONGEST = 300.0, 0.7, 30.0, 1800.0
#: Share of jobs whose size is a power of two.
POWERS = 0.75
#: Part of its nominal run time for which each host computes.
COMPUTING = 0.5
MAX_JOBS = 100_000
#: Largest job: its profile says how much each executor sends to each.
MAX_SIZE = 512


class Traffic(NamedTuple):
    """How much jobs send.

    Attributes:
        bandwidth: of a host's link, bytes/s.
        intensity: part of its nominal run time for which a job's busiest host sends at this bandwidth.
        io_share: of the jobs, from 0 to 1.
        io_load: part of its nominal run time for which a job that writes keeps its I/O node's link busy.
    """

    bandwidth: float = 1e9
    intensity: float = 1.0
    io_share: float = 0.0
    io_load: float = 0.1


_TRAFFIC = Traffic()


def communicating(
    rng: np.random.Generator,
    machine: Machine,
    *,
    jobs: int,
    load: float = 0.7,
    largest: float = 0.25,
    walltime_factor: float = 10.0,
    traffic: Traffic = _TRAFFIC,
) -> Workload:
    """Return jobs that communicate, for a machine of whole hosts.

    Args:
        rng: all random choices are drawn from here.
        machine: whose hosts and I/O nodes (storage hosts) the jobs want.
        jobs: how many.
        load: hosts asked for by jobs of their nominal run time, over all compute hosts.
        largest: part of the machine that the largest jobs want.
        walltime_factor: walltime over nominal run time.
        traffic: how much they send.

    Raises:
        InputError: an argument is out of range, the machine's hosts are shared, or it has no I/O node and `io_share` is
            more than 0.
    """
    _check(machine, jobs, load, largest, walltime_factor, traffic)
    most = min(max(int(largest * machine.size), 2), MAX_SIZE, machine.size)
    powers = rng.random(jobs) < POWERS
    drawn = np.exp2(rng.uniform(1, math.log2(most + 1), jobs))
    drawn = np.where(powers, np.exp2(np.floor(np.log2(drawn))), np.floor(drawn))
    sizes = np.clip(drawn, 2, most).astype(int).tolist()
    runtimes = np.clip(rng.lognormal(math.log(MEDIAN), SIGMA, jobs), SHORTEST, LONGEST).round(0).tolist()
    kinds = rng.integers(0, len(PATTERNS), jobs).tolist()
    writes = (rng.random(jobs) < traffic.io_share).tolist()
    disks = rng.integers(0, max(len(machine.storage), 1), jobs).tolist()
    work = sum(size * runtime for size, runtime in zip(sizes, runtimes, strict=True))
    arrivals = np.sort(rng.uniform(0, work / (load * machine.size), jobs)).round(3).tolist()
    profiles: dict[str, dict[str, Any]] = {}
    listed = []
    width = len(str(jobs))
    for index, (size, runtime, arrival) in enumerate(zip(sizes, runtimes, arrivals, strict=True)):
        pattern = PATTERNS[kinds[index]]
        name = f"{index + 1:0{width}d}-{pattern}"
        sent = traffic.intensity * runtime * traffic.bandwidth
        profiles[name] = _messages(pattern, size, sent, COMPUTING * runtime * machine.hosts[0].speed)
        extra: dict[str, Any] = {"name": pattern, "nominal_runtime": number(runtime)}
        profile = name
        if writes[index]:
            disk = machine.storage[disks[index]].name
            extra["io_node"] = disk
            written = math.ceil(traffic.io_load * runtime * traffic.bandwidth / size)
            profiles[f"{name}-write"] = {
                "type": "parallel_homogeneous_pfs",
                "bytes_to_read": 0,
                "bytes_to_write": written,
                "storage": disk,
            }
            profile = f"{name}-all"
            profiles[profile] = {"type": "composed", "seq": [name, f"{name}-write"]}
        listed.append(
            Job(
                id=name,
                request=read_request(size, extra),
                submission=arrival,
                walltime=walltime_factor * runtime,
                profile=profile,
                extra=extra,
            )
        )
    workload = Workload(
        path=Path("communicating"), name="communicating", nb_res=machine.size, jobs=listed, profiles=profiles
    )
    workload.sort()
    return workload


def _check(machine: Machine, jobs: int, load: float, largest: float, walltime_factor: float, traffic: Traffic) -> None:
    for option, value, low, high in (
        ("jobs", jobs, 1, MAX_JOBS),
        ("load", load, 0.001, 1000),
        ("largest", largest, 0.0, 1.0),
        ("walltime-factor", walltime_factor, 1, 1000),
        ("bandwidth", traffic.bandwidth, 1, 1e15),
        ("intensity", traffic.intensity, 0.001, 1000),
        ("io-share", traffic.io_share, 0, 1),
        ("io-load", traffic.io_load, 0.001, 1000),
    ):
        if not low <= value <= high:
            raise InputError(f"{value:g}, expected {low:g} to {high:g}", source=f"option --{option}")
    if not machine.exclusive or machine.size < 2:
        raise InputError("needs at least 2 hosts that jobs take whole", source="option --platform")
    if traffic.io_share and not machine.storage:
        raise InputError("has no storage host, and --io-share is more than 0", source="option --platform")


def _messages(pattern: str, size: int, most: float, flops: float) -> dict[str, Any]:
    """Return the profile of a pattern whose busiest executor sends `most` bytes."""
    if pattern == "all-to-all":
        return {"type": "parallel_homogeneous", "cpu": math.ceil(flops), "com": math.ceil(most / (size - 1))}
    partners = _ring(size) if pattern == "ring" else _halo(size)
    bytes_each = math.ceil(most / int(partners.sum(axis=1).max()))
    return {
        "type": "parallel",
        "cpu": [math.ceil(flops)] * size,
        "com": (partners.astype(np.int64) * bytes_each).ravel().tolist(),
    }


def _ring(size: int) -> NDArray[np.bool_]:
    """Return who sends to whom, bool [executor, executor]."""
    here = np.arange(size)
    return np.isin((here[None, :] - here[:, None]) % size, (1, size - 1))


def _halo(size: int) -> NDArray[np.bool_]:
    """Return who sends to whom, bool [executor, executor]."""
    box = nearest_cube(size)
    strides = (1, box[0], box[0] * box[1])
    places = np.stack([np.arange(size) // stride % side for stride, side in zip(strides, box, strict=True)])
    return np.asarray(np.abs(places[:, :, None] - places[:, None, :]).sum(axis=0) == 1)


def nearest_cube(size: int) -> tuple[int, int, int]:
    """Return the sides of the box of `size` places with the least surface, the longest side first."""
    boxes = [
        (size // (b * c), b, c)
        for c in range(1, math.isqrt(size) + 1)
        if size % c == 0
        for b in range(c, size // c + 1)
        if (size // c) % b == 0 and size // (b * c) >= b
    ]
    return min(boxes, key=lambda box: (box[0] * box[1] + box[1] * box[2] + box[2] * box[0], box))
