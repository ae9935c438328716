"""A run without a recorded exchange is simulated again from its inputs, and must come out the same byte for byte."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

import msgspec

from batdispatch.audit.findings import Findings, Violation
from batdispatch.core.errors import BatdispatchError
from batdispatch.inputs.files import MAX_BYTES, content_digest, file_digest, read_all
from batdispatch.parts.solving.account import MEASURED
from batdispatch.results.decisions import PLANS, TIMES
from batdispatch.results.origins import Origins
from batdispatch.results.run_files import NAMES, RECORDING, SPARABLE
from batdispatch.runs.checking.rerun import KIND, When, conclude, differences, why_doubtful, why_not
from batdispatch.runs.run import InputFiles, execute, stated_by
from batdispatch.runs.spec import RunSpec

SCHEDULE = "schedule.csv"
#: Columns of schedule.csv that say what simulated, and how long that took.
_OF_THE_ENGINE = ("batsim_version", "scheduling_time", "simulation_time")
#: What result.json says of what came out, beside the files.
_OUTCOME = ("options", "fallbacks", "dynamic_jobs", "rejected", "report", "attempts")
_ENDINGS = ("", ".xz", ".gz")


def simulate_again(
    findings: Findings,
    folder: Path,
    result: Mapping[str, Any],
    origins: Origins,
    when: When,
    scratch: Path,
    files: InputFiles,
) -> None:
    """Simulate a run again, and add what comes out otherwise.

    It is simulated by a kernel if one applies, whatever simulated the run.

    Args:
        findings: to add to.
        folder: of the run.
        result: its result.json.
        origins: where its inputs are.
        when: whether to; see `runs.checking.rerun`.
        scratch: an empty folder.
        files: what was read before.
    """
    spec = _spec_of(result, when)
    if isinstance(spec, str):
        findings.undone[KIND] = spec
        return
    if origins.platform is None or origins.workload is None or (spec.external_events and origins.events is None):
        findings.undone[KIND] = f"there is no {RECORDING}, and an input is not there to simulate the run again"
        return
    here = msgspec.structs.replace(
        spec,
        platform=str(origins.platform),
        workload=str(origins.workload),
        external_events=None if origins.events is None else str(origins.events),
        record=False,
        compiled="auto",
        decision_clock="wall",
    )
    try:
        again = execute(here, scratch, files=files)
        violations = [*_facts(spec, result, again, origins), *_files(folder, scratch)]
    except (BatdispatchError, OSError) as problem:
        findings.undone[KIND] = f"the run cannot be simulated again: {problem}"
        return
    doubt = why_doubtful(result, cut_short=bool(again["fallbacks"])) or _other_simgrid(result, again)
    conclude(findings, violations, doubt)


def _spec_of(result: Mapping[str, Any], when: When) -> RunSpec | str:
    """Return what a run was made from, or why it is not simulated again."""
    settings = (result.get("made_from") or {}).get("settings")
    if not isinstance(settings, dict):
        return f"there is no {RECORDING}, and result.json does not say what the run was made from (made_from)"
    reason = why_not({**result, **settings}, when)
    if reason:
        return reason
    try:
        spec = msgspec.convert(settings, RunSpec)
    except msgspec.ValidationError as problem:
        return f"there is no {RECORDING}, and made_from.settings cannot be read: {problem}"
    if spec.engine != "embedded":
        return f"there is no {RECORDING}, and {spec.engine} is not started again"
    if spec.decision_time is None:
        return f"there is no {RECORDING}, and decisions took measured time, which does not repeat"
    return spec


def _other_simgrid(result: Mapping[str, Any], again: Mapping[str, Any]) -> str:
    noted, here = ((each.get("engine") or {}).get("simgrid") for each in (result, again))
    return "" if noted == here else f"the run had SimGrid {noted}, this is {here}"


def _facts(spec: RunSpec, result: Mapping[str, Any], again: Mapping[str, Any], origins: Origins) -> Iterator[Violation]:
    """Yield what result.json says otherwise than its settings and what came out."""
    expected = msgspec.json.decode(
        msgspec.json.encode(
            {
                **stated_by(spec),
                **{name: again.get(name) for name in _OUTCOME},
                "metrics": _timeless(again["metrics"]),
                "platform": {**again["platform"], "path": spec.platform},
                "workload": {**again["workload"], "path": spec.workload},
                "inputs": _digests(origins),
            }
        )
    )
    found = {name: result.get(name) for name in expected}
    found["metrics"] = _timeless(result.get("metrics") or {})
    found["inputs"] = (result.get("made_from") or {}).get("sha256")
    for name, one, other in differences(found, expected, "result"):
        yield Violation(KIND, f"{name} is {_short(one)}; simulated again, it is {_short(other)}")


def _digests(origins: Origins) -> dict[str, str]:
    return {name: file_digest(path) for name, path in origins._asdict().items() if path is not None}


def _timeless(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metrics that no clock measured; a kernel times no decision."""
    return {name: value for name, value in metrics.items() if not name.startswith("decisions_")}


def _files(folder: Path, again: Path) -> Iterator[Violation]:
    """Yield the first line of each file that differs."""
    for name in NAMES:
        found, expected = _find(folder, name), _find(again, name)
        if name in (RECORDING, TIMES) or (found is None and (expected is None or name in SPARABLE)):
            continue
        if found is None or expected is None:
            whether = "is not there; simulated again, the run writes it"
            yield Violation(KIND, f"{name} {whether if found is None else 'is there; simulated again, there is none'}")
        elif content_digest(found) != content_digest(expected):
            yield from _first_difference(name, found, expected)


def _find(folder: Path, name: str) -> Path | None:
    return next((path for ending in _ENDINGS if (path := folder / f"{name}{ending}").is_file()), None)


def _first_difference(name: str, found: Path, expected: Path) -> Iterator[Violation]:
    lines = zip_longest(_lines(found, name), _lines(expected, name), fillvalue="nothing")
    for number, (one, other) in enumerate(lines, start=1):
        if one != other:
            job = one.partition(",")[0] if name == "jobs.csv" else ""
            message = f"{name}, line {number}, is {_short(one)}; simulated again, it is {_short(other)}"
            yield Violation(KIND, message, job=job)
            return


def _lines(path: Path, name: str) -> list[str]:
    """Return the lines of a file of a run without what a clock or the engine says of itself."""
    text = read_all(path, limit=MAX_BYTES)[0].decode(errors="replace")
    if name == SCHEDULE:
        return [f"{key}={value}" for key, value in _sums(text) if key not in _OF_THE_ENGINE]
    lines = text.splitlines(keepends=True)
    return [_without_times(line) for line in lines] if name == PLANS else lines


def _sums(text: str) -> Iterator[tuple[str, str]]:
    for row in csv.DictReader(io.StringIO(text)):
        yield from ((str(key), str(value)) for key, value in row.items())


def _without_times(line: str) -> str:
    try:
        facts = msgspec.json.decode(line)
    except msgspec.DecodeError:
        return line
    if not isinstance(facts, dict):
        return line
    return msgspec.json.encode({key: value for key, value in facts.items() if key not in MEASURED}).decode()


def _short(value: Any) -> str:
    text = repr(value.rstrip("\n") if isinstance(value, str) else value)
    return text if len(text) <= 160 else text[:157] + "..."
