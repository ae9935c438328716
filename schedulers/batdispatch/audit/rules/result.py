"""What result.json must say of the run: its metrics, its inputs, its command, and what it was made from."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from batdispatch.audit.case import Case, rule
from batdispatch.audit.findings import Fault
from batdispatch.audit.metrics import NETWORK, Value, attempts_of, metrics_of
from batdispatch.audit.words import SAME, is_number, short

Found = Iterator[Fault]
#: What a run says of itself.
_KEYS = frozenset(
    [
        "batdispatch",
        "python",
        "dispatcher",
        "label",
        "options",
        "seed",
        "decision_time",
        "decision_clock",
        "engine",
        "recorded",
        "clock",
        "command",
        "platform",
        "workload",
        "decisions",
        "fallbacks",
        "dynamic_jobs",
        "rejected",
        "report",
        "metrics",
        "attempts",
        "performance",
        "made_from",
        "files",
    ]
)
#: What the command says without the option.
_USUAL = {"--decision-time": "none", "--clock": "together", "--engine": "embedded", "--decision-clock": "wall"}


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if is_number(one) and is_number(other):
        return bool(one == other) or math.isclose(one, other, rel_tol=SAME, abs_tol=SAME)
    if None in (one, other) and is_number(other if one is None else one):
        # JSON has no infinity: it stands there as null.
        return not math.isfinite(other if one is None else one)
    return bool(one == other)


def _part(said: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = said.get(name)
    return found if isinstance(found, dict) else {}


def _compare(group: str, found: Mapping[str, Any], expected: Mapping[str, Value]) -> Found:
    for name in sorted({*found, *expected}):
        if name not in found:
            yield Fault(f"result.json: {group}.{name} is missing, the jobs file gives {short(expected[name])}")
        elif name not in expected:
            yield Fault(f"result.json: {group}.{name} is {short(found[name])}, which nothing in the run gives")
        elif not _same(found[name], expected[name]):
            text = f"{short(found[name])}, the jobs file gives {short(expected[name])}"
            yield Fault(f"result.json: {group}.{name} is {text}")


@rule("metrics", "files", "Every metric of result.json follows from the rows, and none is missing.", "result")
def metrics(case: Case) -> Found:
    if "metrics" not in case.said:
        return
    found = _part(case.said, "metrics")
    yield from _compare("metrics", {name: found[name] for name in found if name not in NETWORK}, metrics_of(case))
    for name in NETWORK:
        if name not in found:
            yield Fault(f"result.json: metrics.{name} is missing")
        elif found[name] is not None and not case.machine.networked:
            yield Fault(f"result.json: metrics.{name} is {short(found[name])}, and the platform has no network")
    if "failed_attempts" in _part(case.said, "report") or "attempts" in case.said:
        yield from _compare("attempts", _part(case.said, "attempts"), attempts_of(case))


@rule(
    "result",
    "files",
    "result.json says of itself, of the platform, the workload and the exchange what they are.",
    "result",
)
def result(case: Case) -> Found:
    if "metrics" not in case.said:
        return
    said, course, machine = case.said, case.course, case.machine
    for name in sorted(said.keys() - _KEYS):
        yield Fault(f"result.json has {name!r}, which no run says of itself")
    totals = dict(zip(machine.resources, machine.capacity.sum(axis=0).tolist(), strict=True))
    report, performance = _part(said, "report"), _part(said, "performance")
    stated: list[tuple[str, Any, Any]] = [
        ("platform.hosts", _part(said, "platform").get("hosts", machine.size), machine.size),
        ("platform.resources", _part(said, "platform").get("resources", {}), {} if machine.exclusive else totals),
        ("workload.jobs", _part(said, "workload").get("jobs", len(case.workload.jobs)), len(case.workload.jobs)),
        ("fallbacks", said.get("fallbacks", 0), int(report.get("fallbacks", 0))),
    ]
    if course is not None and course.complete:
        if "dynamic-jobs-enabled" in course.config:
            stated.append(("dynamic_jobs", said.get("dynamic_jobs"), bool(course.config["dynamic-jobs-enabled"])))
        if _part(said, "decisions").get("count"):
            stated.append(("decisions.count", said["decisions"]["count"], len(course.moments)))
        # Behind Batsim 5 the handshake may count as a message.
        counts = {course.messages, course.messages + course.handshakes}
        if performance.get("messages", course.messages) not in counts:
            stated.append(("performance.messages", performance["messages"], course.messages))
    for name, found, expected in stated:
        if not _same(found, expected):
            yield Fault(f"result.json: {name} is {short(found)}, and should be {short(expected)}")
    for name, value in performance.items():
        if not is_number(value) or not 0 <= value < math.inf:
            yield Fault(f"result.json: performance.{name} is {value!r}, expected a number from 0")


class Command:
    """A command line, option by option.

    Attributes:
        words: as the shell reads them.
        options: name -> the texts that it was given, in order.
    """

    def __init__(self, text: Any) -> None:
        """Read a command line; what is none has no words."""
        try:
            self.words = shlex.split(text) if isinstance(text, str) else [str(word) for word in text or ()]
        except (ValueError, TypeError):
            self.words = []
        self.options: dict[str, list[str]] = {}
        name = ""
        for word in self.words:
            if word.startswith("--"):
                name, mark, value = word.partition("=")
                self.options.setdefault(name, []).extend([value] if mark else [])
            elif name:
                self.options[name].append(word)

    def one(self, name: str) -> str | None:
        """Return what an option was given; None: it was not."""
        return next(iter(self.options.get(name, ())), _USUAL.get(name))


@rule("command", "files", "The command that repeats the run names what result.json names.", "result")
def command(case: Case) -> Found:
    said = case.said
    if "command" not in said:
        return
    line = Command(said["command"])
    if line.words[1:2] != ["run"]:
        yield Fault(f"result.json: command is {short(said['command'])}, expected batdispatch run ...")
        return
    for name, found, option in (
        ("dispatcher", said.get("dispatcher"), "--dispatcher"),
        ("platform.path", _part(said, "platform").get("path"), "--platform"),
        ("workload.path", _part(said, "workload").get("path"), "--workload"),
        ("seed", str(said.get("seed")), "--seed"),
        ("decision_time", said.get("decision_time"), "--decision-time"),
        ("decision_clock", said.get("decision_clock"), "--decision-clock"),
        ("clock", said.get("clock"), "--clock"),
        ("engine.name", _part(said, "engine").get("name"), "--engine"),
    ):
        # A scheduler of another program states with each answer how long it took.
        if found is not None and found != "own" and str(found) != line.one(option):
            yield Fault(f"result.json: {name} is {short(found)}, and should be {short(line.one(option))}")
    options, settings = said.get("options"), dict(text.partition("=")[::2] for text in line.options.get("--set", ()))
    for name, value in settings.items():
        stated = options.get(name) if isinstance(options, dict) else None
        if isinstance(stated, str) and stated != value:
            yield Fault(f"result.json: options.{name} is {stated!r}, the command sets {value!r}")
    label = _label(str(said.get("dispatcher")), settings)
    if said.get("label", label) != label:
        yield Fault(f"result.json: label is {short(said['label'])}, and should be {short(label)}")


def _label(dispatcher: str, settings: Mapping[str, str]) -> str:
    """Return the name of a run's folder: the dispatcher and the options that it was given."""
    name = dispatcher.rpartition(":")[2].lower() if ":" in dispatcher else dispatcher
    if re.match(r"(batsched|pybatsim):", dispatcher):
        name = dispatcher.replace(":", "-", 1).replace("/", "_")
    parts = [name, *(f"{key}={value}" for key, value in settings.items())]
    return re.sub(r"[^A-Za-z0-9=.,_-]", "_", ",".join(parts))


@rule("made from", "files", "The settings that the run was made from are those that result.json names.", "result")
def made_from(case: Case) -> Found:
    said = case.said
    if "metrics" not in said:
        return
    made, settings = _part(said, "made_from"), _part(_part(said, "made_from"), "settings")
    if not settings:
        yield Fault("result.json: made_from is missing")
        return
    line = Command(said.get("command"))
    takes = settings.get("decision_time")
    expected = {
        "dispatcher": said.get("dispatcher"),
        "platform": _part(said, "platform").get("path"),
        "workload": _part(said, "workload").get("path"),
        "seed": said.get("seed"),
        "engine": _part(said, "engine").get("name"),
        "clock": said.get("clock"),
        "record": said.get("recorded"),
        "decision_clock": said.get("decision_clock"),
        "master_host": line.one("--master-host"),
        "external_events": line.one("--events"),
        "simgrid": line.one("--simgrid") or "auto",
        "compiled": line.one("--compiled") or "auto",
        "batsim": line.one("--batsim"),
        "nix": line.one("--nix"),
        "options": dict(text.partition("=")[::2] for text in line.options.get("--set", ())),
    }
    for name, value in expected.items():
        if name in settings and settings[name] != value:
            yield Fault(
                f"result.json: made_from.settings.{name} is {short(settings[name])}, and should be {short(value)}"
            )
    stated = said.get("decision_time")
    if stated not in ("own", "measured" if takes is None else takes or "none"):
        yield Fault(f"result.json: made_from.settings.decision_time is {takes!r}, decision_time {stated!r}")
    for name in ("batdispatch", "python"):
        if made.get(name) != said.get(name):
            yield Fault(f"result.json: made_from.{name} is {made.get(name)!r}, and should be {said.get(name)!r}")
    for name, digest in _part(made, "sha256").items():
        known = case.digests.get(name)
        if known is not None and digest != known:
            yield Fault(f"result.json: made_from.sha256.{name} is {short(digest)}, the file has {known}")
    for name in ("platform", "workload"):
        if name not in _part(made, "sha256") and name in case.digests and _part(said, name).get("sha256"):
            yield Fault(f"result.json: made_from.sha256.{name} is missing")


def _is_input(case: Case, name: str) -> Found:
    noted, found = _part(case.said, name).get("sha256"), case.digests.get(name)
    if noted and noted != found:
        yield Fault(f"it has SHA-256 {str(found)[:16]}..., the run was made with {str(noted)[:16]}...")


@rule("platform file", "files", "The platform is the one that the run was made with.", "result")
def platform_file(case: Case) -> Found:
    return _is_input(case, "platform")


@rule("workload file", "files", "The workload is the one that the run was made with.", "result")
def workload_file(case: Case) -> Found:
    return _is_input(case, "workload")
