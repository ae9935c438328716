"""Cuts logs into slices, and says which of these are for tuning and which are held out."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
from grid import (
    DRAW_SEED,
    DRAWN,
    GENERATED,
    GENERATED_HOSTS,
    GENERATED_LOAD,
    GENERATED_TUNING,
    JOBS,
    LOGS,
    LUBLIN,
    TUNING_PART,
    Log,
)

from batdispatch.inputs.files import write_whole
from batdispatch.inputs.platforms import Platform, read_platform
from batdispatch.inputs.platforms.generate import flat
from batdispatch.inputs.workloads import Workload
from batdispatch.inputs.workloads.importing import import_log
from batdispatch.inputs.workloads.lublin import lublin
from batdispatch.inputs.workloads.writer import write_workload


class Part(msgspec.Struct, frozen=True):
    """The slices of one log, or the generated workloads: a machine, and a workload file for each slice."""

    name: str
    platform: Platform
    users: bool
    slices: list[Path]


def chosen(whole: int, row: int, *, tuning: bool) -> list[int]:
    """Return which of a log's whole slices to run, ascending.

    Args:
        whole: number of whole slices.
        row: number of the log, part of the seed.
        tuning: those for tuning rather than those held out.
    """
    first_held_out = max(whole // TUNING_PART, 1)
    if tuning:
        return list(range(first_held_out))
    held_out = np.arange(first_held_out, whole)
    rng = np.random.default_rng([DRAW_SEED, row])
    return sorted(rng.choice(held_out, size=min(DRAWN, len(held_out)), replace=False).tolist())


def parts(logs: Path, out: Path, *, tuning: bool) -> list[Part]:
    """Write the workloads and platforms into a folder, and return them.

    Args:
        logs: the folder of the logs.
        out: where files go.
        tuning: those for tuning rather than those held out.
    """
    out.mkdir(parents=True, exist_ok=True)
    made = [_of_log(log, row, logs, out, tuning=tuning) for row, log in enumerate(LOGS)]
    return [*made, _generated(out, tuning=tuning)]


def _of_log(log: Log, row: int, logs: Path, out: Path, *, tuning: bool) -> Part:
    platform = _platform(out / f"{log.name}.xml", log.platform())
    workload, _ = import_log(logs / log.path, machine=platform.machine)
    workload.sort()
    slices = []
    for index in chosen(len(workload.jobs) // JOBS, row, tuning=tuning):
        path = out / f"{log.name}-{index:02}.json"
        if not path.exists():
            write_workload(_slice(workload, index), path)
        slices.append(path)
    return Part(log.name, platform, log.users, slices)


def _slice(workload: Workload, index: int) -> Workload:
    """Return so many successive jobs, the first of which is submitted at 0."""
    jobs = workload.jobs[index * JOBS : (index + 1) * JOBS]
    began = jobs[0].submission
    jobs = [msgspec.structs.replace(job, submission=job.submission - began) for job in jobs]
    used = {job.profile for job in jobs}
    profiles = {name: profile for name, profile in workload.profiles.items() if name in used}
    return msgspec.structs.replace(workload, jobs=jobs, profiles=profiles)


def _generated(out: Path, *, tuning: bool) -> Part:
    platform = _platform(out / f"{LUBLIN}.xml", flat(GENERATED_HOSTS))
    slices = []
    for seed in GENERATED_TUNING if tuning else GENERATED:
        path = out / f"{LUBLIN}-{seed}.json"
        if not path.exists():
            made = lublin(
                np.random.default_rng(seed), jobs=JOBS, hosts=GENERATED_HOSTS, load=GENERATED_LOAD, walltimes="modal"
            )
            write_workload(made, path)
        slices.append(path)
    return Part(LUBLIN, platform, False, slices)


def _platform(path: Path, content: bytes) -> Platform:
    write_whole(path, content)
    return read_platform(path)
