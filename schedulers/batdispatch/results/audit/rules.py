"""An audit of a run's files that shares no code with the ledger: it believes nothing but these and the run's inputs.

Times in a jobs file have six decimals, so two of them that should be equal differ by up to 1e-6, and a difference of
two by up to 1.5e-6. `rows.TOLERANCE` covers that; `RUNTIME_TOLERANCE` also covers a simulator's clock, whose precision
at large times is coarser.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from batdispatch.core.errors import InputError
from batdispatch.core.job import Job, JobState
from batdispatch.core.machine import Machine
from batdispatch.core.profiles import runtime_of, spreads_freely
from batdispatch.results.audit.capacity import exclusive_conflicts, shared_conflicts
from batdispatch.results.audit.findings import Findings, Violation
from batdispatch.results.audit.requests import check_dependencies, check_licences, check_lineage, check_places
from batdispatch.results.audit.rows import TOLERANCE, Mask, Rows
from batdispatch.results.hostsets import Intervals, parse_many
from batdispatch.results.lineage import Lineage, unjoined
from batdispatch.results.usage import JobFacts, job_facts, slots_of

#: Seconds within which a run time counts as its profile's, or as its walltime.
RUNTIME_TOLERANCE = 1e-4


def audit(
    frame: pd.DataFrame,
    machine: Machine,
    jobs: Sequence[Job],
    profiles: Mapping[str, Mapping[str, Any]],
    units: Callable[[Intervals], NDArray[np.int64]],
    *,
    lineage: Lineage | None = None,
    dynamic_jobs: bool = False,
    limit: int = 100,
) -> Findings:
    """Check a run's jobs against the workload and the machine.

    Args:
        frame: the jobs file, from `frame.read_jobs`.
        machine: of the platform the run was on.
        jobs: of the workload.
        profiles: of the workload, for the run time that delays must have.
        units: gives the units on each host slot of all rows' intervals, see `usage.read_units`.
        lineage: which rows continue others, from `lineage.read_lineage`; None: none does.
        dynamic_jobs: whether jobs beyond the workload's may appear.
        limit: most violations kept of each kind.

    Raises:
        InputError: an allocation is malformed.
    """
    findings = Findings(limit=limit)
    lineage = unjoined(len(frame)) if lineage is None else lineage
    facts = job_facts(frame, jobs, lineage)
    try:
        intervals = parse_many(frame["allocated_resources"].tolist())
    except InputError as problem:
        row = int(problem.place.removeprefix("row ")) if problem.place else 0
        message = str(problem).removeprefix(f"{problem.place}: ")
        raise InputError(message, source="jobs file", place=f"job {frame['job_id'].iloc[row]!r}") from None
    rows = Rows(frame, findings)
    _presence(rows, facts, jobs, dynamic_jobs)
    _request(rows, facts)
    _times(rows)
    _durations(rows, facts, profiles)
    slot_units = units(intervals)
    _allocation(rows, intervals, slot_units, machine, _any_size(facts, profiles))
    _capacity(rows, intervals, slot_units, machine, facts)
    check_places(rows, intervals, slot_units, machine, facts)
    check_licences(rows, machine, facts)
    check_dependencies(rows, facts, lineage)
    check_lineage(rows, lineage)
    return findings


def _presence(rows: Rows, facts: JobFacts, jobs: Sequence[Job], dynamic_jobs: bool) -> None:
    """Every job of the workload stands in the file once, and nothing else does."""
    seen: dict[tuple[str, str], int] = {}
    twice = np.zeros(len(rows.ids), dtype=bool)
    for row, key in enumerate(zip(rows.workloads, rows.ids, strict=True)):
        twice[row] = key in seen
        seen.setdefault(key, row)
    rows.report("job twice", twice, lambda row: "stands in the jobs file more than once", rows.start)
    unknown = np.array([job is None for job in facts.jobs], dtype=bool)
    if dynamic_jobs:
        rows.findings.skipped["unknown job"] = "jobs were registered while the simulation ran"
    else:
        rows.report("unknown job", unknown, lambda row: "is not in the workload", rows.submission)
    rows.findings.checked.append("missing job")
    present = {job.id for job in facts.jobs if job is not None}
    for job in jobs:
        if job.id not in present:
            rows.findings.add(
                Violation("missing job", "is in the workload and not in the jobs file", job=job.id, time=job.submission)
            )


def _request(rows: Rows, facts: JobFacts) -> None:
    """What was asked for is what the workload says."""
    known = np.array([job is not None for job in facts.jobs], dtype=bool)

    def asked(value: Callable[[Job], float], otherwise: NDArray[Any]) -> NDArray[np.float64]:
        pairs = zip(facts.jobs, otherwise.tolist(), strict=True)
        return np.array([value(job) if job is not None else own for job, own in pairs], dtype=np.float64)

    submission = asked(lambda job: job.submission, rows.submission)
    size = asked(lambda job: job.units, rows.size)
    walltime = asked(lambda job: job.walltime, rows.walltime)
    rows.report(
        "submission",
        known & ~(np.abs(rows.submission - submission) <= TOLERANCE),
        lambda row: f"submitted at {rows.submission[row]:.6f}, the workload says {submission[row]:.6f}",
        rows.submission,
    )
    rows.report(
        "request",
        known & (rows.size != size),
        lambda row: f"requested_number_of_resources is {rows.size[row]}, the workload says {size[row]:.0f}",
    )
    with np.errstate(invalid="ignore"):
        # Two infinities are equal and their difference is none.
        same = (rows.walltime == walltime) | (np.abs(rows.walltime - walltime) <= TOLERANCE)
    rows.report(
        "walltime asked",
        known & ~same,
        lambda row: f"requested_time is {rows.walltime[row]:g}, the workload says {walltime[row]:g}",
    )


def _times(rows: Rows) -> None:
    """The times of a row agree with each other."""
    ran = rows.ran
    rows.report(
        "early start",
        ran & (rows.start < rows.submission - TOLERANCE),
        lambda row: f"started at {rows.start[row]:.6f}, before its submission at {rows.submission[row]:.6f}",
        rows.start,
    )
    rows.report(
        "negative run time",
        ran & (rows.finish < rows.start - TOLERANCE),
        lambda row: f"finished at {rows.finish[row]:.6f}, before its start at {rows.start[row]:.6f}",
        rows.start,
    )
    for kind, given, expected in (
        ("execution time", rows.execution, rows.finish - rows.start),
        ("waiting time", rows.waiting, rows.start - rows.submission),
        ("turnaround time", rows.turnaround, rows.finish - rows.submission),
    ):
        # Written so that a time that is not there is wrong, too.
        close = np.abs(given - expected) <= TOLERANCE

        def message(row: int, given: Any = given, expected: Any = expected) -> str:
            return f"is {given[row]:.6f}, the times of the row give {expected[row]:.6f}"

        rows.report(kind, ran & ~close, message, rows.start)
    ended_well = rows.state == JobState.COMPLETED_SUCCESSFULLY.value
    rows.report(
        "state",
        rows.success != ended_well,
        lambda row: f"success is {int(rows.success[row])} while the final state is {rows.state[row]}",
        rows.finish,
    )
    held = ~np.isnan(rows.start) | ~np.isnan(rows.finish)
    rows.report("rejected and run", ~ran & held, lambda row: "was rejected and has times", rows.start)


def _durations(rows: Rows, facts: JobFacts, profiles: Mapping[str, Mapping[str, Any]]) -> None:
    """No job outlives its walltime, and each ran for as long as its profile says."""
    run = rows.finish - rows.start
    rows.report(
        "walltime exceeded",
        rows.ran & (run > rows.walltime + RUNTIME_TOLERANCE),
        lambda row: f"ran for {run[row]:.6f} s, its walltime is {rows.walltime[row]:g} s",
        rows.finish,
    )
    at_walltime = rows.state == JobState.COMPLETED_WALLTIME_REACHED.value
    rows.report(
        "walltime not reached",
        at_walltime & (run < rows.walltime - RUNTIME_TOLERANCE),
        lambda row: f"was ended at its walltime of {rows.walltime[row]:g} s after {run[row]:.6f} s",
        rows.finish,
    )
    by_profile = {name: runtime_of(profile, profiles) for name, profile in profiles.items()}
    expected = np.array(
        [(by_profile.get(job.profile) if job is not None else None) or np.nan for job in facts.jobs], dtype=np.float64
    )
    complete = np.isin(rows.state, (JobState.COMPLETED_SUCCESSFULLY.value, JobState.COMPLETED_FAILED.value))
    rows.report(
        "run time",
        complete & (np.abs(run - expected) > RUNTIME_TOLERANCE),
        lambda row: f"ran for {run[row]:.6f} s, its profile takes {expected[row]:.6f} s",
        rows.finish,
    )
    if np.isnan(expected).any():
        some = f"{int(np.isnan(expected).sum())} jobs have profiles whose time depends on the platform or on messages"
        rows.findings.skipped["run time"] = some
    rows.report(
        "cut short",
        at_walltime & (expected < rows.walltime - RUNTIME_TOLERANCE),
        lambda row: f"was ended at its walltime of {rows.walltime[row]:g} s, its profile takes {expected[row]:.6f} s",
        rows.finish,
    )


def _host_name(machine: Machine, host: int) -> str:
    return machine.hosts[host].name if 0 <= host < len(machine.hosts) else f"#{host}"


def _any_size(facts: JobFacts, profiles: Mapping[str, Mapping[str, Any]]) -> Mask:
    """Return the rows whose profile divides its work over any number of hosts: Batsim then ignores the number asked."""
    named = {job.profile for job in facts.jobs if job is not None}
    spreads = {name: spreads_freely(profiles.get(name, {}), profiles) for name in sorted(named)}
    return np.array([job is not None and spreads[job.profile] for job in facts.jobs], dtype=bool)


def _allocation(rows: Rows, intervals: Intervals, units: NDArray[np.int64], machine: Machine, any_size: Mask) -> None:
    """A job holds as many units as it asked for, on different hosts that exist and run jobs."""
    row_of_slot = np.repeat(np.arange(intervals.rows), intervals.sizes)
    held = np.bincount(row_of_slot, weights=units, minlength=intervals.rows).astype(np.int64)
    rows.report(
        "allocation size",
        rows.ran & (held != rows.size) & ~(any_size & (held > 0)),
        lambda row: f"holds {held[row]} units, asked for {rows.size[row]}",
        rows.start,
    )
    rows.report("rejected and placed", ~rows.ran & (held > 0), lambda row: "was rejected and holds hosts")
    order = np.lexsort((intervals.first, intervals.row))
    row, first, last = intervals.row[order], intervals.first[order], intervals.last[order]
    repeated = np.zeros(intervals.rows, dtype=bool)
    repeated[row[1:][(row[1:] == row[:-1]) & (first[1:] <= last[:-1])]] = True
    rows.report("host twice", repeated, lambda row: "its allocation names a host more than once", rows.start)
    is_compute = machine.classes >= 0
    usable = np.concatenate(([0], np.cumsum(is_compute)))
    size = len(machine.hosts)
    good = usable[np.minimum(intervals.last + 1, size)] - usable[np.minimum(intervals.first, size)]
    rows.findings.checked.append("host")
    for index in np.flatnonzero(good != intervals.length).tolist():
        owner = int(intervals.row[index])
        for host in range(int(intervals.first[index]), int(intervals.last[index]) + 1):
            if host >= size or not is_compute[host]:
                problem = "is no compute host" if host < size else f"is not on the platform, which has {size} hosts"
                name = _host_name(machine, host)
                time = float(rows.start[owner]) if rows.ran[owner] else None
                rows.findings.add(Violation("host", problem, job=rows.ids[owner], host=name, time=time))
                break


def _capacity(rows: Rows, intervals: Intervals, units: NDArray[np.int64], machine: Machine, facts: JobFacts) -> None:
    """No host carries more than it can at any time."""
    rows.findings.checked.append("capacity")
    start = np.where(rows.ran, rows.start, np.nan)
    if machine.exclusive:
        for one, other, host, time in exclusive_conflicts(intervals, start, rows.finish, TOLERANCE):
            message = f"is still held by job {rows.ids[other]} until {rows.finish[other]:.6f}"
            rows.findings.add(Violation("capacity", message, rows.ids[one], _host_name(machine, host), time))
        return
    try:
        slots = slots_of(intervals, units, machine, facts.asking)
    except InputError as problem:
        rows.findings.add(Violation("capacity", str(problem)))
        return
    conflicts = shared_conflicts(slots, machine.capacity, start, rows.finish, TOLERANCE)
    for row, host, axis, used, time in conflicts:
        limit = int(machine.capacity[host, axis])
        message = f"{machine.resources[axis]} in use {used}, the host has {limit}"
        rows.findings.add(Violation("capacity", message, rows.ids[row], _host_name(machine, host), time))
