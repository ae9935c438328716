"""What the tables beside the jobs file must say: units.csv, machine_states.csv, schedule.csv, decision_times.csv."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from batdispatch.audit.case import Case, Found, rule
from batdispatch.audit.findings import Fault
from batdispatch.audit.hosts import Floats
from batdispatch.audit.rows import read_numbers
from batdispatch.audit.sums import expected_sums
from batdispatch.audit.words import (
    DECISION_TIMES,
    MACHINE_STATES,
    SAME,
    TOLERANCE,
    UNITS,
    is_amount,
    is_number,
    part,
)
from batdispatch.results.schedule import read_schedule


def _file(case: Case, name: str) -> Path | None:
    """Return a file of the run, plain or packed; None: it is not there."""
    return next((path for end in ("", ".xz", ".gz") if (path := case.folder / f"{name}{end}").is_file()), None)


@rule("files")
def units_file(case: Case) -> Found:
    """units.csv names each job once, with the hosts that the jobs file gives it."""
    seen: set[int] = set()
    for row, hosts in case.units.listed:
        if row in seen:
            yield Fault(f"stands in {UNITS} twice", row)
        seen.add(row)
        place = case.rows.places[row]
        if hosts not in (None, place):
            yield Fault(f"is on {str(hosts)[:80]} by {UNITS}, on {place[:80]} by the jobs file", row)


@rule("files", "embedded")
def machine_states(case: Case) -> Found:
    """machine_states.csv says after each start and end how many hosts compute."""
    path = _file(case, MACHINE_STATES)
    if path is None:
        yield Fault(f"the run wrote {MACHINE_STATES}, which is not there")
        return
    table = read_numbers(path)
    time, idle, busy = (table.pop(name) for name in ("time", "nb_idle", "nb_computing"))
    asleep = any(column.any() for name, column in table.items() if name.startswith("nb_s"))
    missing = idle + busy != case.machine.size if not case.away else idle + busy > case.machine.size
    if asleep or (idle < 0).any() or missing.any():
        row = int(np.argmax(missing))
        hosts = f"row {row + 1}: {idle[row]:.0f} idle and {busy[row]:.0f} computing hosts"
        yield Fault(f"{MACHINE_STATES}: hosts sleep or switch, or there are others than the machine's, {hosts}")
    if message := _computing(case, time, busy):
        yield Fault(f"{MACHINE_STATES} {message}")


def _computing(case: Case, time: Floats, busy: Floats) -> str:
    """Return where hosts compute otherwise than after a moment of the jobs; large times have less digits."""
    ran = case.rows.ran
    near = np.sort(np.concatenate((case.rows.start[ran], case.rows.left[ran])))
    if len(time) != len(near) or (np.diff(time) < 0).any():
        return f"has {len(time)} changes in order of time, the jobs that ran make {len(near)}"
    for row in np.flatnonzero(np.abs(near - time) > TOLERANCE + 1e-8 * near).tolist()[:1]:
        return f"row {row + 1} is of {time[row]:.6f} s, the jobs say {near[row]:.6f} s"
    moments, counts = case.computing()
    # Only the last row of a moment has all of its changes.
    last = np.flatnonzero(np.diff(near, append=np.inf) > 1e-8 * near + 10 * TOLERANCE)
    expected = counts[np.searchsorted(moments, near[last], side="right") - 1]
    for at in np.flatnonzero(busy[last] != expected).tolist()[:1]:
        row = int(last[at])
        return f"row {row + 1}: {busy[row]:.0f} hosts compute, the jobs say {expected[at]:.0f}"
    return ""


@rule("files")
def sums(case: Case) -> Found:
    """schedule.csv, or Batsim 5's schedule.json, has the sums of the rows."""
    names = [f"{head}schedule{end}" for end in (".csv", ".json") for head in ("", "out_")]
    path = next((path for name in names if (path := case.folder / name).is_file()), None)
    if path is None:
        if case.embedded:
            yield Fault("the run wrote schedule.csv, which is not there")
        else:
            case.skipped["sums"] = "there is no schedule.csv"
        return
    noted = read_schedule(path)
    for name, values, slack in expected_sums(case, noted, is_json=path.suffix == ".json"):
        value = noted.get(name)
        if value is None and not case.embedded:
            continue
        if not is_number(value) or not any(value == each or abs(value - each) <= slack for each in values):
            yield Fault(f"{path.name}: {name} is {value!r}, the rows give {values[0]:.6f}")
    version = f"batdispatch {case.said.get('batdispatch')} embedded"
    if case.embedded and not re.fullmatch(rf"{re.escape(version)}(, .*)?", str(noted.get("batsim_version"))):
        yield Fault(f"{path.name}: batsim_version is {noted.get('batsim_version')!r}, result.json says {version!r}")
    for name in ("scheduling_time", "simulation_time"):
        if not is_amount(noted.get(name, 0.0)):
            yield Fault(f"{path.name}: {name} is {noted[name]!r}, expected seconds")


@rule("files", "result")
def decision_times(case: Case) -> Found:
    """decision_times.csv has a row for each decision, and result.json its statistics."""
    path, stated = _file(case, DECISION_TIMES), part(case.said, "decisions")
    if path is None:
        if stated.get("count") and case.said.get("recorded") and case.course is not None:
            yield Fault(f"{DECISION_TIMES} is missing, and result.json counts {stated['count']} decisions")
        yield from _plausible(stated)
        return
    table = read_numbers(path)
    time, seconds = table.get("time"), table.get("seconds")
    if len(table) != 2 or time is None or seconds is None or not (np.isfinite(time + seconds) & (seconds >= 0)).all():
        yield Fault(f"{DECISION_TIMES}: expected time,seconds and finite numbers, no seconds below 0")
        return
    moments = None if case.course is None or not case.course.complete else np.array(case.course.moments)
    if moments is not None and (len(moments) != len(time) or (np.abs(moments - time) > TOLERANCE).any()):
        yield Fault(f"{DECISION_TIMES}: its times are not those of the messages of the exchange")
    for name, value in _statistics(seconds).items():
        noted = stated.get(name)
        if not is_number(noted) or not abs(noted - value) <= 1e-9 * (1 + len(seconds)) + SAME * abs(value):
            yield Fault(f"result.json: decisions.{name} is {noted!r}, {DECISION_TIMES} gives {value:.9f}")


def _statistics(seconds: Floats) -> dict[str, float]:
    shares = np.percentile(seconds, [50, 90, 99]) if len(seconds) else np.zeros(3)
    values = (seconds.sum(), seconds.sum() / max(len(seconds), 1), *shares, seconds.max(initial=0.0))
    names = ("total", "mean", "p50", "p90", "p99", "max")
    statistics = {f"seconds_{name}": float(value) for name, value in zip(names, values, strict=True)}
    return {"count": len(seconds), **statistics}


def _plausible(stated: dict[str, Any]) -> Found:
    """Check statistics whose decisions are not there: that they are times, and in order."""
    values = [stated.get(f"seconds_{name}", 0.0) for name in ("p50", "p90", "p99", "max", "total")]
    if not all(map(is_amount, values)) or values != sorted(values):
        yield Fault(f"result.json: decisions {stated} are no statistics of times")
