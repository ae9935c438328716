"""Logs in memory, as if an importer had read them, and what runs are given of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from batdispatch.core.jobs.job import Job
from batdispatch.inputs.workloads.columns import JobColumns, NotPlain
from batdispatch.inputs.workloads.log_columns import LogColumns
from batdispatch.inputs.workloads.log_workload import LogProfiles, LogWorkload
from batdispatch.inputs.workloads.workload_file import WorkloadFile

_OWN = ("id", "subtime", "res", "walltime")


def log_of(path: Path, jobs: Sequence[Mapping[str, Any]], *, runtime: float) -> LogWorkload:
    """Return the workload of a log of jobs that ran for `runtime` seconds each, given as Batsim's objects."""

    def column(name: str, default: float) -> Any:
        return np.array([job.get(name, default) for job in jobs], dtype=np.float64)

    columns = LogColumns(
        ids=[job["id"] for job in jobs],
        submission=column("subtime", 0),
        runtime=np.full(len(jobs), runtime),
        start=np.full(len(jobs), np.nan),
        walltime=column("walltime", np.inf),
        units=column("res", 1),
        tables=[{name: value for name, value in job.items() if name not in _OWN} for job in jobs],
    )
    profiles = LogProfiles(np.unique(columns.runtime))
    return LogWorkload(path=path, name=path.stem, nb_res=1, about={}, jobs=columns, profiles=profiles)


def facts(columns: JobColumns | NotPlain) -> Any:
    """All that columns say, job by job, or why there are none."""
    if isinstance(columns, NotPlain):
        return columns
    jobs = [columns.job(row) for row in range(len(columns))]
    spans = [columns.runtime.tolist(), columns.code[columns.profile].tolist()]
    return [told(job) for job in jobs], spans, columns.profiles, columns.users, columns.extra


def told(job: Job) -> tuple[Any, ...]:
    # A sign of 0.0 would be written.
    times = str(job.submission), str(job.walltime)
    return job.id, job.request, *times, job.profile, job.user, job.parent, list(job.extra.items())


def same(one: WorkloadFile, other: WorkloadFile) -> None:
    """Hold all that runs ask two files for side by side; columns are asked for first in one of the two orders."""
    assert (one.count, one.digest, one.window, one.windows) == (other.count, other.digest, other.window, other.windows)
    assert one.dates == other.dates
    assert facts(one.columns()) == facts(other.columns())
    for fields in ((), ("nobody",), ("group",)):
        assert facts(one.columns(fields)) == facts(other.columns(fields))
    assert facts(one.told_columns()) == facts(other.told_columns())
    ours, theirs = one.workload(), other.workload()
    assert list(map(told, ours.jobs)) == list(map(told, theirs.jobs))
    for field in ("path", "name", "digest", "nb_res", "batsim", "profiles", "as_written", "about"):
        assert getattr(ours, field) == getattr(theirs, field)
    assert list(ours.profiles) == list(theirs.profiles)
    assert one.delays() == other.delays()
    assert list(one.fields("group", "nobody")) == list(other.fields("group", "nobody"))
