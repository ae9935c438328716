"""What the tables beside the jobs file must say: units.csv, machine_states.csv, schedule.csv, and of the decisions."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from batdispatch.audit.case import Case, rule
from batdispatch.audit.findings import Fault
from batdispatch.audit.hosts import Floats
from batdispatch.audit.rows import read_table
from batdispatch.audit.sums import expected_sums, read_sums
from batdispatch.audit.words import DECISION_TIMES, MACHINE_STATES, PLANS, SAME, TOLERANCE, UNITS, is_number
from batdispatch.core.errors import InputError

Found = Iterator[Fault]
#: What a solver says of a plan that is proven to be the best, of one that may not be, and where it found none.
_PROVEN, _FOUND, _NONE = {"OPTIMAL", "BOUND"}, {"FEASIBLE", "GREEDY"}, {"UNKNOWN", "INFEASIBLE"}


def _file(case: Case, name: str) -> Path | None:
    """Return a file of the run, plain or packed; None: it is not there."""
    return next((path for end in ("", ".xz", ".gz") if (path := case.folder / f"{name}{end}").is_file()), None)


@rule("units file", "files", "units.csv names each job once, with the hosts that the jobs file gives it.")
def units_file(case: Case) -> Found:
    row_of = {name: row for row, name in enumerate(case.rows.ids)}
    seen: set[str] = set()
    for name, hosts in case.units.listed:
        row = row_of[name]
        if name in seen:
            yield Fault(f"stands in {UNITS} twice", row)
        seen.add(name)
        if hosts is not None and hosts != case.rows.places[row]:
            found = case.rows.places[row][:80]
            yield Fault(f"is on {hosts[:80]} by {UNITS}, on {found} by the jobs file", row)


@rule("machine states", "files", "machine_states.csv says after each start and end how many hosts compute.", "embedded")
def machine_states(case: Case) -> Found:
    path = _file(case, MACHINE_STATES)
    if path is None:
        yield Fault(f"the run wrote {MACHINE_STATES}, which is not there")
        return
    header, lines = read_table(path)
    try:
        table = np.array(lines, dtype=np.float64).reshape(-1, len(header))
        time, idle, busy = (table[:, header.index(name)] for name in ("time", "nb_idle", "nb_computing"))
    except ValueError as problem:
        yield Fault(f"{MACHINE_STATES} cannot be read: {problem}")
        return
    asleep = table[:, [index for index, name in enumerate(header) if name.startswith(("nb_s",))]]
    if asleep.any() or (idle < 0).any() or not (idle + busy <= case.machine.size).all():
        yield Fault(f"{MACHINE_STATES}: hosts sleep or switch, or there are others than the machine's")
    elif not case.away and (idle + busy != case.machine.size).any():
        row = int(np.argmax(idle + busy != case.machine.size))
        yield Fault(f"{MACHINE_STATES} row {row + 1}: {idle[row]:.0f} idle and {busy[row]:.0f} computing hosts")
    yield from _computing(case, time, busy)


def _computing(case: Case, time: Floats, busy: Floats) -> Found:
    """Compare how many hosts compute after each moment; the time is written with fewer digits where it is large."""
    ran = case.rows.ran
    if len(time) != 2 * int(ran.sum()):
        yield Fault(f"{MACHINE_STATES} has {len(time)} changes, the jobs that ran make {2 * int(ran.sum())}")
        return
    if (np.diff(time) < 0).any():
        yield Fault(f"{MACHINE_STATES} goes back in time")
        return
    moments, counts = case.computing()
    near = np.sort(np.concatenate((case.rows.start[ran], case.rows.left[ran])))
    off = np.abs(near - time) > TOLERANCE + 1e-8 * near
    if off.any():
        row = int(np.argmax(off))
        yield Fault(f"{MACHINE_STATES} row {row + 1} is of {time[row]:.6f} s, the jobs say {near[row]:.6f} s")
        return
    # Only the last row of a moment has all of its changes.
    last = np.flatnonzero(np.diff(near, append=np.inf) > 1e-8 * near + 10 * TOLERANCE)
    expected = counts[np.searchsorted(moments, near[last], side="right") - 1]
    for at in np.flatnonzero(busy[last] != expected).tolist()[:1]:
        row = int(last[at])
        yield Fault(f"{MACHINE_STATES} row {row + 1}: {busy[row]:.0f} hosts compute, the jobs say {expected[at]:.0f}")


@rule("sums", "files", "schedule.csv, or Batsim 5's schedule.json, has the sums of the rows.")
def sums(case: Case) -> Found:
    names = [f"{head}schedule{end}" for end in (".csv", ".json") for head in ("", "out_")]
    path = next((path for name in names if (path := case.folder / name).is_file()), None)
    if path is None:
        if case.embedded:
            yield Fault("the run wrote schedule.csv, which is not there")
        else:
            case.skipped["sums"] = "there is no schedule.csv"
        return
    found = read_sums(path)
    for name, values, slack in expected_sums(case, found, is_json=path.suffix == ".json"):
        value = found.get(name)
        if value is None and not case.embedded:
            continue
        if not is_number(value):
            yield Fault(f"{path.name}: {name} is {value!r}, the rows give {values[0]:.6f}")
        elif not any(value == each or abs(value - each) <= slack for each in values):
            yield Fault(f"{path.name}: {name} is {value:.6f}, the rows give {values[0]:.6f}")
    version = f"batdispatch {case.said.get('batdispatch')} embedded"
    if case.embedded and not re.fullmatch(rf"{re.escape(version)}(, .*)?", str(found.get("batsim_version"))):
        yield Fault(f"{path.name}: batsim_version is {found.get('batsim_version')!r}, result.json says {version!r}")
    for name in ("scheduling_time", "simulation_time"):
        value = found.get(name, 0.0)
        if not is_number(value) or not 0 <= value < math.inf:
            yield Fault(f"{path.name}: {name} is {value!r}, expected seconds")


# ---------------------------------------------------------------------- how it was decided


@rule(
    "decision times",
    "files",
    "decision_times.csv has a row for each decision, and result.json its statistics.",
    "result",
)
def decision_times(case: Case) -> Found:
    path, stated = _file(case, DECISION_TIMES), case.said.get("decisions")
    stated = stated if isinstance(stated, dict) else {}
    count = stated.get("count", 0)
    if path is None:
        if count and case.said.get("recorded") and case.course is not None:
            yield Fault(f"{DECISION_TIMES} is missing, and result.json counts {count} decisions")
        yield from _plausible(stated)
        return
    header, lines = read_table(path)
    try:
        table = np.array(lines, dtype=np.float64).reshape(-1, 2)
    except ValueError as problem:
        yield Fault(f"{DECISION_TIMES} cannot be read: {problem}")
        return
    time, seconds = table[:, 0], table[:, 1]
    if header != ["time", "seconds"] or not np.isfinite(table).all() or (seconds < 0).any():
        yield Fault(f"{DECISION_TIMES}: expected time,seconds and finite numbers, no seconds below 0")
        return
    moments = None if case.course is None or not case.course.complete else np.array(case.course.moments)
    if moments is not None and (len(moments) != len(time) or (np.abs(moments - time) > TOLERANCE).any()):
        yield Fault(f"{DECISION_TIMES}: its times are not those of the messages of the exchange")
    for name, value in _statistics(seconds).items():
        found = stated.get(name)
        if not is_number(found) or not abs(found - value) <= 1e-9 * (1 + len(seconds)) + SAME * abs(value):
            yield Fault(f"result.json: decisions.{name} is {found!r}, {DECISION_TIMES} gives {value:.9f}")


def _statistics(seconds: Floats) -> dict[str, float]:
    p50, p90, p99 = np.percentile(seconds, [50, 90, 99]) if len(seconds) else (0, 0, 0)
    found = {
        "count": len(seconds),
        "seconds_total": seconds.sum(),
        "seconds_mean": seconds.sum() / max(len(seconds), 1),
    }
    shares = {"seconds_p50": p50, "seconds_p90": p90, "seconds_p99": p99, "seconds_max": seconds.max(initial=0.0)}
    return {name: float(value) for name, value in {**found, **shares}.items()}


def _plausible(stated: dict[str, Any]) -> Found:
    """Check statistics whose decisions are not there: that they are times, and in order."""
    values = [stated.get(f"seconds_{name}", 0.0) for name in ("p50", "p90", "p99", "max", "total")]
    if not all(is_number(value) and 0 <= value < math.inf for value in values) or values != sorted(values):
        yield Fault(f"result.json: decisions {stated} are no statistics of times")


@rule(
    "plans",
    "files",
    "Each line of solver.jsonl fits itself, a message, and the sums that the dispatcher reports.",
    "result",
)
def plans(case: Case) -> Found:
    path, report = _file(case, PLANS), case.said.get("report")
    report = report if isinstance(report, dict) and "planned" in report and "statuses" in report else None
    if path is None:
        if report is not None and report["planned"]:
            case.skipped["plans"] = f"there is no {PLANS}"
        return
    lines: list[dict[str, Any]] = []
    for number, text in enumerate(path.read_bytes().splitlines() if path.suffix == ".jsonl" else (), start=1):
        try:
            line = msgspec.json.decode(text, type=dict[str, Any])
        except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
            raise InputError(f"is no line of JSON: {problem}", source=str(path), place=f"line {number}") from None
        lines.append(line)
        if problem_found := _plan_fault(case, line):
            yield Fault(f"{PLANS} line {number}: {problem_found}", time=_moment(line))
    times = [_moment(line) or 0.0 for line in lines]
    if times != sorted(times):
        yield Fault(f"{PLANS} goes back in time")
    if report is None:
        yield Fault(f"{PLANS} is there, and the dispatcher reports no plans")
        return
    yield from _plan_sums(lines, report)


def _moment(line: dict[str, Any]) -> float | None:
    return float(line["now"]) if is_number(line.get("now")) else None


def _plan_fault(case: Case, line: dict[str, Any]) -> str:
    """Return what is wrong with a line of solver.jsonl."""
    now, status = _moment(line), line.get("status")
    cost, bound, gap = (line.get(name) for name in ("cost", "bound", "gap"))
    if now is None or (case.course is not None and case.course.complete and not _is_moment(case, now)):
        return f"is of {now} s, which no message is of"
    if status in _NONE:
        return "has a cost, and the solver found nothing" if (cost, gap) != (None, None) else ""
    if status not in _PROVEN | _FOUND:
        return f"has the status {status!r}, which no solver says"
    if bound is None:
        # JSON has no infinity: there is no bound.
        return "" if is_number(cost) and gap is None else f"has no bound, and cost {cost!r} with gap {gap!r}"
    if not (is_number(cost) and is_number(bound) and is_number(gap)):
        return f"has cost {cost!r}, bound {bound!r} and gap {gap!r}, expected numbers"
    expected = (cost - bound) / abs(cost) if cost else 0.0
    if not abs(gap - expected) <= 1e-6 * (1 + abs(expected)):
        return f"has a gap of {gap:g}, cost and bound give {expected:g}"
    if status in _PROVEN and gap > 1e-6:
        return f"says {status} with a gap of {gap:g}"
    seconds = [line.get(name, 0.0) for name in ("build_seconds", "solve_seconds")]
    return "" if all(is_number(each) and each >= 0 for each in seconds) else "has times below 0"


def _is_moment(case: Case, now: float) -> bool:
    moments = np.array(case.course.moments) if case.course is not None else np.zeros(0)
    at = int(np.searchsorted(moments, now - TOLERANCE))
    return at < len(moments) and bool(abs(moments[at] - now) <= TOLERANCE)


def _plan_sums(lines: list[dict[str, Any]], report: dict[str, Any]) -> Found:
    """Compare the lines with what the dispatcher reports of all of them."""
    if len(lines) != report["planned"]:
        yield Fault(f"{PLANS} has {len(lines)} lines, the dispatcher reports {report['planned']} plans")
    statuses = dict(sorted(Counter(str(line.get("status")) for line in lines).items()))
    if statuses != report["statuses"]:
        yield Fault(f"{PLANS} has the statuses {statuses}, the dispatcher reports {report['statuses']}")
    for name, mean in report.get("means", {}).items():
        values = [line[name] for line in lines if is_number(line.get(name))]
        found = math.fsum(values) / len(values) if values else math.nan
        if not is_number(mean) or not math.isclose(found, mean, rel_tol=1e-6, abs_tol=1e-12):
            yield Fault(f"{PLANS}: the mean of {name} is {found:g}, the dispatcher reports {mean!r}")
