"""Logs in memory, as if an importer had read them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from batdispatch.inputs.workloads.log_columns import LogColumns
from batdispatch.inputs.workloads.log_workload import LogProfiles, LogWorkload

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
