"""Where the jobs of an estimate come from: accounts, a snapshot of a queue, or one of our runs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.sites.doors.eta.queue_moment import JobRows
from batdispatch.abilities.sites.doors.slurm.queue import QueueJob, SlurmQueue
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.profiles import runtime_of
from batdispatch.inputs.log_options import LogReading
from batdispatch.inputs.workloads import Workload
from batdispatch.inputs.workloads.assembly import UNITS, most_at_a_time
from batdispatch.inputs.workloads.dates import dates_of
from batdispatch.inputs.workloads.logs import LogInfo
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.origins import workload_of
from batdispatch.results.runs import read_result
from batdispatch.runs.inputs import Follow, read_log_as

#: By how much a snapshot may be older than the accounts, s; where its clock may be another zone's, so much more.
_TOLERANCE, _ZONES = 3600.0, 14 * 3600.0


class Source(NamedTuple):
    """Jobs, and the machine that they ran on."""

    jobs: JobRows
    units: int
    #: ``hosts`` or ``cores``.
    unit: str
    #: How the size of the machine is known, in words.
    why: str
    #: When the clock of the jobs shows 0, seconds since 1970; None: nobody knows.
    begin: float | None = None
    #: The zone of their dates; empty: not known.
    zone: str = ""


def of_accounts(path: Path, reading: LogReading, partition: str, size: int | None, follow: Follow | None) -> Source:
    """Return the jobs of a log.

    Raises:
        InputError: the log is wrong, says of no job when it started, or has no such partition.
    """
    workload, _, info = read_log_as(path, reading, follow=follow).told()
    jobs = _rows(workload, info.starts)
    if partition:
        inside = np.array([str(job.extra.get("partition", "")) == partition for job in workload.jobs])
        jobs = jobs.take(inside)
        if not inside.any():
            raise InputError("has no job of this partition", source=str(path), place=f"partition {partition!r}")
    if not np.isfinite(jobs.start).any():
        raise InputError("says of no job when it started", source=str(path))
    unit = "cores" if any("demand" in job.extra for job in workload.jobs[:1]) else "hosts"
    units, why = _size(jobs, info, unit, partition) if size is None else (size, "as --machine says")
    most = _most_at_a_time(jobs)
    if most > units and size is not None:
        raise InputError(
            f"the accounts have jobs on {most:,} {unit} at a time, which is more than {units:,}",
            source="option --machine",
        )
    dates = dates_of(workload.about)
    begin, zone = (None, "") if dates is None else (dates.begin, dates.zone)
    return Source(jobs, max(units, most), unit, why, begin, zone)


def _rows(workload: Workload, starts: NDArray[np.float64]) -> JobRows:
    jobs = workload.jobs
    lasts = np.array([runtime_of(workload.profiles[job.profile], workload.profiles) for job in jobs], dtype=np.float64)
    walltime = np.array([job.walltime for job in jobs])
    return JobRows(
        ids=np.array([job.id for job in jobs], dtype=object),
        users=np.array([job.user for job in jobs], dtype=object),
        units=np.array([job.units for job in jobs], dtype=np.int64),
        submission=np.array([job.submission for job in jobs]),
        walltime=walltime,
        start=starts,
        end=starts + np.minimum(lasts, walltime),
    )


def _size(jobs: JobRows, info: LogInfo, unit: str, partition: str) -> tuple[int, str]:
    if info.hosts and unit == "hosts" and not partition:
        return info.hosts, info.why or "the log says so"
    return _most_at_a_time(jobs), "the most that ran at a time in the accounts; --machine N says it better"


def _most_at_a_time(jobs: JobRows) -> int:
    ran = jobs.take(np.isfinite(jobs.start))
    return most_at_a_time(ran.start, ran.end, {UNITS: ran.units})[UNITS]


def of_queue(queue: SlurmQueue, unit: str, partition: str) -> tuple[JobRows, JobRows]:
    """Return the jobs of a queue that run, and those that wait; in hosts or cores.

    Raises:
        InputError: the queue has no such partition.
    """
    jobs = [job for job in queue.jobs if not partition or partition in job.partition.split(",")]
    if partition and not jobs:
        known = sorted({job.partition for job in queue.jobs})
        raise InputError(
            f"is the partition of no job, these are: {', '.join(known[:8]) or 'none'}",
            source=f"partition {partition!r}",
        )
    jobs.sort(key=lambda job: job.submission)
    running = _queue_rows([job for job in jobs if not math.isnan(job.start)], unit)
    return running, _queue_rows([job for job in jobs if math.isnan(job.start)], unit)


def _queue_rows(jobs: list[QueueJob], unit: str) -> JobRows:
    return JobRows(
        ids=np.array([job.id for job in jobs], dtype=object),
        users=np.array([job.user for job in jobs], dtype=object),
        units=np.array([job.nodes if unit == "hosts" else job.cores for job in jobs], dtype=np.int64),
        submission=np.array([job.submission for job in jobs], dtype=np.float64),
        walltime=np.array([job.walltime for job in jobs], dtype=np.float64),
        start=np.array([job.start for job in jobs], dtype=np.float64),
        end=np.full(len(jobs), np.nan),
    )


def taken_at(queue: SlurmQueue, at: float | None) -> tuple[float, str]:
    """Return when a queue was looked at, s, and a remark if that is not said; empty otherwise."""
    if at is not None or queue.taken is not None:
        return (at if at is not None else queue.taken or 0.0), ""
    times = [job.submission for job in queue.jobs] + [job.start for job in queue.jobs if not math.isnan(job.start)]
    return max(times, default=0.0), "the queue does not say when it was taken: at the latest time in it (--at says it)"


def check_age(now: float, zoned: bool, until: float, accounts: str) -> None:
    """Check that a queue is not older than what is known of the past.

    Raises:
        InputError: it is.
    """
    if until - now > (_ZONES if zoned else _TOLERANCE):
        raise InputError(
            f"was taken {(until - now) / 3600:,.1f} h before the last job of {accounts} came: take a new one, or cut "
            "the accounts with --select to=...",
            source="the queue",
        )


def of_run(folder: Path) -> Source:
    """Return the jobs of one of our runs, of whole hosts.

    Raises:
        InputError: the folder holds no run, or jobs share its hosts.
    """
    result = read_result(folder)
    columns = read_columns(folder / "jobs.csv")
    if not result.platform.hosts or result.platform.resources:
        raise InputError("is no run on whole hosts", source=str(folder))
    workload = workload_of(folder, result)
    users = {} if workload is None else {f"w0!{job.id}": job.user for job in workload.jobs}
    ids = [f"{name}!{job}" for name, job in zip(columns.workload_name, columns.job_id, strict=True)]
    ran = np.isfinite(columns.starting_time)
    rows = JobRows(
        ids=np.array([one.removeprefix("w0!") for one in ids], dtype=object),
        users=np.array([users.get(one, "") for one in ids], dtype=object),
        units=np.asarray(columns.requested_number_of_resources, dtype=np.int64),
        submission=np.asarray(columns.submission_time),
        walltime=np.asarray(columns.requested_time),
        start=np.asarray(columns.starting_time),
        end=np.asarray(columns.finish_time),
    ).take(ran)
    rows = rows.take(np.argsort(rows.submission, kind="stable"))
    begin, zone = (
        (None, "") if result.workload.dates is None else (result.workload.dates.begin, result.workload.dates.zone)
    )
    return Source(rows, result.platform.hosts, "hosts", f"the platform of {folder}", begin, zone)
