"""What hosts burn, and when they sleep."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from batdispatch.audit.case import Case, Faults, rule
from batdispatch.audit.findings import Fault, part
from batdispatch.audit.hosts import read_host_sets
from batdispatch.audit.series import steps_of

#: Share of a time by which Batsim's print, which has six digits, may miss it.
_PRINT = 1e-5
#: Joules by which sums of printed numbers may miss.
_JOULES = 1e-3


@rule("hosts", name="asleep")
def asleep(case: Case) -> Faults:
    """No job runs on a host from when it is told to sleep until it is awake."""
    rows, path = case.rows, case.folder / "pstate_changes.csv"
    hosts = rows.hosts.ordered()
    for host, begin, end in _absences(path) if path.is_file() else ():
        on_it = hosts.row[(hosts.first <= host) & (host <= hosts.last)]
        slack = _PRINT * max(end if end < np.inf else begin, 1.0)
        for row in on_it[(case.started[on_it] < end - slack) & (rows.left[on_it] > begin + slack)].tolist():
            yield Fault(f"the host sleeps or switches from {begin:g} s to {end:g} s", row, host=case.machine.name(host))


def _absences(path: Path) -> Iterator[tuple[int, float, float]]:
    """Yield each host and the time that it sleeps and switches, as pstate_changes.csv says."""
    since: dict[int, float] = {}
    waking: set[int] = set()
    for time, listed, state in _changes(path):
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
    path, rows = case.folder / "pstate_changes.csv", case.rows
    ran = np.flatnonzero(rows.ran & (rows.energy >= 0))
    machine = case.machine
    if not path.is_file() or not machine.exclusive or machine.storage or not len(ran):
        return
    if any(case.jobs[row] is None or not _only_waits(case, row) for row in ran.tolist()):
        return
    courses = [_Course(*stated) for stated in machine.power]
    for time, listed, state in _changes(path):
        for host in listed:
            courses[host].change(time, state)
    steady = np.array([course.idle() for course in courses])
    for row in ran.tolist():
        expected = float(steady[case.compute_hosts(row)].sum()) * (rows.finish[row] - rows.start[row])
        # Not a number: a host computes in several power states.
        if abs(rows.energy[row] - expected) > _JOULES + 1e-6 * expected:
            yield Fault(f"consumed_energy is {rows.energy[row]:g} J, its hosts burn {expected:g} J in this time", row)
    begin, end = float(rows.submission.min()), float(rows.left[ran].max())
    burnt, slack = np.array([course.burnt(begin, end) for course in courses]).sum(axis=0).tolist()
    total = _total(case.folder / "schedule.csv")
    if abs(total - burnt) > slack + _JOULES + 1e-6 * burnt:
        yield Fault(f"schedule.csv: consumed_joules is {total:g}, the hosts burn {burnt:g} J in their power states")


def _only_waits(case: Case, row: int) -> bool:
    job = case.jobs[row]
    profile = None if job is None else case.workload.profiles.get(job.profile)
    return profile is not None and profile.get("type") == "delay"


def _total(path: Path) -> float:
    with path.open(newline="") as file:
        return float(next(csv.DictReader(file))["consumed_joules"])


def _changes(path: Path) -> Iterator[tuple[float, list[int], int]]:
    """Yield time, hosts and power state of the rows of pstate_changes.csv; below 0: that something is decided."""
    with path.open(newline="") as file:
        for time, listed, state in list(csv.reader(file))[1:]:
            sets = read_host_sets([listed])
            named = [host for a, b in zip(sets.first, sets.last, strict=True) for host in range(a, b + 1)]
            yield float(time), named, int(state)


def joules_by_state(case: Case) -> dict[str, float]:
    """Return what hosts burnt asleep and switching, from the first submission to the last end; empty: nobody knows."""
    path, rows = case.folder / "pstate_changes.csv", case.rows
    if not path.is_file():
        return {}
    if not rows.ran.any():
        return {"asleep": 0.0, "switching": 0.0}
    with (case.folder / "consumed_energy.csv").open(newline="") as file:
        moments = [float(row["time"]) for row in csv.DictReader(file) if row["event_type"] == "p"]
    changes, courses = list(_changes(path)), [_Course(*stated) for stated in case.machine.power]
    printed = [time for time, _, _ in changes]
    exact = printed[: len(changes) - len(moments)] + moments if len(changes) >= len(moments) else printed
    for (_, listed, state), time in zip(changes, exact, strict=True):
        for host in listed:
            courses[host].change(time, state)
    span = float(rows.submission.min()), float(rows.left[rows.ran].max())
    return {doing: sum(course.burnt_while(doing, *span) for course in courses) for doing in ("asleep", "switching")}


class _Course:
    """The power states of one host over time."""

    def __init__(self, stated: str, sleeps: str, cores: int) -> None:
        """Read what the platform states."""
        self._watts = [[float(word) for word in each.split(":")] for each in re.split(r"\s*,\s*", stated.strip(" ,"))]
        triples = [[int(word) for word in each.split(":")] for each in sleeps.split(",") if each.strip()]
        self._sleeps = {asleep: (down, up) for asleep, down, up in triples}
        self._cores = cores
        #: (from, watts from then on, seconds by which that may be wrong).
        self._steps: list[tuple[float, float, float]] = []
        #: What it does from each of these on.
        self._doing: list[str] = []
        self._now, self._switches = 0, False
        self._computing: set[int] = set()

    def change(self, time: float, state: int) -> None:
        """Take up a row about this host."""
        slack = _PRINT * time + 2e-3
        if state >= 0:
            if self._switches and state in self._sleeps:
                # The way down is known by where it leads.
                since, _, wrong = self._steps[-1]
                self._steps[-1] = since, self._through(self._sleeps[state][0]), wrong
            self._now, self._switches = state, False
            self._steps.append((time, self._watts[state][0], slack))
            self._doing.append("asleep" if state in self._sleeps else "")
            if state not in self._sleeps:
                self._computing.add(state)
        elif state == -2 or self._now in self._sleeps:
            self._switches = True
            self._steps.append((time, self._through(self._sleeps[self._now][1]) if state == -1 else np.nan, slack))
            self._doing.append("switching")

    def _through(self, virtual: int) -> float:
        *rest, full = self._watts[virtual]
        return rest[-1] + (full - rest[-1]) / self._cores

    def range(self) -> tuple[float, float]:
        """Return what it burns idle and at most in its first power state, in watts."""
        return self._watts[0][0], self._watts[0][-1]

    def idle(self) -> float:
        """Return what it burns without load where it computes, in watts; NaN where that changes."""
        return self._watts[next(iter(self._computing))][0] if len(self._computing) == 1 else np.nan

    def _spent(self, times: NDArray[np.float64], begin: float, end: float) -> NDArray[np.float64]:
        spent: NDArray[np.float64] = np.minimum(np.append(times[1:], np.inf), end) - np.maximum(times, begin)
        return spent.clip(0.0)

    def burnt_while(self, doing: str, begin: float, end: float) -> float:
        """Return the joules from one time to another while it was asleep or switching."""
        times, levels, _ = (np.array(column) for column in zip(*self._steps, strict=True))
        during = (self._spent(times, begin, end) > 0) & (np.array(self._doing) == doing)
        return float((levels * self._spent(times, begin, end))[during].sum())

    def burnt(self, begin: float, end: float) -> tuple[float, float]:
        """Return the joules from one time to another, and by how many they may be wrong, as times are printed."""
        times, levels, wrong = (np.array(column) for column in zip(*self._steps, strict=True))
        spent = self._spent(times, begin, end)
        steps = np.abs(np.diff(levels, prepend=levels[:1])) * wrong
        return float((levels * spent)[spent > 0].sum()), float(steps[times <= end].sum())


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
    watts = [_Course(*stated).range() for stated in case.machine.power]
    spans = sorted((full - idle for idle, full in watts), reverse=True)
    # What hosts burn that wake up may be more; where the field of a job says it, only the layer knows.
    waking = part(case.said, "options").get("sleep") != "none" or part(case.said, "options").get("watts")
    return bool(waking) or sum(idle for idle, _ in watts) + units * spans[0] > min(cap for _, cap in caps)


def _stated(case: Case) -> str:
    """Return the cap of `powered` as it was given; `none`: there is none."""
    powered = str(case.said.get("dispatcher")).partition("[")[0] == "powered"
    return str(part(case.said, "options").get("cap", "none")) if powered else "none"


def _caps(case: Case) -> list[tuple[float, float]] | None:
    """Return from when on, s, the cap is how many watts; None: its file is not there, or has another form."""
    stated = _stated(case)
    if stated.endswith("%"):
        return [(0.0, float(stated[:-1]) / 100 * sum(_Course(*each).range()[1] for each in case.machine.power))]
    return steps_of(stated, str(part(case.said, "options").get("origin", "")), case.folder)
