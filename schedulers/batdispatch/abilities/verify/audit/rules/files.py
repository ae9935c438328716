"""What the files beside the jobs file must say of the run: units.csv, sums, times, and result.json."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from batdispatch.abilities.verify.audit.case import RULES, Case, Faults, Rule, rule
from batdispatch.abilities.verify.audit.findings import (
    DECISION_TIMES,
    KILLED,
    SAME_VALUE,
    TOLERANCE,
    WALLTIME,
    Fault,
    alike,
    is_amount,
    is_number,
    part,
    short,
)
from batdispatch.abilities.verify.audit.metrics import NETWORK, Value, attempts_of, metrics_of
from batdispatch.results.decisions import read_decision_times
from batdispatch.results.schedule import read_schedule

#: By how much two values of a metric may differ, relative and absolute.
_SAME = (SAME_VALUE, SAME_VALUE)
#: What a run says of itself: how it was made, and what came out.
_KEYS = {
    *("batdispatch", "python", "dispatcher", "label", "options", "seed", "decision_time", "decision_clock", "engine"),
    *("recorded", "clock", "command", "platform", "workload", "made_from"),
    *("decisions", "fallbacks", "dynamic_jobs", "rejected", "report", "metrics", "attempts", "performance", "files"),
}


@rule("files")
def sums(case: Case) -> Faults:
    """What schedule.csv, or Batsim 5's schedule.json, counts are the jobs, and the last of them ends when it says."""
    names = [f"{head}schedule{end}" for end in (".csv", ".json") for head in ("", "out_")]
    path = next((path for name in names if (path := case.folder / name).is_file()), None)
    if path is None:
        case.skipped["sums"] = "there is no schedule.csv"
        return
    noted, rows = read_schedule(path), case.rows
    count, started, dead = len(rows), int(rows.ran.sum()), int(rows.is_state(KILLED, WALLTIME).sum())
    good, last = int(rows.success.sum()), float(rows.finish[rows.ran].max(initial=0.0))
    for name, values in {
        "nb_jobs": (count,),
        "nb_jobs_finished": (started,),
        "nb_jobs_rejected": (count - started,),
        "nb_jobs_success": (good,),
        # Batsim 4 counts the jobs that failed, and the storage hosts, too.
        "nb_jobs_killed": (dead, started - good),
        "nb_computing_machines": (case.machine.size, len(case.machine.names)),
        "makespan": (last,),
    }.items():
        value = noted.get(name, values[0])
        if not is_number(value) or not any(abs(value - each) <= TOLERANCE for each in values):
            yield Fault(f"{path.name}: {name} is {value!r}, the rows give {values[0]:.6f}")
    version, made = noted.get("batsim_version"), f"batdispatch {case.said.get('batdispatch')} embedded"
    if case.embedded and str(version).partition(",")[0] != made:
        yield Fault(f"{path.name}: batsim_version is {version!r}, result.json says {made!r}")


@rule("files", "result")
def decision_times(case: Case) -> Faults:
    """decision_times.csv has a row for each decision, and result.json its statistics."""
    table, stated = read_decision_times(case.folder), part(case.said, "decisions")
    if table is None:
        if stated.get("count") and case.said.get("recorded") and case.course is not None:
            yield Fault(f"{DECISION_TIMES} is missing, and result.json counts {stated['count']} decisions")
        values = [stated.get(f"seconds_{name}", 0.0) for name in ("p50", "p90", "p99", "max", "total")]
        mean = stated.get("seconds_mean", 0.0) * (stated.get("count") or 0)
        if not all(map(is_amount, values)) or values != sorted(values) or not math.isclose(mean, values[-1]):
            yield Fault(f"result.json: decisions {stated} are no statistics of times")
        return
    time, seconds = table.time, table.seconds
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


def _compare(group: str, noted: Mapping[str, Any], expected: Mapping[str, Value]) -> Faults:
    """Yield the figures that are missing, too many, or other than the rows give."""
    for name in sorted({*noted, *expected}):
        if name not in noted:
            yield Fault(f"result.json: {group}.{name} is missing, the jobs file gives {short(expected[name])}")
        elif name not in expected:
            yield Fault(f"result.json: {group}.{name} is {short(noted[name])}, which nothing in the run gives")
        # JSON has no infinity: it stands there as null.
        elif not alike(noted[name], None if expected[name] == math.inf else expected[name], *_SAME):
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
    for name, (noted, expected) in _stated(case).items():
        if not alike(noted, expected):
            yield Fault(f"result.json: {name} is {short(noted)}, and should be {short(expected)}")
    for name, value in part(case.said, "performance").items():
        if not is_amount(value):
            yield Fault(f"result.json: performance.{name} is {value!r}, expected a number from 0")


def _stated(case: Case) -> dict[str, tuple[Any, Any]]:
    """Return what result.json says of the inputs, and what they are, by name."""
    platform, machine = part(case.said, "platform"), case.machine
    totals = dict(zip(machine.resources, machine.capacity.sum(axis=0).tolist(), strict=True))
    count, messages = len(case.workload.jobs), part(case.said, "performance").get("messages")
    course, sent = case.course, messages
    # Behind Batsim 5 the handshake may count as a message.
    if course is not None and course.complete and messages != course.messages + course.handshakes:
        sent = course.messages
    return {
        "platform.hosts": (platform.get("hosts", machine.size), machine.size),
        "platform.resources": (platform.get("resources", {}), {} if machine.exclusive else totals),
        "workload.jobs": (part(case.said, "workload").get("jobs", count), count),
        "performance.messages": (messages, sent),
        "fallbacks": (case.said.get("fallbacks", 0), int(part(case.said, "report").get("fallbacks", 0))),
    }


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
