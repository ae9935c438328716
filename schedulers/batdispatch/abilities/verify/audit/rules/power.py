"""What hosts burn, and when they sleep."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.verify.audit.case import Case, Faults, rule
from batdispatch.abilities.verify.audit.findings import Fault, part
from batdispatch.abilities.verify.audit.power_states import (
    PRINT,
    PowerCourse,
    changes,
    courses_of,
    given_series,
    options_of_powered,
    sums_of,
)

#: Joules by which sums of printed numbers may miss.
_JOULES = 1e-3


@rule("hosts", name="asleep")
def asleep(case: Case) -> Faults:
    """No job runs on a host from when it is told to sleep until it is awake."""
    rows, path = case.rows, case.folder / "pstate_changes.csv"
    hosts = rows.hosts.ordered()
    for host, begin, end in _absences(path) if path.is_file() else ():
        on_it = hosts.row[(hosts.first <= host) & (host <= hosts.last)]
        slack = PRINT * max(end if end < np.inf else begin, 1.0)
        for row in on_it[(case.started[on_it] < end - slack) & (rows.left[on_it] > begin + slack)].tolist():
            yield Fault(f"the host sleeps or switches from {begin:g} s to {end:g} s", row, host=case.machine.name(host))


def _absences(path: Path) -> Iterator[tuple[int, float, float]]:
    """Yield each host and the time that it sleeps and switches, as pstate_changes.csv says."""
    since: dict[int, float] = {}
    waking: set[int] = set()
    for time, listed, state in changes(path):
        for host in listed:
            if state == -2:
                since[host] = time
            elif host in since and state == -1:
                waking.add(host)
            elif host in waking:
                waking.discard(host)
                yield host, since.pop(host), time
    for host, begin in since.items():
        yield host, begin, np.inf


@rule("rows", name="joules")
def joules(case: Case) -> Faults:
    """The energy of all hosts never falls, and a job's is no more than what all hosts burnt while it ran."""
    path, rows = case.folder / "consumed_energy.csv", case.rows
    if not path.is_file() or not (rows.ran & (rows.energy >= 0)).any():
        return
    times, burnt = _energies(path).T
    if not (np.isfinite(times).all() and np.isfinite(burnt).all()):
        yield Fault("consumed_energy.csv: a time or an energy is not finite")
    if (np.diff(burnt) < -_JOULES).any():
        yield Fault(f"consumed_energy.csv: the energy falls at {times[1:][np.diff(burnt) < -_JOULES][0]:.6f} s")
    for row in np.flatnonzero(rows.ran & (rows.energy >= 0)).tolist():
        first = np.searchsorted(times, rows.start[row] - 1e-6)
        last = np.searchsorted(times, rows.left[row] + 2e-6, side="right") - 1
        if last < first or rows.energy[row] > burnt[last] - burnt[first] + _JOULES + 1e-6 * rows.energy[row]:
            yield Fault(f"consumed_energy is {rows.energy[row]:g} J, more than all hosts burnt while it ran", row)


def _energies(path: Path) -> NDArray[np.float64]:
    """Return the times, s, and the joules of all hosts until then, float64 [row, 2]."""
    with path.open(newline="") as file:
        return np.array([each[:2] for each in list(csv.reader(file))[1:]], dtype=np.float64).reshape(-1, 2)


@rule("rows", name="watts")
def watts(case: Case) -> Faults:
    """Where jobs only wait, energies are the sum of watts times seconds over the power states of the hosts."""
    paths, rows = [case.folder / name for name in ("pstate_changes.csv", "consumed_energy.csv")], case.rows
    ran = np.flatnonzero(rows.ran & (rows.energy >= 0))
    machine = case.machine
    if not all(path.is_file() for path in paths) or not machine.exclusive or machine.storage or not len(ran):
        return
    if any(case.jobs[row] is None or not _only_waits(case, row) for row in ran.tolist()):
        return
    courses = courses_of(case)
    steady = np.array([course.idle() for course in courses])
    for row in ran.tolist():
        power = float(steady[case.compute_hosts(row)].sum())
        expected = power * (rows.finish[row] - rows.start[row])
        # A job that took no time, which burns nothing, is written like one of 10 us.
        slack = _JOULES + 1e-6 * expected + power * (rows.finish[row] - rows.left[row])
        # Not a number: a host computes in several power states.
        if abs(rows.energy[row] - expected) > slack:
            yield Fault(f"consumed_energy is {rows.energy[row]:g} J, its hosts burn {expected:g} J in this time", row)
    begin, end = float(rows.submission.min()), float(rows.left[ran].max())
    burnt, slack = np.array([course.burnt(begin, end) for course in courses]).sum(axis=0).tolist()
    total = float(sums_of(case).get("consumed_joules", np.nan))
    if abs(total - burnt) > slack + _JOULES + 1e-6 * burnt:
        yield Fault(f"schedule.csv: consumed_joules is {total:g}, the hosts burn {burnt:g} J in their power states")


def _only_waits(case: Case, row: int) -> bool:
    job = case.jobs[row]
    profile = None if job is None else case.workload.profiles.get(job.profile)
    return profile is not None and profile.get("type") == "delay"


@rule("rows", "result", name="power cap")
def power_cap(case: Case) -> Faults:
    """Under `powered` with a cap, integrated energy never rises faster than the cap allows."""
    path = case.folder / "consumed_energy.csv"
    if _stated(case) == "none" or not path.is_file():
        return
    if part(case.said, "engine").get("energy") != "exact":
        case.skipped["power cap"] = "the energy is charged as Batsim does (say --energy exact)"
        return
    caps = _caps(case)
    if caps is None:
        case.skipped["power cap"] = f"{_stated(case)} is not at hand, or has no such form"
        return
    times, burnt = _energies(path).T
    since, most = np.array(caps).T
    for begin, end, joules in zip(times, times[1:], np.diff(burnt), strict=False):
        among = most[max(np.searchsorted(since, begin, side="right") - 1, 0) : np.searchsorted(since, end)]
        # Between two rows no host changes what it burns, but where a job changes its load.
        if joules > float(among.max(initial=most[0])) * (end - begin) * (1 + 1e-6) + _JOULES:
            yield Fault(f"{joules / (end - begin):g} W from {begin:g} s to {end:g} s, the cap is {among.max():g} W")


def is_beyond_cap(case: Case, units: int) -> bool:
    """Return whether a job of so many units may find the cap too low: its hosts at work, all others idle."""
    caps = None if _stated(case) == "none" else _caps(case)
    if caps is None:
        return _stated(case) != "none"
    options, courses = options_of_powered(case), [PowerCourse(*stated) for stated in case.machine.power]
    watts = [course.range() for course in courses]
    spans = sorted((full - idle for idle, full in watts), reverse=True)
    # What hosts burn that wake up may be more; where the field of a job says it, only the layer knows.
    waking = options.get("sleep", "none") != "none" or _begin_asleep(case, courses)
    unknown = waking or bool(options.get("watts"))
    return unknown or sum(idle for idle, _ in watts) + units * spans[0] > min(cap for _, cap in caps)


def _begin_asleep(case: Case, courses: list[PowerCourse]) -> bool:
    """Return whether hosts sleep from the beginning on."""
    path = case.folder / "pstate_changes.csv"
    first = (row for row in changes(path) if row[0] == 0 and row[2] >= 0) if path.is_file() else ()
    return any(courses[host].sleeps_in(state) for _, listed, state in first for host in listed)


def _stated(case: Case) -> str:
    """Return the cap of `powered` as it was given; `none`: there is none."""
    return options_of_powered(case).get("cap", "none")


def _caps(case: Case) -> list[tuple[float, float]] | None:
    """Return from when on, s, the cap is how many watts; None: its file is not there, or has another form."""
    return given_series(case, _stated(case))
