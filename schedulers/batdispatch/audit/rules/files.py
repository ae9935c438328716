"""What the files beside the jobs file must say of the run: units.csv, machine states, sums, times, and result.json."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from batdispatch.audit.case import RULES, Case, Faults, Rule, rule
from batdispatch.audit.findings import (
    DECISION_TIMES,
    KILLED,
    MACHINE_STATES,
    SAME_VALUE,
    TOLERANCE,
    UNITS,
    WALLTIME,
    Fault,
    is_amount,
    is_number,
    part,
    short,
)
from batdispatch.audit.hosts import Floats, Ints
from batdispatch.audit.metrics import NETWORK, Value, attempts_of, metrics_of
from batdispatch.audit.rows import read_numbers
from batdispatch.results.schedule import read_schedule

#: What a run says of itself: how it was made, and what came out.
_KEYS = {
    *("batdispatch", "python", "dispatcher", "label", "options", "seed", "decision_time", "decision_clock", "engine"),
    *("recorded", "clock", "command", "platform", "workload", "made_from"),
    *("decisions", "fallbacks", "dynamic_jobs", "rejected", "report", "metrics", "attempts", "performance", "files"),
}
#: Seconds by which a time of a jobs file may be off.
_ROUNDED = 1e-6
#: Name, values that it may have, by how much it may be off.
_Sum = tuple[str, tuple[float, ...], float]


def _file(case: Case, name: str) -> Path | None:
    """Return a file of the run, plain or packed; None: it is not there."""
    return next((path for end in ("", ".xz", ".gz") if (path := case.folder / f"{name}{end}").is_file()), None)


@rule("files")
def units_file(case: Case) -> Faults:
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
def machine_states(case: Case) -> Faults:
    """machine_states.csv says after each start and end how many hosts compute."""
    path = _file(case, MACHINE_STATES)
    if path is None:
        yield Fault(f"the run wrote {MACHINE_STATES}, which is not there")
        return
    table, size = read_numbers(path), case.machine.size
    time, idle, busy = (table.pop(name) for name in ("time", "nb_idle", "nb_computing"))
    asleep = any(column.any() for name, column in table.items() if name.startswith("nb_s"))
    missing = idle + busy > size if case.away else idle + busy != size
    if asleep or (idle < 0).any() or missing.any():
        row = int(np.argmax(missing))
        hosts = f"row {row + 1}: {idle[row]:.0f} idle and {busy[row]:.0f} computing hosts"
        yield Fault(f"{MACHINE_STATES}: hosts sleep or switch, or there are others than the machine's, {hosts}")
    changes, moments, counts = _computing(case)
    if len(time) != len(changes) or (np.diff(time) < 0).any():
        there = f"{len(time)} changes in order of time, the jobs that ran make {len(changes)}"
        yield Fault(f"{MACHINE_STATES} has {there}")
        return
    # Large times have less digits, and only the last row of a moment has all of its changes.
    coarse = 1e-8 * changes
    last = np.diff(changes, append=np.inf) > coarse + 10 * TOLERANCE
    due = counts[np.searchsorted(moments, changes, side="right") - 1]
    wrong = (np.abs(changes - time) > TOLERANCE + coarse) | (last & (busy != due))
    for row in np.flatnonzero(wrong).tolist()[:1]:
        said = f"from {time[row]:.6f} s {busy[row]:.0f} hosts compute"
        text = f"row {row + 1}: {said}, the jobs say from {changes[row]:.6f} s {due[row]:.0f}"
        yield Fault(f"{MACHINE_STATES} {text}")


def _computing(case: Case) -> tuple[Floats, Floats, Ints]:
    """Return when jobs start or end in order, moments in order, and how many hosts compute from each of these on."""
    rows, ran = case.rows, case.rows.ran
    times, change = np.concatenate((rows.start[ran], rows.left[ran])), rows.hosts.sizes[ran]
    changes, change = np.sort(times), np.concatenate((change, -change))
    if not case.machine.exclusive:
        # A host computes from the first of its jobs to the last, so each host counts its own.
        host, row = rows.hosts.slots()
        host, times = np.tile(host, 2), np.concatenate((rows.start[row], rows.left[row]))
        begins = np.repeat([1, -1], len(row))
        order = np.lexsort((begins, times, host))
        times, begins = times[order], begins[order]
        running = np.cumsum(begins)
        change = np.where((begins > 0) & (running == 1), 1, np.where((begins < 0) & (running == 0), -1, 0))
    order = np.argsort(times, kind="stable")
    return changes, times[order], np.cumsum(change[order])


@rule("files")
def sums(case: Case) -> Faults:
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
    for name, values, slack in (*_counts(case), *_times(case), *_hosts(case, noted, is_json=path.suffix == ".json")):
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


def _counts(case: Case) -> Iterator[_Sum]:
    """Yield the numbers of jobs and hosts."""
    rows, embedded = case.rows, case.embedded
    count, started, good = len(rows), int(rows.ran.sum()), int(rows.success.sum())
    dead, hosts = int(rows.is_state(KILLED, WALLTIME).sum()), len(case.machine.names)
    yield "nb_jobs", (count,), 0
    yield "nb_jobs_finished", (started,), 0
    yield "nb_jobs_rejected", (count - started,), 0
    yield "nb_jobs_success", (good,), 0
    # Batsim 4 counts the jobs that failed, and the storage hosts, too.
    yield "nb_jobs_killed", (started - good,) if embedded else (dead, started - good), 0
    yield "success_rate", (good / max(count, 1),), _ROUNDED
    yield "nb_computing_machines", (hosts,) if embedded else (case.machine.size, hosts), 0


def _times(case: Case) -> Iterator[_Sum]:
    """Yield the times and slowdowns of the jobs that started."""
    rows, ran = case.rows, case.rows.ran
    run, count = case.run_time[ran], int(ran.sum())
    wait, turnaround = rows.start[ran] - rows.submission[ran], rows.finish[ran] - rows.submission[ran]
    yield "makespan", (float(rows.finish[ran].max(initial=0.0)),), 2 * _ROUNDED
    with np.errstate(divide="ignore", invalid="ignore"):
        slowdown = np.where(run > 0, turnaround / run, math.inf)
        # What a slowdown may be off by, since the two times are rounded; of no length, it is unknown.
        unsure = np.where(run > _ROUNDED, (1 + slowdown) * 2 * _ROUNDED / np.maximum(run - _ROUNDED, 1e-12), math.inf)
    if case.embedded:
        unsure = np.where(np.isfinite(unsure), unsure, slowdown)
    for name, values, off in (
        ("waiting_time", wait, np.zeros(count)),
        ("turnaround_time", turnaround, np.zeros(count)),
        *([("slowdown", slowdown, unsure)] if case.embedded or np.isfinite(unsure).all() else []),
    ):
        most, total = float(values.max(initial=0.0)), float(values.sum())
        # Batsim 4 and the embedded engine have means over all jobs, Batsim 5 over those that started.
        means = (total / max(len(rows), 1), *(() if case.embedded else (total / max(count, 1),)))
        slack = 3 * _ROUNDED + (1e-11 * most if math.isfinite(most) else 0.0)
        yield f"max_{name}", (most,), slack + float(off.max(initial=0.0))
        yield f"mean_{name}", means, slack + float(off.sum()) / max(count, 1)


def _hosts(case: Case, noted: Mapping[str, Any], *, is_json: bool) -> Iterator[_Sum]:
    """Yield what hosts did; of what is not known (hosts away, other clocks), nothing."""
    if case.embedded:
        for name in ("nb_grouped_switches", "nb_machine_switches", "time_sleeping", "consumed_joules"):
            yield name, (0.0,), 0
        for name in ("time_switching_off", "time_switching_on", *(() if case.away else ("time_unavailable",))):
            yield name, (0.0,), 0
    # Batsim 5 counts up to the last change of a host only, and Batsim 4 takes what was away out.
    if is_json or (not case.embedded and (case.away or noted.get("time_unavailable"))):
        return
    busy, slack = case.occupation.busy, 3 * _ROUNDED * (1 + float(case.rows.hosts.sizes[case.rows.ran].sum()))
    slack += 1e-12 * busy
    if not case.away:
        yield "time_computing", (busy,), slack
        # A host is idle up to the last time that it is used.
        yield "time_idle", (float(case.occupation.until.sum()) - busy,), slack
    elif case.course is not None and case.course.complete:
        # A host that is away does not compute. Whatever it does, it does something up to its last change.
        others = [noted.get(name) for name in ("time_computing", "time_unavailable")]
        yield "time_idle", (_last_changes(case) - sum(value for value in others if is_number(value)),), slack


def _last_changes(case: Case) -> float:
    """Return the sum over hosts of when each computed, idled or was away for another reason last, s."""
    last = np.zeros(max(case.machine.size, len(case.occupation.until)))
    last[: len(case.occupation.until)] = case.occupation.until
    away: dict[int, list[float]] = {}
    for outage in case.exchange.outages:
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


@rule("files", "result")
def decision_times(case: Case) -> Faults:
    """decision_times.csv has a row for each decision, and result.json its statistics."""
    path, stated = _file(case, DECISION_TIMES), part(case.said, "decisions")
    if path is None:
        if stated.get("count") and case.said.get("recorded") and case.course is not None:
            yield Fault(f"{DECISION_TIMES} is missing, and result.json counts {stated['count']} decisions")
        values = [stated.get(f"seconds_{name}", 0.0) for name in ("p50", "p90", "p99", "max", "total")]
        if not all(map(is_amount, values)) or values != sorted(values):
            yield Fault(f"result.json: decisions {stated} are no statistics of times")
        return
    table = read_numbers(path)
    time, seconds = table.get("time"), table.get("seconds")
    if len(table) != 2 or time is None or seconds is None or not (np.isfinite(time + seconds) & (seconds >= 0)).all():
        yield Fault(f"{DECISION_TIMES}: expected time,seconds and finite numbers, no seconds below 0")
        return
    moments = None if case.course is None or not case.course.complete else np.array(case.course.moments)
    if moments is not None and (len(moments) != len(time) or (np.abs(moments - time) > TOLERANCE).any()):
        yield Fault(f"{DECISION_TIMES}: its times are not those of the messages of the exchange")
    shares, total = np.percentile(seconds, [50, 90, 99]) if len(seconds) else np.zeros(3), seconds.sum()
    figures = (len(seconds), total, total / max(len(seconds), 1), *shares, seconds.max(initial=0.0))
    names = ("count", *(f"seconds_{name}" for name in ("total", "mean", "p50", "p90", "p99", "max")))
    for name, value in zip(names, map(float, figures), strict=True):
        noted = stated.get(name)
        if not is_number(noted) or not abs(noted - value) <= 1e-9 * (1 + len(seconds)) + SAME_VALUE * abs(value):
            yield Fault(f"result.json: decisions.{name} is {noted!r}, {DECISION_TIMES} gives {value:.9f}")


# ---------------------------------------------------------------------- result.json


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if is_number(one) and is_number(other):
        return bool(one == other) or math.isclose(one, other, rel_tol=SAME_VALUE, abs_tol=SAME_VALUE)
    if None in (one, other) and is_number(other if one is None else one):
        # JSON has no infinity: it stands there as null.
        return not math.isfinite(other if one is None else one)
    return bool(one == other)


def _compare(group: str, noted: Mapping[str, Any], expected: Mapping[str, Value]) -> Faults:
    """Yield the figures that are missing, too many, or other than the rows give."""
    for name in sorted({*noted, *expected}):
        if name not in noted:
            yield Fault(f"result.json: {group}.{name} is missing, the jobs file gives {short(expected[name])}")
        elif name not in expected:
            yield Fault(f"result.json: {group}.{name} is {short(noted[name])}, which nothing in the run gives")
        elif not _same(noted[name], expected[name]):
            text = f"{short(noted[name])}, the jobs file gives {short(expected[name])}"
            yield Fault(f"result.json: {group}.{name} is {text}")


@rule("files", "result")
def metrics(case: Case) -> Faults:
    """Every metric of result.json follows from the rows, and none is missing."""
    if "metrics" not in case.said:
        return
    noted = part(case.said, "metrics")
    yield from _compare("metrics", {name: noted[name] for name in noted if name not in NETWORK}, metrics_of(case))
    for name in NETWORK:
        if name not in noted:
            yield Fault(f"result.json: metrics.{name} is missing")
        elif noted[name] is not None and not case.machine.networked:
            yield Fault(f"result.json: metrics.{name} is {short(noted[name])}, and the platform has no network")
    if "failed_attempts" in part(case.said, "report") or "attempts" in case.said:
        yield from _compare("attempts", part(case.said, "attempts"), attempts_of(case))


@rule("files", "result")
def result(case: Case) -> Faults:
    """result.json says of itself, of the platform, the workload and the exchange what they are."""
    if "metrics" not in case.said:
        return
    for name in sorted(case.said.keys() - _KEYS):
        yield Fault(f"result.json has {name!r}, which no run says of itself")
    for name, (noted, expected) in (_stated(case) | _told(case)).items():
        if not _same(noted, expected):
            yield Fault(f"result.json: {name} is {short(noted)}, and should be {short(expected)}")
    for name, value in part(case.said, "performance").items():
        if not is_amount(value):
            yield Fault(f"result.json: performance.{name} is {value!r}, expected a number from 0")


def _stated(case: Case) -> dict[str, tuple[Any, Any]]:
    """Return what result.json says of the inputs, and what they are, by name."""
    platform, machine = part(case.said, "platform"), case.machine
    totals = dict(zip(machine.resources, machine.capacity.sum(axis=0).tolist(), strict=True))
    count = len(case.workload.jobs)
    return {
        "platform.hosts": (platform.get("hosts", machine.size), machine.size),
        "platform.resources": (platform.get("resources", {}), {} if machine.exclusive else totals),
        "workload.jobs": (part(case.said, "workload").get("jobs", count), count),
        "fallbacks": (case.said.get("fallbacks", 0), int(part(case.said, "report").get("fallbacks", 0))),
    }


def _told(case: Case) -> dict[str, tuple[Any, Any]]:
    """Return what result.json says of the exchange, and what is so, by name."""
    said, course = case.said, case.course
    if course is None or not course.complete:
        return {}
    count, messages = part(said, "decisions").get("count"), part(said, "performance").get("messages", course.messages)
    told = {"decisions.count": (count, len(course.moments))} if count else {}
    if "dynamic-jobs-enabled" in course.config:
        told["dynamic_jobs"] = (said.get("dynamic_jobs"), bool(course.config["dynamic-jobs-enabled"]))
    # Behind Batsim 5 the handshake may count as a message.
    if messages != course.messages + course.handshakes:
        told["performance.messages"] = (messages, course.messages)
    return told


def _is_input(name: str, case: Case) -> Faults:
    """Yield where result.json notes another digest of an input than it has."""
    if name not in case.digests:
        return
    digest = case.digests[name]
    made = part(part(case.said, "made_from"), "sha256")
    for noted in (part(case.said, name).get("sha256"), made.get(name, digest if not made else "nothing")):
        if noted and noted != digest:
            yield Fault(f"it has SHA-256 {digest[:16]}..., the run was made with {str(noted)[:16]}...")


for _name, _sentence in (
    ("platform", "The platform is the one that the run was made with."),
    ("workload", "The workload is the one that the run was made with."),
    ("events", "The external events are those that the run was made with."),
):
    RULES[f"{_name} file"] = Rule(f"{_name} file", _sentence, "files", "result", partial(_is_input, _name))
