"""The sums of a run (schedule.csv, or Batsim 5's schedule.json), worked out again from its rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from batdispatch.core.errors import InputError
from batdispatch.core.hostsets import Intervals
from batdispatch.core.job import JobState
from batdispatch.results.audit.findings import Violation
from batdispatch.results.audit.rows import Rows
from batdispatch.results.audit.setting import Setting
from batdispatch.results.schedule import read_schedule

KIND = "sums"
#: Seconds by which a time of a jobs file may be off.
_ROUNDED = 1e-6
#: Name, values that it may have, by how much it may be off.
Sum = tuple[str, tuple[float, ...], float]
#: Of the simulation itself, or of the clock: nothing tells what they should be.
_UNKNOWABLE = frozenset({"batsim_version", "scheduling_time", "simulation_time"})


def check_sums(rows: Rows, intervals: Intervals, setting: Setting, folder: Path, *, away: bool) -> None:
    """Each sum follows from the rows of the jobs file; `away`: whether hosts went away, so that some are not known."""
    path = next(
        (
            each
            for name in ("schedule.csv", "out_schedule.csv", "schedule.json", "out_schedule.json")
            if (each := folder / name).is_file()
        ),
        None,
    )
    if path is None:
        if setting.embedded:
            rows.findings.add(Violation(KIND, "the run wrote schedule.csv, which is not there"))
        else:
            rows.findings.skipped[KIND] = "there is no schedule.csv"
        return
    rows.findings.checked.append(KIND)
    try:
        found = read_schedule(path)
    except InputError as problem:
        rows.findings.add(Violation(KIND, str(problem)))
        return
    for name, values, slack in _expected(rows, intervals, setting, found, away=away, batsim5=path.suffix == ".json"):
        value = found.get(name)
        if value is None and not setting.embedded:
            continue
        if not isinstance(value, float):
            rows.findings.add(Violation(KIND, f"{path.name}: {name} is {value!r}, the rows give {values[0]:.6f}"))
        elif not any(value == each or abs(value - each) <= slack for each in values):
            rows.findings.add(Violation(KIND, f"{path.name}: {name} is {value:.6f}, the rows give {values[0]:.6f}"))
    if setting.embedded:
        version = f"batdispatch {setting.result.get('batdispatch')} embedded"
        if not str(found.get("batsim_version")).startswith(version):
            message = f"{path.name}: batsim_version is {found.get('batsim_version')!r}, result.json says {version!r}"
            rows.findings.add(Violation(KIND, message))


def _expected(
    rows: Rows, intervals: Intervals, setting: Setting, found: Mapping[str, float | str], *, away: bool, batsim5: bool
) -> Iterator[Sum]:
    """Yield each sum. Those that need columns of their own come from functions, with which the columns go."""
    yield from _counts(rows, setting)
    yield from _times(rows, setting)
    if setting.embedded:
        for name in ("nb_grouped_switches", "nb_machine_switches", "time_sleeping", "consumed_joules"):
            yield name, (0.0,), 0
        for name in ("time_switching_off", "time_switching_on", *(() if away else ("time_unavailable",))):
            yield name, (0.0,), 0
    # Batsim 5 counts up to the last change of a host only, and Batsim 4 takes what was away out.
    if batsim5 or away or (not setting.embedded and found.get("time_unavailable")):
        return
    busy, used = _occupied(rows, intervals)
    slack = 3 * _ROUNDED * (1 + float(intervals.sizes[rows.ran].sum())) + 1e-12 * busy
    yield "time_computing", (busy,), slack
    # A host is idle up to the last time that it is used.
    yield "time_idle", (used - busy,), slack


def _counts(rows: Rows, setting: Setting) -> Iterator[Sum]:
    """Yield the numbers of jobs and of hosts."""
    count, started = len(rows.ids), int(rows.ran.sum())
    good = int(rows.success.sum())
    dead = int(rows.is_state(JobState.COMPLETED_KILLED, JobState.COMPLETED_WALLTIME_REACHED).sum())
    yield "nb_jobs", (count,), 0
    yield "nb_jobs_finished", (started,), 0
    yield "nb_jobs_rejected", (count - started,), 0
    yield "nb_jobs_success", (good,), 0
    # Batsim 4 counts the jobs that failed, too.
    yield "nb_jobs_killed", (started - good,) if setting.embedded else (dead, started - good), 0
    yield "success_rate", (good / max(count, 1),), _ROUNDED
    # Batsim 4 counts the storage hosts, too.
    hosts = len(setting.machine.hosts)
    yield "nb_computing_machines", (hosts,) if setting.embedded else (setting.machine.size, hosts), 0


def _times(rows: Rows, setting: Setting) -> Iterator[Sum]:
    """Yield the sums of the jobs' times."""
    ran, count = rows.ran, len(rows.ids)
    started = int(ran.sum())
    start, finish, submission = rows.start[ran], rows.finish[ran], rows.submission[ran]
    run, wait, turnaround = finish - start, start - submission, finish - submission
    yield "makespan", (float(finish.max(initial=0.0)),), 2 * _ROUNDED
    for name, values in (("waiting", wait), ("turnaround", turnaround)):
        yield f"max_{name}_time", (float(values.max(initial=0.0)),), 3 * _ROUNDED
        means = _means(float(values.sum()), started, count, setting)
        yield f"mean_{name}_time", means, 3 * _ROUNDED + _relative(values)
    with np.errstate(divide="ignore", invalid="ignore"):
        slowdown = np.where(run > 0, turnaround / run, math.inf)
        # What a slowdown may be off by, since the two times are rounded; of no length, it is unknown.
        unsure = np.where(run > _ROUNDED, (1 + slowdown) * 2 * _ROUNDED / np.maximum(run - _ROUNDED, 1e-12), math.inf)
    if setting.embedded:
        # The times are exact, but their difference has few digits left where a job took next to none.
        with np.errstate(divide="ignore", invalid="ignore"):
            unsure = np.where(run > 0, slowdown * 8 * np.finfo(np.float64).eps * finish / run, 0.0)
    elif not np.isfinite(unsure).all():
        slowdown = np.zeros(0)
    if len(slowdown) == started:
        off = 2 * _ROUNDED + _relative(slowdown) * 10
        yield "max_slowdown", (float(slowdown.max(initial=0.0)),), off + float(unsure.max(initial=0.0))
        mean = float(unsure.sum()) / max(started, 1)
        yield "mean_slowdown", _means(float(slowdown.sum()), started, count, setting), off + mean


def _means(total: float, started: int, count: int, setting: Setting) -> tuple[float, ...]:
    """Return a mean over all jobs, as Batsim 4 and the embedded engine have it, or also over those that started."""
    whole = total / max(count, 1)
    return (whole,) if setting.embedded else (total / max(started, 1), whole)


def _relative(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """Return what sums of such numbers may be off by in floating point."""
    most = float(values.max(initial=0.0))
    return 1e-12 * most if math.isfinite(most) else 0.0


def _occupied(rows: Rows, intervals: Intervals) -> tuple[float, float]:
    """Return the sums over hosts of how long a host computed, for however many jobs, and of its last use, s."""
    busy, until = 0.0, np.zeros(int(intervals.last.max(initial=-1)) + 1)
    for row, first, last in intervals.by_rows(np.argsort(rows.start, kind="stable")):
        start, finish = float(rows.start[row]), float(rows.finish[row])
        if not start <= finish:
            continue
        hosts = until[first : last + 1]
        if hosts.max() <= start:
            # On a machine whose hosts are not shared, always.
            busy += (finish - start) * len(hosts)
            hosts[:] = finish
        else:
            busy += float(np.maximum(finish - np.maximum(hosts, start), 0.0).sum())
            np.maximum(hosts, finish, out=hosts)
    return busy, float(until.sum())
