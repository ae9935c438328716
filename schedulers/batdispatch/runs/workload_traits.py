"""What a workload or log is like, beside its machine."""

from __future__ import annotations

from batdispatch.core.errors import InputError
from batdispatch.core.machine.machine import Machine
from batdispatch.inputs.log_options import LogReading
from batdispatch.inputs.workloads import read_workload
from batdispatch.inputs.workloads.importers import ImportResult
from batdispatch.report.workload.traits import Traits
from batdispatch.runs.inputs import Follow, is_log, read_log_as


def traits_of(
    path: str, reading: LogReading, machine: Machine | None, follow: Follow | None = None
) -> tuple[Traits, ImportResult | None]:
    """Return what a workload or log is like; also return what was made of a log.

    Args:
        path: of the workload or log.
        reading: how a log is read.
        machine: what it runs on; None: the workload or the log says its size.
        follow: told how far a log is read.

    Raises:
        InputError: the file is malformed, or has no jobs.
    """
    imported, starts, capacity = None, None, None
    if not is_log(path, reading):
        workload = read_workload(path)
    else:
        imported = read_log_as(path, reading, machine=machine, follow=follow).told()
        workload, starts = imported.workload, imported.info.starts
        if imported.info.hosts and "core" in imported.info.capacity:
            capacity = imported.info.hosts * imported.info.capacity["core"]
    if not workload.jobs:
        raise InputError("has no jobs", source=path)
    shared = not all(job.request.units_are_nodes for job in workload.jobs)
    if machine is not None:
        capacity = machine.shared.get("core") if shared else machine.size
    known = shared or machine is not None
    return Traits(workload, capacity=capacity if known else None, starts=starts), imported
