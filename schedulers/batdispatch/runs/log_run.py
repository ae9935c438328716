"""What really happened, as a run's folder: a log's own starts and nodes, beside the simulations of its jobs."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np

from batdispatch.core.errors import InputError
from batdispatch.core.hosts import hostset
from batdispatch.core.jobs.fields import is_whole_hosts
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.job_table import COLUMNS
from batdispatch.core.machine.machine import Machine
from batdispatch.inputs.files import write_json, write_whole
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.workloads.dates import dates_of
from batdispatch.inputs.workloads.importers import ImportResult
from batdispatch.inputs.workloads.node_use import host_names
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.lineage import FILE as LINEAGE
from batdispatch.results.lineage import write_lineage
from batdispatch.results.rows import write_rows
from batdispatch.results.run_files import RESULT
from batdispatch.results.runs import THE_LOG, figures_of
from batdispatch.runs.log_fairness import unfair_to_log


def write_log_run(imported: ImportResult, platform: Path, out: Path) -> Path:
    """Write what a log says of its jobs as a run into a folder of `out`, and return that folder.

    If the log tells no nodes, jobs are put on the free hosts with the lowest numbers, for as many as are free.

    Raises:
        InputError: the log does not say when jobs started.
    """
    machine = read_platform(platform).machine
    workload, info = imported.workload, imported.info
    if np.isnan(info.starts).all():
        raise InputError("does not say when jobs started, so it is no run", source=imported.report.source)
    folder = out / THE_LOG
    folder.mkdir(parents=True, exist_ok=True)
    known = [row for row in range(len(workload.jobs)) if not np.isnan(info.starts[row])]
    runtimes = {name: float(profile["delay"]) for name, profile in workload.profiles.items()}
    jobs = [workload.jobs[row] for row in known]
    starts = [max(float(info.starts[row]), job.submission) for row, job in zip(known, jobs, strict=True)]
    hosts = _told(jobs, info.nodes, machine) or _first_free(
        jobs, starts, [runtimes[job.profile] for job in jobs], machine
    )
    rows = [_row(job, start, runtimes[job.profile], held) for job, start, held in zip(jobs, starts, hosts, strict=True)]
    rows.sort(key=lambda row: (float(row[10]), row[0]))
    write_whole(folder / "jobs.csv", write_rows(COLUMNS, rows))
    if not machine.exclusive:
        units = [(job.id, _text(held), _units(job, len(held))) for job, held in zip(jobs, hosts, strict=True)]
        write_whole(folder / "units.csv", write_rows(("job_id", "allocated_resources", "units"), units))
    parents = {f"w0!{job.id}": f"w0!{job.parent}" for job in jobs if job.parent}
    write_lineage(parents, folder / LINEAGE)
    columns = read_columns(folder / "jobs.csv")
    dates = dates_of(workload.about)
    result = {
        "label": THE_LOG,
        "platform": {"path": str(platform), "hosts": machine.size, "resources": machine.shared},
        "workload": {"jobs": len(jobs), **({} if dates is None else {"dates": msgspec.to_builtins(dates)})},
    }
    result["report"] = {"warnings": unfair_to_log(imported, machine)}
    result["metrics"] = figures_of(columns, result, machine=machine, jobs=jobs, folder=folder).metrics
    write_json(folder / RESULT, result)
    return folder


def _told(jobs: Sequence[Job], nodes: Mapping[str, str], machine: Machine) -> list[list[int]]:
    """Return the hosts of each job by the names that the log tells; none if it lacks some, or the machine does."""
    found = []
    for job in jobs:
        names = list(host_names(nodes[job.id])) if job.id in nodes else []
        if not names or not all(name in machine.by_name for name in names):
            return []
        found.append(sorted(machine.by_name[name] for name in names))
    return found


def _first_free(
    jobs: Sequence[Job], starts: Sequence[float], runtimes: Sequence[float], machine: Machine
) -> list[list[int]]:
    """Return hosts for jobs of which only the number of hosts is known, those that are free first."""
    free = hostset.ids(machine.compute)
    heapq.heapify(free)
    ends: list[tuple[float, int]] = []
    found: list[list[int]] = [[] for _ in jobs]
    for row in sorted(range(len(jobs)), key=lambda row: (starts[row], row)):
        while ends and ends[0][0] <= starts[row]:
            _, host = heapq.heappop(ends)
            heapq.heappush(free, host)
        wanted = jobs[row].units if is_whole_hosts(jobs[row].request) else 1
        held = [heapq.heappop(free) for _ in range(min(wanted, len(free)))]
        # A log may have more running than its machine holds: what ends first makes room early.
        held += [heapq.heappop(ends)[1] for _ in range(min(wanted - len(held), len(ends)))]
        for host in held:
            heapq.heappush(ends, (starts[row] + runtimes[row], host))
        found[row] = sorted(held)
    return found


def _row(job: Job, start: float, runtime: float, held: Sequence[int]) -> tuple[str, ...]:
    wait, end = start - job.submission, start + runtime
    walltime = f"{job.walltime:.6f}" if np.isfinite(job.walltime) else "-1"
    times = (start, runtime, end, wait, end - job.submission)
    size = len(held) if is_whole_hosts(job.request) else job.units
    stretch = (end - job.submission) / runtime
    return (
        *(job.id, "w0", job.profile, f"{job.submission:.6f}", str(size), walltime, "1", "COMPLETED_SUCCESSFULLY"),
        *(*(f"{value:.6f}" for value in times), f"{stretch:.6f}", _text(held), "-1", ""),
    )


def _text(held: Sequence[int]) -> str:
    return hostset.to_text(hostset.mask_of(held))


def _units(job: Job, hosts: int) -> str:
    """Return how many units each host carries, as evenly as they can be spread."""
    each, more = divmod(job.units, hosts)
    return " ".join(str(max(each + (host < more), 1)) for host in range(hosts))
