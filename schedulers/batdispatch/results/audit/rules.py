"""An audit of a run's files that shares no code with the ledger: it believes nothing but these and the run's inputs.

Times in a jobs file have six decimals, so two of them that should be equal differ by up to 1e-6, and a difference of
two by up to 1.5e-6. `rows.TOLERANCE` covers that; `RUNTIME_TOLERANCE` also covers a simulator's clock, whose precision
at large times is coarser.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.errors import InputError
from batdispatch.core.hostsets import Intervals
from batdispatch.core.job import JobState
from batdispatch.core.machine import Machine
from batdispatch.core.profiles import spreads_freely
from batdispatch.results.audit.beginning import Beginning
from batdispatch.results.audit.capacity import exclusive_conflicts, shared_conflicts
from batdispatch.results.audit.decided import check_course, check_kills, check_lineage_told, check_rejections
from batdispatch.results.audit.exchange import Clock, Course, Heard, listen
from batdispatch.results.audit.findings import Findings, Violation
from batdispatch.results.audit.idling import check_unrecorded
from batdispatch.results.audit.jobs import Facts, JobTable, join
from batdispatch.results.audit.outcomes import Outcomes
from batdispatch.results.audit.queues import check_queues, check_reservations
from batdispatch.results.audit.requests import (
    check_arrays,
    check_dependencies,
    check_licences,
    check_lineage,
    check_places,
)
from batdispatch.results.audit.rows import TOLERANCE, Mask, Rows, Units
from batdispatch.results.audit.setting import Setting
from batdispatch.results.columns import RunColumns
from batdispatch.results.lineage import Lineage, unjoined
from batdispatch.results.usage import slots_in_blocks

#: Seconds within which a run time counts as its profile's, or as its walltime.
RUNTIME_TOLERANCE = 1e-4


@dataclass(frozen=True)
class Audited:
    """What the rules of a jobs file leave for others: the rows as they read them.

    Attributes:
        rows: the columns, with the findings.
        intervals: the hosts of each row's job.
        facts: the job of each row, those that were registered while the simulation ran included.
        course: what the exchange says of the simulation; None: there is none. What it says of each job has been used.
        setting: what the run was given.
    """

    rows: Rows
    intervals: Intervals
    facts: Facts
    course: Course | None
    setting: Setting


def audit(
    columns: RunColumns,
    machine: Machine,
    jobs: JobTable,
    profiles: Mapping[str, Mapping[str, Any]],
    units: Callable[[Intervals], NDArray[np.int64]],
    *,
    lineage: Lineage | None = None,
    result: Mapping[str, Any] | None = None,
    exchange: Path | None = None,
    beginning: Beginning | None = None,
    limit: int = 100,
) -> Audited:
    """Check a run's jobs against the workload, the machine, and what was decided.

    Args:
        columns: the jobs file, from `jobs_file.read_columns`.
        machine: of the platform the run was on.
        jobs: of the workload.
        profiles: of the workload, for the run time and the return code that jobs must have.
        units: gives the units on each host slot of all rows' intervals, see `usage.read_units`.
        lineage: which rows continue others, from `lineage.read_lineage`; None: none does.
        result: the run's result.json.
        exchange: the recording of the run; None: there is none.
        beginning: its first message, if that could be read.
        limit: most violations kept of each kind.

    Raises:
        InputError: an allocation is malformed.
    """
    findings = Findings(limit=limit)
    lineage = unjoined(len(columns)) if lineage is None else lineage
    setting = Setting(machine, profiles, result)
    intervals = columns.hosts
    rows = Rows(columns, findings)
    placed = Units(intervals, units(intervals))
    facts = join(jobs, zip(rows.workloads, rows.ids, strict=True), lineage)
    heard = None
    if exchange is not None:
        heard = listen(exchange, rows, facts.jobs, placed, setting, Clock(setting.exact), beginning)
    _presence(rows, facts, heard, dynamic_jobs=bool(setting.result.get("dynamic_jobs")))
    _workload_names(rows, facts)
    if heard is not None and heard.jobs:
        facts = facts._replace(jobs=facts.jobs.with_registered(heard.jobs))
    _request(rows, facts)
    _profiles(rows, facts)
    _times(rows)
    _stretch(rows)
    _energy(rows, setting)
    _durations(rows, facts, setting.outcomes({} if heard is None else heard.profiles))
    _allocation(rows, intervals, placed.held, machine, _any_size(facts, profiles))
    _capacity(rows, intervals, placed.slots, machine, facts)
    check_places(rows, intervals, placed, machine, facts)
    check_queues(rows, intervals, machine, facts)
    check_reservations(rows, intervals, setting, facts)
    check_licences(rows, machine, facts)
    check_dependencies(rows, facts, lineage)
    check_arrays(rows, facts, lineage)
    check_lineage(rows, lineage)
    if heard is not None:
        check_course(rows, heard)
    elif "--events" not in str(setting.result.get("command")):
        check_unrecorded(rows, facts, setting)
    check_kills(rows, heard)
    check_rejections(rows, facts, lineage, setting)
    check_lineage_told(rows, facts, lineage, heard)
    return Audited(rows, intervals, facts, None if heard is None else heard.course, setting)


def _presence(rows: Rows, facts: Facts, registered: Heard | None, *, dynamic_jobs: bool) -> None:
    """Every job of the workload, and every registered one, stands in the file once, and nothing else does."""
    twice = np.zeros(len(rows.ids), dtype=bool)
    twice[rows.row_of.repeated()] = True
    rows.report("job twice", twice, lambda row: "stands in the jobs file more than once", rows.start)
    unknown = ~facts.jobs.known
    if registered is None and dynamic_jobs:
        rows.findings.skipped["unknown job"] = (
            "jobs were registered while the simulation ran, and no exchange says which"
        )
    else:
        if registered is not None:
            unknown[list(registered.jobs)] = False
        rows.report(
            "unknown job",
            unknown,
            lambda row: "is neither in the workload nor registered while the simulation ran",
            rows.submission,
        )
    rows.findings.checked.append("missing job")
    missing = np.ones(len(facts.jobs.table), dtype=bool)
    missing[facts.jobs.at[facts.jobs.at >= 0]] = False
    for job in map(facts.jobs.table.__getitem__, np.flatnonzero(missing).tolist()):
        rows.findings.add(
            Violation("missing job", "is in the workload and not in the jobs file", job=job.id, time=job.submission)
        )


def _request(rows: Rows, facts: Facts) -> None:
    """What was asked for is what the workload says."""
    known = facts.jobs.known
    submission = facts.jobs.column("submission", rows.submission)
    size = facts.jobs.column("units", rows.size)
    walltime = facts.jobs.column("walltime", rows.walltime)
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


def _profiles(rows: Rows, facts: Facts) -> None:
    """Each job has the profile that it was submitted with."""
    expected = [
        name if asked is None else asked for asked, name in zip(facts.jobs.profiles(), rows.profiles, strict=True)
    ]
    # A folder whose files name no profiles has none to be wrong about.
    named = any(rows.profiles)
    rows.report(
        "profile",
        np.array([named and a != b for a, b in zip(rows.profiles, expected, strict=True)], dtype=bool),
        lambda row: f"is {rows.profiles[row]!r}, the job has {expected[row]!r}",
    )


def _workload_names(rows: Rows, facts: Facts) -> None:
    """The workload's jobs carry its name; those that were registered are found by theirs in the exchange."""
    # Jobs of one file have one workload. In what Batsim wrote it may have any name.
    known = facts.jobs.known
    own = Counter(rows.workloads[row] for row in np.flatnonzero(known).tolist())
    usual = own.most_common(1)[0][0] if own else ""
    wrong = known & np.array([name != usual for name in rows.workloads], dtype=bool)
    for row in np.flatnonzero(wrong).tolist():
        job = facts.jobs[row]
        wrong[row] = job is not None and rows.workloads[row] != job.id.rpartition("!")[0]
    rows.report(
        "workload name",
        wrong,
        lambda row: f"is {rows.workloads[row]!r}, the other jobs of the workload have {usual!r}",
    )


def _stretch(rows: Rows) -> None:
    """The stretch is the turnaround time over the run time."""
    run, turnaround = rows.finish - rows.start, rows.finish - rows.submission
    slack = 1.5e-6
    with np.errstate(divide="ignore", invalid="ignore"):
        least = (turnaround - slack) / (run + slack) - slack
        most = np.where(run > slack, (turnaround + slack) / (run - slack) + slack, np.inf)
        # What takes no time has no stretch, and is written in several ways.
        inside = ((rows.stretch >= least) & (rows.stretch <= most)) | (np.isnan(rows.stretch) & (run <= slack))
        exact = turnaround / run
    rows.report(
        "stretch",
        rows.ran & ~inside,
        lambda row: f"is {rows.stretch[row]:.6f}, the times of the row give {exact[row]:.6f}",
        rows.start,
    )


def _energy(rows: Rows, setting: Setting) -> None:
    """A job's energy is -1 where none was counted, as always in the embedded engine."""
    rows.report(
        "energy",
        rows.ran & (rows.energy != -1) & (setting.embedded | ~(rows.energy >= 0)),
        lambda row: f"consumed_energy is {rows.energy[row]:g} J, expected -1, since none was counted",
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


def _durations(rows: Rows, facts: Facts, outcomes: Outcomes) -> None:
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
    endings = [
        None if profile is None else outcomes.of(workload, profile)
        for profile, workload in zip(facts.jobs.profiles(), rows.workloads, strict=True)
    ]
    expected = np.array([(end and end.seconds) or np.nan for end in endings], dtype=np.float64)
    codes = np.array([np.nan if end is None or end.code is None else end.code for end in endings], dtype=np.float64)
    for state, wrong in ((JobState.COMPLETED_SUCCESSFULLY, codes != 0), (JobState.COMPLETED_FAILED, codes == 0)):
        rows.report(
            "return code",
            rows.is_state(state) & wrong & ~np.isnan(codes),
            lambda row: f"is {rows.state[row]}, its profile returns {codes[row]:.0f}",
            rows.finish,
        )
    complete = rows.is_state(JobState.COMPLETED_SUCCESSFULLY, JobState.COMPLETED_FAILED)
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

    with np.errstate(invalid="ignore"):
        outlived = rows.is_state(JobState.COMPLETED_KILLED) & (run > expected + RUNTIME_TOLERANCE)
    rows.report(
        "killed late",
        outlived,
        lambda row: f"was killed after {run[row]:.6f} s, its profile takes {expected[row]:.6f} s",
        rows.finish,
    )


def _host_name(machine: Machine, host: int) -> str:
    return machine.hosts[host].name if 0 <= host < len(machine.hosts) else f"#{host}"


def _any_size(facts: Facts, profiles: Mapping[str, Mapping[str, Any]]) -> Mask:
    """Return the rows whose profile divides its work over any number of hosts: Batsim then ignores the number asked."""
    asked = facts.jobs.profiles()
    named = {name for name in asked if name is not None}
    spreads = {name: spreads_freely(profiles.get(name, {}), profiles) for name in sorted(named)}
    return np.array([name is not None and spreads[name] for name in asked], dtype=bool)


def _allocation(rows: Rows, intervals: Intervals, held: NDArray[np.int64], machine: Machine, any_size: Mask) -> None:
    """A job holds as many units as it asked for, on different hosts that exist and run jobs."""
    rows.report(
        "allocation size",
        rows.ran & (held != rows.size) & ~(any_size & (held > 0)),
        lambda row: f"holds {held[row]} units, asked for {rows.size[row]}",
        rows.start,
    )
    rows.report("rejected and placed", ~rows.ran & (held > 0), lambda row: "was rejected and holds hosts")
    repeated = np.zeros(intervals.rows, dtype=bool)
    repeated[_overlapping(intervals)] = True
    rows.report("host twice", repeated, lambda row: "its allocation names a host more than once", rows.start)
    is_compute = machine.classes >= 0
    usable = np.concatenate(([0], np.cumsum(is_compute)))
    size = len(machine.hosts)
    wrong = [
        low + index
        for low, part in intervals.blocks()
        for index in np.flatnonzero(
            usable[np.minimum(part.last + 1, size)] - usable[np.minimum(part.first, size)] != part.length
        ).tolist()
    ]
    rows.findings.checked.append("host")
    for index in wrong:
        owner = int(intervals.row[index])
        for host in range(int(intervals.first[index]), int(intervals.last[index]) + 1):
            if host >= size or not is_compute[host]:
                problem = "is no compute host" if host < size else f"is not on the platform, which has {size} hosts"
                name = _host_name(machine, host)
                time = float(rows.start[owner]) if rows.ran[owner] else None
                rows.findings.add(Violation("host", problem, job=rows.ids[owner], host=name, time=time))
                break


def _overlapping(intervals: Intervals) -> NDArray[np.int32]:
    """Return the rows whose host sets name a host more than once, int32."""
    row, first, last = intervals.row, intervals.first, intervals.last
    # Hardly any host set is written otherwise than in order, and only those have to be put in order.
    unordered = row[1:][(row[1:] == row[:-1]) & (first[1:] <= last[:-1])]
    inside = np.flatnonzero(np.isin(row, unordered)) if len(unordered) else unordered
    order = inside[np.lexsort((first[inside], row[inside]))]
    row, first, last = row[order], first[order], last[order]
    again = (row[1:] == row[:-1]) & (first[1:] <= last[:-1])
    return np.unique(row[1:][again])


def _capacity(rows: Rows, intervals: Intervals, units: NDArray[np.int64], machine: Machine, facts: Facts) -> None:
    """No host carries more than it can at any time."""
    rows.findings.checked.append("capacity")
    start = np.where(rows.ran, rows.start, np.nan)
    if machine.exclusive:
        for one, other, host, time in exclusive_conflicts(intervals, start, rows.left, TOLERANCE):
            message = f"is still held by job {rows.ids[other]} until {rows.finish[other]:.6f}"
            rows.findings.add(Violation("capacity", message, rows.ids[one], _host_name(machine, host), time))
        return
    try:
        for slots in slots_in_blocks(intervals, units, machine, facts.asking):
            conflicts = shared_conflicts(slots, machine.capacity, start, rows.left, TOLERANCE)
            for row, host, axis, used, time in conflicts:
                limit = int(machine.capacity[host, axis])
                message = f"{machine.resources[axis]} in use {used}, the host has {limit}"
                rows.findings.add(Violation("capacity", message, rows.ids[row], _host_name(machine, host), time))
    except InputError as problem:
        rows.findings.add(Violation("capacity", str(problem)))
