"""The power states of hosts over time, as a run's files tell them, and what hosts burn in them."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.verify.audit.case import Case
from batdispatch.abilities.verify.audit.findings import part
from batdispatch.abilities.verify.audit.hosts import read_host_sets
from batdispatch.abilities.verify.audit.series import steps_of

#: Share of a time by which Batsim's print, which has six digits, may miss it.
PRINT = 1e-5


def sums_of(case: Case) -> Mapping[str, Any]:
    """Return the sums in schedule.csv or, of Batsim 5, schedule.json; nothing without these files."""
    table, other = case.folder / "schedule.csv", case.folder / "schedule.json"
    if table.is_file():
        with table.open(newline="") as file:
            [sums] = list(csv.DictReader(file))
        return sums
    return dict(json.loads(other.read_bytes())) if other.is_file() else {}


def joules_by_state(case: Case) -> dict[str, float]:
    """Return what hosts burnt asleep and switching, from the first submission to the last end; empty: nobody knows."""
    path, rows = case.folder / "pstate_changes.csv", case.rows
    if not path.is_file():
        return {}
    if not rows.ran.any():
        return {"asleep": 0.0, "switching": 0.0}
    courses = courses_of(case)
    span = float(rows.submission.min()), float(rows.finish[rows.ran].max())
    return {doing: sum(course.burnt_while(doing, *span) for course in courses) for doing in ("asleep", "switching")}


def courses_of(case: Case) -> list[PowerCourse]:
    """Return the power states of each host, from moments with all digits where consumed_energy.csv tells them."""
    path, courses = case.folder / "consumed_energy.csv", [PowerCourse(*stated) for stated in case.machine.power]
    with path.open(newline="") as file:
        moments = [float(row["time"]) for row in csv.DictReader(file) if row["event_type"] == "p"]
    rows = list(changes(case.folder / "pstate_changes.csv"))
    printed = [time for time, _, _ in rows]
    exact = printed[: len(rows) - len(moments)] + moments if len(rows) >= len(moments) else printed
    for (_, listed, state), time in zip(rows, exact, strict=True):
        for host in listed:
            courses[host].change(time, state)
    return courses


def given_series(case: Case, stated: str) -> list[tuple[float, float]] | None:
    """Return from when on, s, a series of `powered` is how much; None: its file is not there, or there is none."""
    if stated.endswith("%"):
        return [(0.0, float(stated[:-1]) / 100 * sum(PowerCourse(*each).range()[1] for each in case.machine.power))]
    return steps_of(stated, str(options_of_powered(case).get("origin", "")), case.folder)


def options_of_powered(case: Case) -> dict[str, str]:
    """Return the options of `powered` as texts, which may stand inside another layer; nothing if it does not."""
    options = part(case.said, "options")
    if str(case.said.get("dispatcher")).partition("[")[0] == "powered":
        return {name: str(value) for name, value in options.items()}
    whole, text = "", str(options.get("dispatcher", "")).partition("powered[")[2]
    while text != whole:
        # Options of other parts.
        whole, text = text, re.sub(r"\[[^][]*\]", "", text)
    pairs = (pair.partition("=") for pair in text.partition("]")[0].split(","))
    return {name.strip(): value.strip() for name, equals, value in pairs if equals}


def changes(path: Path) -> Iterator[tuple[float, list[int], int]]:
    """Yield time, hosts and power state of the rows of pstate_changes.csv; below 0: that something is decided."""
    with path.open(newline="") as file:
        for time, listed, state in list(csv.reader(file))[1:]:
            sets = read_host_sets([listed])
            named = [host for a, b in zip(sets.first, sets.last, strict=True) for host in range(a, b + 1)]
            yield float(time), named, int(state)


class PowerCourse:
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
        slack = PRINT * time + 2e-3
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

    def sleeps_in(self, state: int) -> bool:
        """Return whether it sleeps in a power state."""
        return state in self._sleeps

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
