"""The job mix of the ESP-2 benchmark, and each job a second time with GPUs, as IPSCHED was measured.

ESP-2 has 14 types of jobs. A type says which part of the machine its jobs want, how many of these jobs there are, and
how long each of them runs. On a machine with GPUs every job comes twice: one copy asks for cores alone, the other one
for as many cores and, on each node that it uses, all GPUs of that node. All jobs stand in one random order.

What the experiment leaves open is chosen here, and can be chosen otherwise: jobs are submitted at an even pace over
three hours (`spread`); the GPU copies may use any number of nodes (`gpu_cores_per_node`); jobs of type Z, which want
the whole machine, are jobs like any other (`z_rule`). With ``alone``, which is ESP's own rule, a job of type Z has its
turn: no job that was submitted after it starts before it has ended. Later jobs then depend on it.

References:
    Wong, Oliker, Kramer, Kaltz, Bailey: "ESP: a system utilization benchmark", SC 2000 (the benchmark). Soner,
    Ozturan: "Integer programming based heterogeneous CPU-GPU clusters", slides, 2012 (the copies with GPUs, 1,024 nodes
    of 8 cores and 2 GPUs).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from batdispatch.core.capacity.granularity import space_of
from batdispatch.core.capacity.impossible import why_never
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.fields import read_request
from batdispatch.core.jobs.job import Job
from batdispatch.core.machine.machine import Machine
from batdispatch.core.numerals import number
from batdispatch.inputs.workloads.logs import profile_name
from batdispatch.inputs.workloads.model import Workload
from batdispatch_papers.esp.workload_options import ZRule

#: Longest time over which jobs are submitted, s: a year.
MAX_SPREAD = 31_536_000.0


class JobType(msgspec.Struct, frozen=True):
    """A type of jobs of ESP-2."""

    name: str
    #: Of the machine.
    fraction: float
    count: int
    #: Seconds.
    runtime: int


JOB_TYPES = (
    JobType("A", 0.03125, 75, 267),
    JobType("B", 0.0625, 9, 322),
    JobType("C", 0.5, 3, 534),
    JobType("D", 0.25, 3, 616),
    JobType("E", 0.5, 3, 315),
    JobType("F", 0.0625, 9, 1846),
    JobType("G", 0.125, 6, 1334),
    JobType("H", 0.1582, 6, 1067),
    JobType("I", 0.03125, 24, 1432),
    JobType("J", 0.0625, 24, 725),
    JobType("K", 0.0957, 15, 487),
    JobType("L", 0.125, 36, 366),
    JobType("M", 0.25, 15, 187),
    JobType("Z", 1.0, 2, 100),
)
#: The type that wants the whole machine.
WHOLE = "Z"


def esp(
    rng: np.random.Generator,
    machine: Machine,
    *,
    spread: float = 10_800.0,
    walltime_factor: float = 1.5,
    gpu_cores_per_node: int = 0,
    z_rule: ZRule = "ordinary",
) -> Workload:
    """Return the job mix for a machine: 460 jobs, or 230 where the machine has no resource ``gpu``.

    A job has as many units as its fraction of all cores, rounded; on a machine of whole hosts, of all hosts.

    Args:
        rng: the order of the jobs is drawn from here.
        machine: nodes that state cores, and GPUs if there are any; or whole hosts.
        spread: time over which the jobs are submitted at an even pace, s; 0: all at the start.
        walltime_factor: walltime over run time.
        gpu_cores_per_node: cores that the GPU copies use on a node, so that their number of nodes is fixed, unless the
            machine has fewer; 0: any number of nodes.
        z_rule: whether jobs of type Z are jobs like any other, or have their turn.

    Raises:
        InputError: an argument is out of range, or the machine has no room for one of the jobs.
    """
    if not 0 <= spread <= MAX_SPREAD:
        raise InputError(f"{spread:g}, expected 0 to {MAX_SPREAD:,.0f} s", source="option --spread")
    if not 1 <= walltime_factor <= 1000:
        raise InputError(f"{walltime_factor:g}, expected 1 to 1,000", source="option --walltime-factor")
    if gpu_cores_per_node < 0:
        raise InputError(f"{gpu_cores_per_node}, expected at least 0", source="option --gpu-cores-per-node")
    mix = _mix(machine, gpu_cores_per_node)
    jobs: list[Job] = []
    width = len(str(len(mix)))
    turn = ""
    for rank, index in enumerate(rng.permutation(len(mix)).tolist()):
        kind, copy, units, fields = mix[index]
        extra: dict[str, Any] = {"name": f"{kind.name}-{copy}", **fields}
        if turn:
            extra["dependencies"] = [turn]
        # The number comes first and has all digits, so that jobs submitted together keep their order.
        job_id = f"{rank + 1:0{width}d}-{kind.name}-{copy}"
        if z_rule == "alone" and kind.name == WHOLE:
            turn = job_id
        jobs.append(
            Job(
                id=job_id,
                request=read_request(units, extra),
                submission=round(rank * spread / len(mix), 6),
                walltime=kind.runtime * walltime_factor,
                profile=profile_name(kind.runtime),
                extra=extra,
            )
        )
    _check_room(machine, jobs)
    profiles = {profile_name(kind.runtime): {"type": "delay", "delay": number(kind.runtime)} for kind in JOB_TYPES}
    return Workload(path=Path("esp"), name="esp", nb_res=machine.size, jobs=jobs, profiles=profiles)


def _mix(machine: Machine, gpu_cores_per_node: int) -> list[tuple[JobType, str, int, dict[str, Any]]]:
    """Return (type, copy, units, fields of the job) of every job, type by type."""
    totals = dict(zip(machine.resources, machine.total().tolist(), strict=True))
    if not machine.exclusive and not totals.get("core"):
        raise InputError("needs nodes that state a capacity of the resource core, or none", source="option --platform")
    cores = machine.size if machine.exclusive else totals["core"]
    gpus = int(machine.capacity[:, machine.resources.index("gpu")].max()) if "gpu" in totals else 0
    copies: list[tuple[str, dict[str, Any]]] = [("cpu", {} if machine.exclusive else {"demand": {"core": 1}})]
    if gpus:
        copies.append(("gpu", {"demand": {"core": 1}, "per_node": {"gpu": gpus}}))
    mix = []
    for copy, fields in copies:
        for kind in JOB_TYPES:
            units = max(round(kind.fraction * cores), 1)
            own = fields
            if copy == "gpu" and gpu_cores_per_node:
                own = {**fields, "nodes": min(-(-units // gpu_cores_per_node), machine.size)}
            mix += [(kind, copy, units, own)] * kind.count
    return mix


def _check_room(machine: Machine, jobs: list[Job]) -> None:
    """Refuse a machine that has no room for one of the jobs.

    Raises:
        InputError: naming the job and what it lacks.
    """
    space = space_of(machine)
    known = {job.request: job for job in jobs}
    for job in known.values():
        reason = why_never(space, job)
        if reason:
            raise InputError(f"job {job.id} {reason}", source="option --platform")


def machine_seconds(workload: Workload, machine: Machine) -> float:
    """Return how long the jobs would keep all cores (or hosts) of the machine busy, in seconds."""
    cores = machine.size if machine.exclusive else int(machine.total()[machine.resources.index("core")])
    return float(sum(job.units * workload.profiles[job.profile]["delay"] for job in workload.jobs)) / cores
