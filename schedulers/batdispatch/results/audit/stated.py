"""What result.json says, worked out again from the other files of the run."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from batdispatch.core.errors import InputError
from batdispatch.core.machine import Machine
from batdispatch.results.audit.exchange import Course
from batdispatch.results.audit.findings import Findings, Violation
from batdispatch.results.audit.jobs import Facts
from batdispatch.results.columns import RunColumns
from batdispatch.results.lineage import Lineage
from batdispatch.results.metrics.attempts import attempt_metrics
from batdispatch.results.network.table import FIELDS, read_table
from batdispatch.results.network.table import FILE as NETWORK
from batdispatch.results.network.use import NetworkUse
from batdispatch.results.run_files import RECORDING
from batdispatch.results.runs import figures_of
from batdispatch.results.usage import JobFacts

#: Relative difference below which two values of a metric are the same.
SAME = 1e-9


class Command:
    """The command line that result.json says repeats the run, option by option.

    Attributes:
        options: name -> the texts that it was given, in order.
    """

    def __init__(self, text: Any) -> None:
        """Read a command line.

        Raises:
            InputError: it is none of `run`.
        """
        try:
            words = shlex.split(text) if isinstance(text, str) else [str(word) for word in text]
        except (ValueError, TypeError) as problem:
            raise InputError(f"is no command line: {problem}", place="command") from None
        self.options: dict[str, list[str]] = {}
        name = ""
        for word in words:
            if word.startswith("--"):
                name, mark, value = word.partition("=")
                self.options.setdefault(name, [])
                if mark:
                    self.options[name].append(value)
            elif name:
                self.options[name].append(word)
        if words[1:2] != ["run"]:
            raise InputError(f"found {' '.join(words)[:80]!r}, expected batdispatch run ...", place="command")

    def one(self, name: str) -> str | None:
        """Return what an option was given, None where it was not."""
        return next(iter(self.options.get(name, ())), None)


def check_stated(
    findings: Findings,
    result: Mapping[str, Any],
    columns: RunColumns,
    lineage: Lineage,
    machine: Machine,
    facts: Facts,
    folder: Path,
    course: Course | None,
) -> None:
    """Every value in result.json that follows from other files is the one that follows."""
    findings.checked += ["metrics", "result"]

    def wrong(message: str, kind: str = "result") -> None:
        findings.add(Violation(kind, f"result.json: {message}"))

    def agree(name: str, found: Any, expected: Any) -> None:
        if not _same(found, expected):
            wrong(f"{name} is {_short(found)}, and should be {_short(expected)}")

    metrics = result.get("metrics")
    try:
        figures = figures_of(
            columns,
            result,
            machine=machine,
            facts=JobFacts(facts.jobs, facts.asking, facts.asking.users()),
            folder=folder,
        )
        _compare(wrong, "metrics", metrics if isinstance(metrics, dict) else {}, figures.metrics)
        _check_network(findings, figures.network, columns, folder / NETWORK)
        if "attempts" in result:
            _compare(wrong, "attempts", result["attempts"], attempt_metrics(columns, machine.size, lineage))
    except InputError as problem:
        wrong(f"its metrics cannot be worked out: {problem}", "metrics")
    platform, workload = result.get("platform", {}), result.get("workload", {})
    if "hosts" in platform:
        agree("platform.hosts", platform["hosts"], machine.size)
    if "resources" in platform:
        totals = {} if machine.exclusive else dict(zip(machine.resources, machine.total().tolist(), strict=True))
        agree("platform.resources", platform["resources"], totals)
    if "jobs" in workload:
        agree("workload.jobs", workload["jobs"], len(facts.jobs.table))
    report = result.get("report")
    if "fallbacks" in result and isinstance(report, dict):
        agree("fallbacks", result["fallbacks"], int(report.get("fallbacks", 0)))
    if "command" in result:
        _check_command(wrong, agree, result)
    if course is not None and course.complete:
        if "dynamic_jobs" in result and "dynamic-jobs-enabled" in course.config:
            agree("dynamic_jobs", result["dynamic_jobs"], bool(course.config["dynamic-jobs-enabled"]))
        decisions, performance = result.get("decisions"), result.get("performance")
        if isinstance(decisions, dict) and decisions.get("count"):
            agree("decisions.count", decisions["count"], course.decided)
        if isinstance(performance, dict) and "messages" in performance:
            agree("performance.messages", performance["messages"], course.messages)


def _check_network(findings: Findings, use: NetworkUse | None, columns: RunColumns, path: Path) -> None:
    """network.csv, where it is there, says of each row what follows from allocations and times."""
    if not path.is_file():
        return
    findings.checked.append("network")
    try:
        table = read_table(path, columns)
    except InputError as problem:
        findings.add(Violation("network", str(problem)))
        return
    if use is None:
        findings.add(Violation("network", f"{path.name} is there, and the machine has no network"))
        return
    for name, field in FIELDS.items():
        found, expected = table[name], getattr(use, field).astype(np.float64)
        # Six decimals are written.
        same = np.isclose(found, expected, rtol=SAME, atol=2e-6, equal_nan=True)
        for row in np.flatnonzero(~same).tolist():
            message = f"{path.name}: {name} is {found[row]:g}, its hosts and times give {expected[row]:g}"
            findings.add(Violation("network", message, job=str(columns.job_id[row])))


def check_recorded(findings: Findings, result: Mapping[str, Any], path: Path) -> None:
    """The exchange is there if the run wrote one; if it is not there, say what cannot be checked without it."""
    if result.get("recorded"):
        findings.checked.append("exchange")
        findings.add(Violation("exchange", f"{RECORDING} is missing, and result.json says that the run wrote it"))
    findings.skipped["exchange"] = (
        f"there is no {path.name}: nothing says which decisions led to starts, kills and rejections"
    )


def _compare(wrong: Any, group: str, found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    for name in sorted({*found, *expected}):
        if name not in found:
            wrong(f"{group}.{name} is missing, the jobs file gives {_short(expected[name])}", "metrics")
        elif name not in expected:
            wrong(f"{group}.{name} is {_short(found[name])}, which nothing in the run gives", "metrics")
        elif not _same(found[name], expected[name]):
            wrong(f"{group}.{name} is {_short(found[name])}, the jobs file gives {_short(expected[name])}", "metrics")


def _check_command(wrong: Any, agree: Any, result: Mapping[str, Any]) -> None:
    """The command that repeats the run names the dispatcher, inputs, seed and decision time that result.json names."""
    try:
        command = Command(result["command"])
    except InputError as problem:
        wrong(str(problem))
        return
    for name, found, option in (
        ("dispatcher", result.get("dispatcher"), "--dispatcher"),
        ("platform.path", result.get("platform", {}).get("path"), "--platform"),
        ("workload.path", result.get("workload", {}).get("path"), "--workload"),
        ("seed", str(result.get("seed")), "--seed"),
        ("decision_time", str(result.get("decision_time")), "--decision-time"),
        ("clock", result.get("clock"), "--clock"),
        ("engine.name", result.get("engine", {}).get("name"), "--engine"),
    ):
        said = command.one(option)
        if said is None:
            said = {"--decision-time": "none", "--clock": "together", "--engine": "embedded"}.get(option)
        if name in ("clock", "decision_time") and name not in result:
            continue
        # A scheduler of another program states with each answer how long it took.
        if name == "decision_time" and found == "own":
            continue
        agree(name, found, said)
    options = result.get("options")
    for setting in command.options.get("--set", ()):
        name, _, value = setting.partition("=")
        if isinstance(options, dict) and name in options:
            stated = options[name]
            if isinstance(stated, str) and stated != value:
                wrong(f"options.{name} is {stated!r}, the command sets {value!r}")


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return bool(one == other) or (
            math.isclose(one, other, rel_tol=SAME, abs_tol=SAME) or (math.isnan(one) and math.isnan(other))
        )
    if isinstance(one, float) != isinstance(other, float) and (one is None or other is None):
        # JSON has no infinity: it stands there as null.
        return not math.isfinite(other if one is None else one)
    return bool(one == other)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
