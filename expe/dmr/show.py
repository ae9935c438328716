"""The experiments of the DMR paper (Iserte et al., 2018): which tables and pictures are made of which runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from batdispatch.core.errors import SimulationError
from batdispatch.results.runs import read_result
from expe.dmr.draw import (
    differences_picture,
    evolution_picture,
    gains_picture,
    jobs_picture,
    load_picture,
    modes_picture,
    stages_picture,
)
from expe.dmr.tables import (
    History,
    Measured,
    Modes,
    Pairs,
    actions_table,
    curves_table,
    fs_load_table,
    fs_near_table,
    growing_table,
    history_of,
    load_table,
    modes_table,
    nearest,
    pattern_table,
    schedulers_table,
    stages_table,
    table_4,
)

#: How jobs of either kind are run: label -> dispatcher.
PAIR = {"fixed": "slurm-backfill", "malleable": "dmr"}
MODES = {"fixed": "slurm-backfill", "sync": "dmr", "async": "dmr[mode=async]"}
#: Assumption about who starts the jobs -> dispatchers of fixed and malleable jobs, and --walltime-factor.
SCHEDULERS: dict[str, tuple[str, str, float | None]] = {
    "Slurm's backfilling, no walltimes": ("slurm-backfill", "dmr", None),
    "the same, looks at all jobs": ("slurm-backfill[depth=1000]", "dmr[depth=1000]", None),
    "Slurm's backfilling, walltimes": ("slurm-backfill", "dmr", 1.5),
    "EASY, no walltimes": ("easy", "resizing[dispatcher=easy]", None),
    "EASY, walltimes": ("easy", "resizing[dispatcher=easy]", 1.5),
    "nobody overtakes": ("fcfs", "resizing[dispatcher=fcfs]", None),
}
#: How the speed of CG and Jacobi depends on their size, and that of N-body, where it does.
CURVES = {
    "n^0.5": ("power:0.5", None),
    "n^0.7": ("power:0.7", None),
    "n^0.8": ("power:0.8", None),
    "n^0.9": ("power:0.9", None),
    "linear": ("linear", None),
    "linear, N-body too": ("linear", "linear"),
}


class Case(NamedTuple):
    """What runs of all seeds have in common: a table of the page, a dispatcher, and what the campaign states of it."""

    table: str
    dispatcher: str
    jobs: int
    walltime_factor: float | None = None
    scalability: str | None = None
    nbody_scalability: str | None = None
    gap: float | None = None
    fs_runtime: float | None = None


def columns(row: Mapping[str, Any], run: Path) -> dict[str, float]:
    """Return the execution time of a run, s, as a mean over its jobs; and of its resizes, if there were any, how many a
    job had, and their mean seconds, those of scheduling among them.

    Raises:
        SimulationError: a job did not end by itself.
    """
    if row["nb_jobs_success"] != row["workload.jobs"]:
        raise SimulationError(f"{run}: a job did not end by itself")
    found = {"execution": row["mean_turnaround_time"] - row["mean_waiting_time"]}
    resizing = read_result(run).report.get("resizing", {})
    for kind in ("expand", "shrink"):
        if kind in resizing:
            found[f"{kind}s_per_job"] = resizing[kind]["count"] / row["workload.jobs"]
        if resizing.get(kind, {}).get("count"):
            scheduling = resizing["scheduling"][kind]
            found |= {f"{kind}_scheduling": scheduling, f"{kind}_moving": resizing[kind]["mean"] - scheduling}
    return found


class Found:
    """Runs by case and seed."""

    def __init__(self, rows: pd.DataFrame) -> None:
        self.runs: dict[Case, dict[int, Measured]] = defaultdict(dict)
        for row in rows.to_dict("records"):
            options = [_known(row.get(f"workload.{field.replace('_', '-')}")) for field in Case._fields[2:]]
            case = Case(row["part"].partition(",")[0], row["dispatcher"], *options)
            self.runs[case][row["workload.seed"]] = _measured(row)

    def values(self, table: str, field: str) -> list[Any]:
        """Return the values that a field has in a table, ascending."""
        return sorted({getattr(case, field) for case in self.runs if case.table == table})

    def of(self, table: str, dispatcher: str, jobs: int, **options: Any) -> list[Measured]:
        """Return the runs of a case, seed by seed."""
        found = self.runs[Case(table, dispatcher, jobs, **options)]
        return [found[seed] for seed in sorted(found)]

    def pairs(self, table: str, jobs: int, dispatchers: Sequence[str] = tuple(PAIR.values()), **options: Any) -> Pairs:
        """Return what became of the same jobs of each seed, fixed and malleable."""
        fixed, malleable = (self.of(table, dispatcher, jobs, **options) for dispatcher in dispatchers)
        return list(zip(fixed, malleable, strict=True))


def _known(value: Any) -> Any:
    """Return a value of a column, None where there is none."""
    return None if pd.isna(value) else value


def _measured(row: dict[str, Any]) -> Measured:
    return Measured(
        utilisation=row["utilisation"],
        wait=row["mean_waiting_time"],
        execution=row["execution"],
        completion=row["mean_turnaround_time"],
        workload_time=row["makespan"],
        jobs=row["workload.jobs"],
        resizing=read_result(row["run"]).report.get("resizing", {}),
        folder=row["run"],
    )


def _whole(rows: pd.DataFrame) -> dict[int, Pairs]:
    found = Found(rows)
    return {size: found.pairs("table 4", size) for size in found.values("table 4", "jobs")}


def _histories(rows: pd.DataFrame) -> dict[str, History]:
    """Return the first run of the smallest workloads, fixed and malleable."""
    whole = _whole(rows)
    return {kind: history_of(one) for kind, one in zip(PAIR, whole[min(whole)][0], strict=True)}


def _patterns(rows: pd.DataFrame) -> dict[str, list[History]]:
    found = Found(rows)
    (jobs,) = found.values("pattern", "jobs")
    return {
        case: [history_of(one) for one in found.of("pattern", malleable, jobs, walltime_factor=factor)]
        for case, (_, malleable, factor) in SCHEDULERS.items()
    }


def _schedulers(rows: pd.DataFrame) -> dict[tuple[str, int], Pairs]:
    found = Found(rows)
    return {
        (case, size): found.pairs("schedulers", size, (fixed, malleable), walltime_factor=factor)
        for size in found.values("schedulers", "jobs")
        for case, (fixed, malleable, factor) in SCHEDULERS.items()
    }


def _curves(rows: pd.DataFrame) -> dict[str, Pairs]:
    found = Found(rows)
    (jobs,) = found.values("curves", "jobs")
    return {
        label: found.pairs("curves", jobs, scalability=most, nbody_scalability=nbody)
        for label, (most, nbody) in CURVES.items()
    }


def _loads(rows: pd.DataFrame) -> dict[float, Pairs]:
    found = Found(rows)
    (jobs,) = found.values("load", "jobs")
    return {gap: found.pairs("load", jobs, gap=gap) for gap in found.values("load", "gap")}


def _sleeps(rows: pd.DataFrame) -> dict[float, Modes]:
    """Return flexible sleeps: mean run time -> mode -> runs."""
    found = Found(rows)
    ((table, jobs),) = {(case.table, case.jobs) for case in found.runs}
    return {
        mean: {mode: found.of(table, dispatcher, jobs, fs_runtime=mean) for mode, dispatcher in MODES.items()}
        for mean in found.values(table, "fs_runtime")
    }


def _nearest(rows: pd.DataFrame) -> tuple[Modes, float]:
    """Return the sleeps of the run time with which fixed ones use what the paper's use, and that run time."""
    found = _sleeps(rows)
    mean = nearest(found)
    return found[mean], mean


#: Table of the page -> the parts of the campaign that make it.
_PARTS = {
    "table 4": ("table 4, fixed", "table 4, malleable"),
    "pattern": ("pattern, no walltimes", "pattern, walltimes"),
    "schedulers": (
        "schedulers, fixed",
        "schedulers, malleable",
        "schedulers, fixed with walltimes",
        "schedulers, malleable with walltimes",
    ),
    **{name: (f"{name}, fixed", f"{name}, malleable") for name in ("curves", "load", "sleeps", "sleeps by load")},
    **{name: (name,) for name in ("figure 3", "growing costs")},
}
Section = tuple[Sequence[str], Callable[..., Any]]


def _of(table: str, get: Callable[[pd.DataFrame], Any], make: Callable[..., Any], *more: str) -> Section:
    """Return a section or picture: its parts, and what makes it of a path, for pictures, and their rows."""
    return _PARTS[table], lambda *given: make(*given[:-1], get(given[-1]), *more)


SECTIONS = {
    "table-4": _of("table 4", _whole, table_4),
    "pattern": _of("pattern", _patterns, pattern_table),
    "schedulers": _of("schedulers", _schedulers, schedulers_table),
    "curves": _of("curves", _curves, curves_table),
    "load": _of("load", _loads, load_table),
    "table-1": _of("sleeps", lambda rows: _nearest(rows)[0], actions_table),
    "figure-3": _of("figure 3", lambda rows: rows, stages_table),
    "growing-costs": _of("growing costs", lambda rows: rows, growing_table),
    "table-2": (_PARTS["sleeps"], lambda rows: modes_table(*_nearest(rows))),
    "fs-near": _of("sleeps", _sleeps, fs_near_table),
    "fs-load": _of("sleeps by load", _sleeps, fs_load_table),
}
PICTURES = {
    "figure-3.svg": _of("figure 3", lambda rows: rows, stages_picture),
    "figure-4.svg": _of("table 4", _whole, gains_picture, "workload_time", "workload time (h)"),
    "figure-5.svg": _of("table 4", _whole, gains_picture, "wait", "mean wait (h)"),
    "figure-6.svg": _of("table 4", _histories, evolution_picture),
    "figure-7-execution.svg": _of("table 4", _histories, jobs_picture, "execution"),
    "figure-7-wait.svg": _of("table 4", _histories, jobs_picture, "wait"),
    "figure-8.svg": _of("table 4", _histories, differences_picture),
    "load.svg": _of("load", _loads, load_picture),
    "fs-load.svg": _of("sleeps by load", _sleeps, modes_picture),
}
