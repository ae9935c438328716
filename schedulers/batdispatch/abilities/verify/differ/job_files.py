"""Reads the job file of any simulator: what the jobs asked for, and when they started."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from batdispatch.abilities.verify.differ.textbook import ENDLESS, RigidJob, microseconds
from batdispatch.core.errors import InputError
from batdispatch.inputs.log_options import LogOptions
from batdispatch.inputs.workloads.importers import guess_format, read_records
from batdispatch.inputs.workloads.logs import LogInfo
from batdispatch.results.jobs_file import read_columns

#: Times of one job that differ by more than this are different ones, microseconds.
_TELLS = 500_000


class Schedule(NamedTuple):
    """Jobs and when they started.

    Attributes:
        jobs: in the order of the file.
        starts: microseconds, one a job; None: the job never started.
        sizes: processors that the machine may have had -> how that is known, the likeliest first.
        notes: sentences about what does not agree between the job file and the log.
    """

    jobs: list[RigidJob]
    starts: list[int | None]
    sizes: dict[int, str]
    notes: list[str]


def read_schedule(
    path: Path, *, kind: str | None = None, options: LogOptions | None = None, log: Path | None = None
) -> Schedule:
    """Read a job file: Batsim's jobs.csv, SWF with waits filled in, or what else `convert` reads, a table included.

    Args:
        path: the job file.
        kind: its format; None: told by its name or content.
        options: how its records are understood (``columns`` for a table).
        log: the log that was simulated: then sizes, run times and requested times are the log's, and only the starts
            are the job file's.

    Raises:
        InputError: a file is wrong, or no job of the log is in the job file.
    """
    options = options or LogOptions()
    kind = kind or ("table" if options.columns else guess_format(path))
    simulated = _of_batsim(path) if kind == "table" and not options.columns else _of_log(path, kind, options)
    if log is None:
        return _with_sizes(simulated)
    return _with_sizes(_joined(simulated, _of_log(log, None, LogOptions(size=options.size)), path, log))


def _of_batsim(path: Path) -> Schedule:
    columns = read_columns(path)
    ran = columns.ran
    jobs, starts = [], []
    for row, name in enumerate(columns.job_id.tolist()):
        start, finish = float(columns.starting_time[row]), float(columns.finish_time[row])
        jobs.append(
            RigidJob(
                str(name),
                microseconds(float(columns.submission_time[row])),
                int(columns.requested_number_of_resources[row]),
                microseconds(float(columns.requested_time[row])),
                microseconds(finish - start) if ran[row] else 0,
            )
        )
        starts.append(microseconds(start) if ran[row] else None)
    return Schedule(jobs, starts, {}, [])


def _of_log(path: Path, kind: str | None, options: LogOptions) -> Schedule:
    records = read_records(path, kind=kind, options=options)
    if not records.jobs.ids:
        raise InputError("has no jobs that ran", source=str(path))
    log = records.jobs
    submission, walltime, runtime = (
        map(microseconds, times.tolist()) for times in (log.submission, log.walltime, log.runtime)
    )
    jobs = list(map(RigidJob, log.ids, submission, map(int, log.units.tolist()), walltime, runtime))
    starts = [None if math.isnan(start) else microseconds(start) for start in log.start.tolist()]
    return Schedule(jobs, starts, _stated(records.info), [])


def _stated(info: LogInfo) -> dict[int, str]:
    found: dict[int, str] = {}
    for header in ("MaxProcs", "MaxNodes"):
        if info.about.get(header):
            found.setdefault(int(info.about[header]), f"{header} in the log's header")
    if info.hosts:
        found.setdefault(info.hosts, info.why or "the log says so")
    return found


def _joined(simulated: Schedule, log: Schedule, path: Path, log_path: Path) -> Schedule:
    """Return the log's jobs with the simulated starts, shifted to the log's clock."""
    by_id = {job.id.rpartition("!")[2]: index for index, job in enumerate(simulated.jobs)}
    both = [(job, by_id[job.id]) for job in log.jobs if job.id in by_id]
    if not both:
        raise InputError(f"has no job of {log_path.name}: none of its ids is there", source=str(path))
    notes = []
    if len(both) < len(log.jobs):
        notes.append(f"{len(log.jobs) - len(both):,} of the log's {len(log.jobs):,} jobs are not in the job file")
    if len(both) < len(simulated.jobs):
        notes.append(f"{len(simulated.jobs) - len(both):,} jobs of the job file are not in the log")
    shift = min(job.submission for job, _ in both) - min(simulated.jobs[index].submission for _, index in both)
    for name, differs in _DIFFERENCES.items():
        other = [job.id for job, index in both if differs(job, _moved(simulated.jobs[index], shift))]
        if other:
            notes.append(f"{len(other):,} jobs have another {name} than in the log, first job {other[0]}")
    starts = [simulated.starts[index] for _, index in both]
    moved = [None if start is None else start + shift for start in starts]
    return Schedule([job for job, _ in both], moved, log.sizes or simulated.sizes, notes)


def _moved(job: RigidJob, shift: int) -> RigidJob:
    return job._replace(submission=job.submission + shift)


#: What may differ between a job of the log and the same job of the job file -> whether it does.
_DIFFERENCES: dict[str, Callable[[RigidJob, RigidJob], bool]] = {
    "submission": lambda log, file: abs(log.submission - file.submission) > _TELLS,
    "size": lambda log, file: log.units != file.units,
    "requested time": lambda log, file: file.walltime != ENDLESS and abs(log.walltime - file.walltime) > _TELLS,
    # A job may be killed or run on, and simulators take run times of 0 s for 1 s.
    "run time": lambda log, file: min(abs(log.runtime - file.runtime), abs(log.walltime - file.runtime)) > 2 * _TELLS,
}


def _with_sizes(read: Schedule) -> Schedule:
    """Add the sizes that the jobs themselves show."""
    sizes = dict(read.sizes)
    peak = peak_of(read.jobs, read.starts)
    sizes.setdefault(peak, "the most that ran at a time in the job file")
    sizes.setdefault(max(job.units for job in read.jobs), "the size of the largest job")
    return read._replace(sizes=sizes)


def peak_of(jobs: list[RigidJob], starts: list[int | None]) -> int:
    """Return the most processors that jobs held at a time; who ends makes room for who starts."""
    changes = []
    for job, start in zip(jobs, starts, strict=True):
        if start is not None and job.runtime:
            changes += [(start, 1, job.units), (start + job.runtime, 0, -job.units)]
    held = most = 0
    for _, _, change in sorted(changes):
        held += change
        most = max(most, held)
    return most
