"""The sums of a run (schedule.csv, or Batsim 5's schedule.json), worked out again from its rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from batdispatch.audit.case import Case
from batdispatch.audit.hosts import Floats
from batdispatch.audit.words import KILLED, WALLTIME, is_number

#: Seconds by which a time of a jobs file may be off.
_ROUNDED = 1e-6
#: Name, values that it may have, by how much it may be off.
Sum = tuple[str, tuple[float, ...], float]


def expected_sums(case: Case, found: Mapping[str, Any], *, is_json: bool) -> Iterator[Sum]:
    """Yield each sum as the rows give it; of what is not known (hosts away, other clocks), nothing."""
    yield from _counts(case)
    yield from _times(case)
    if case.embedded:
        for name in ("nb_grouped_switches", "nb_machine_switches", "time_sleeping", "consumed_joules"):
            yield name, (0.0,), 0
        for name in ("time_switching_off", "time_switching_on", *(() if case.away else ("time_unavailable",))):
            yield name, (0.0,), 0
    # Batsim 5 counts up to the last change of a host only, and Batsim 4 takes what was away out.
    if is_json or (not case.embedded and (case.away or found.get("time_unavailable"))):
        return
    busy, slack = case.occupation.busy, 3 * _ROUNDED * (1 + float(case.rows.hosts.sizes[case.rows.ran].sum()))
    slack += 1e-12 * busy
    if not case.away:
        yield "time_computing", (busy,), slack
        # A host is idle up to the last time that it is used.
        yield "time_idle", (float(case.occupation.until.sum()) - busy,), slack
    elif case.course is not None and case.course.complete:
        # A host that is away does not compute. Whatever it does, it does something up to its last change.
        others = [found.get(name) for name in ("time_computing", "time_unavailable")]
        rest = sum(value for value in others if is_number(value))
        yield "time_idle", (_last_changes(case) - rest,), slack


def _last_changes(case: Case) -> float:
    """Return the sum over hosts of when each computed, idled or was away for another reason last, s."""
    last = np.zeros(max(case.machine.size, len(case.occupation.until)))
    last[: len(case.occupation.until)] = case.occupation.until
    away: dict[int, list[float]] = {}
    for outage in case.course.outages if case.course is not None else ():
        for host in (host for host in range(case.machine.size) if outage.mask >> host & 1):
            changes = away.setdefault(host, [])
            if outage.back == bool(len(changes) % 2):
                changes.append(outage.earliest)
    for host, changes in away.items():
        rows = case.rows.hosts.inside(host, host)[0].row
        times = np.concatenate((case.rows.start[rows], case.rows.left[rows], changes))
        # An odd number of changes lies before what happens while the host is away.
        there = np.searchsorted(changes, times, side="right") % 2 == 0
        last[host] = max(changes[-1] if changes else 0.0, float(times[there].max(initial=0.0)))
    return float(last.sum())


def _counts(case: Case) -> Iterator[Sum]:
    rows, embedded = case.rows, case.embedded
    count, started, good = len(rows), int(rows.ran.sum()), int(rows.success.sum())
    dead = int(rows.is_state(KILLED, WALLTIME).sum())
    yield "nb_jobs", (count,), 0
    yield "nb_jobs_finished", (started,), 0
    yield "nb_jobs_rejected", (count - started,), 0
    yield "nb_jobs_success", (good,), 0
    # Batsim 4 counts the jobs that failed, and the storage hosts, too.
    yield "nb_jobs_killed", (started - good,) if embedded else (dead, started - good), 0
    yield "success_rate", (good / max(count, 1),), _ROUNDED
    hosts = len(case.machine.names)
    yield "nb_computing_machines", (hosts,) if embedded else (case.machine.size, hosts), 0


def _times(case: Case) -> Iterator[Sum]:
    ran, count = case.rows.ran, len(case.rows)
    started = int(ran.sum())
    start, finish, submission = case.rows.start[ran], case.rows.finish[ran], case.rows.submission[ran]
    run, wait, turnaround = finish - start, start - submission, finish - submission
    yield "makespan", (float(finish.max(initial=0.0)),), 2 * _ROUNDED
    for name, values in (("waiting", wait), ("turnaround", turnaround)):
        yield f"max_{name}_time", (float(values.max(initial=0.0)),), 3 * _ROUNDED
        yield f"mean_{name}_time", _means(values, started, count, case), 3 * _ROUNDED + _relative(values)
    with np.errstate(divide="ignore", invalid="ignore"):
        slowdown = np.where(run > 0, turnaround / run, math.inf)
        # What a slowdown may be off by, since the two times are rounded; of no length, it is unknown.
        unsure = np.where(run > _ROUNDED, (1 + slowdown) * 2 * _ROUNDED / np.maximum(run - _ROUNDED, 1e-12), math.inf)
        if case.embedded:
            unsure = np.where(np.isfinite(unsure), unsure, slowdown)
    if case.embedded or np.isfinite(unsure).all():
        off = 2 * _ROUNDED + _relative(slowdown) * 10
        yield "max_slowdown", (float(slowdown.max(initial=0.0)),), off + float(unsure.max(initial=0.0))
        yield "mean_slowdown", _means(slowdown, started, count, case), off + float(unsure.sum()) / max(started, 1)


def _means(values: Floats, started: int, count: int, case: Case) -> tuple[float, ...]:
    """Return a mean over all jobs, as Batsim 4 and the embedded engine have it, or also over those that started."""
    total = float(values.sum())
    whole = total / max(count, 1)
    return (whole,) if case.embedded else (total / max(started, 1), whole)


def _relative(values: Floats) -> float:
    """Return what sums of such numbers may be off by in floating point."""
    most = float(values.max(initial=0.0))
    return 1e-12 * most if math.isfinite(most) else 0.0
