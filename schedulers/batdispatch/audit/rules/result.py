"""What result.json must say of the run: its metrics, its inputs, and what came out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from batdispatch.audit.case import Case, Found, rule
from batdispatch.audit.findings import Fault
from batdispatch.audit.metrics import NETWORK, Value, attempts_of, metrics_of
from batdispatch.audit.words import SAME, is_amount, is_number, part, short

#: What a run says of itself: how it was made, and what came out.
_KEYS = {
    *("batdispatch", "python", "dispatcher", "label", "options", "seed", "decision_time", "decision_clock", "engine"),
    *("recorded", "clock", "command", "platform", "workload", "made_from"),
    *("decisions", "fallbacks", "dynamic_jobs", "rejected", "report", "metrics", "attempts", "performance", "files"),
}


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if is_number(one) and is_number(other):
        return bool(one == other) or math.isclose(one, other, rel_tol=SAME, abs_tol=SAME)
    if None in (one, other) and is_number(other if one is None else one):
        # JSON has no infinity: it stands there as null.
        return not math.isfinite(other if one is None else one)
    return bool(one == other)


def _compare(group: str, noted: Mapping[str, Any], expected: Mapping[str, Value]) -> Found:
    for name in sorted({*noted, *expected}):
        if name not in noted:
            yield Fault(f"result.json: {group}.{name} is missing, the jobs file gives {short(expected[name])}")
        elif name not in expected:
            yield Fault(f"result.json: {group}.{name} is {short(noted[name])}, which nothing in the run gives")
        elif not _same(noted[name], expected[name]):
            text = f"{short(noted[name])}, the jobs file gives {short(expected[name])}"
            yield Fault(f"result.json: {group}.{name} is {text}")


@rule("files", "result")
def metrics(case: Case) -> Found:
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
def result(case: Case) -> Found:
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


def _is_input(case: Case, name: str) -> Found:
    digest = case.digests[name]
    made = part(part(case.said, "made_from"), "sha256")
    for noted in (part(case.said, name).get("sha256"), made.get(name, digest if not made else "nothing")):
        if noted and noted != digest:
            yield Fault(f"it has SHA-256 {digest[:16]}..., the run was made with {str(noted)[:16]}...")


@rule("files", "result")
def platform_file(case: Case) -> Found:
    """The platform is the one that the run was made with."""
    return _is_input(case, "platform")


@rule("files", "result")
def workload_file(case: Case) -> Found:
    """The workload is the one that the run was made with."""
    return _is_input(case, "workload")


@rule("files", "result")
def events_file(case: Case) -> Found:
    """The external events are those that the run was made with."""
    return _is_input(case, "events") if "events" in case.digests else iter(())
