"""A run of the embedded engine is simulated again from its inputs, and must come out the same byte for byte."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from batdispatch.abilities.verify.audit.findings import NETWORK, Findings, Violation, part, short
from batdispatch.abilities.verify.checks.lines import KIND, first_difference, lines_of, moments_in
from batdispatch.abilities.verify.checks.rerun import conclude, differences, other_reasons, why_doubtful
from batdispatch.abilities.verify.checks.settings import spec_of
from batdispatch.core.errors import BatdispatchError
from batdispatch.inputs.files import content_digest
from batdispatch.results.decisions import PLANS, TIMES
from batdispatch.results.origins import Origins
from batdispatch.results.run_files import NAMES, RECORDING, find
from batdispatch.runs.run import InputFiles, execute
from batdispatch.runs.spec import RunSpec

#: What result.json says of what came out, beside the files.
_OUTCOME = ("options", "fallbacks", "dynamic_jobs", "report", "attempts")
#: Files without which a run's folder says less, but nothing wrong.
_SPARED = (NETWORK, PLANS)


def simulate_again(
    findings: Findings, folder: Path, result: Mapping[str, Any], origins: Origins, scratch: Path, files: InputFiles
) -> str:
    """Simulate a run again, add what comes out otherwise, and return why that cannot be done, or an empty text.

    A kernel simulates it if one applies, whatever simulated it. Where a kernel comes to something else than what was
    recorded, Python says what differs.

    Args:
        findings: to add to.
        folder: of the run.
        result: its result.json.
        origins: where its inputs are.
        scratch: an empty folder.
        files: what was read before.
    """
    spec = _spec_of(result)
    if isinstance(spec, str):
        return spec
    if origins.platform is None or origins.workload is None or (spec.external_events and origins.events is None):
        return "an input is not there to simulate the run again"
    here = msgspec.structs.replace(
        spec,
        platform=str(origins.platform),
        workload=str(origins.workload),
        external_events=None if origins.events is None else str(origins.events),
        record=(folder / RECORDING).is_file(),
        compiled="auto",
        decision_clock="wall",
    )
    if here.record and _is_as_in_a_kernel(folder, result, here, origins, scratch, files):
        conclude(findings, [], "")
        return ""
    try:
        again = execute(here, scratch, files=files)
        if not _has_times(result):
            again["decisions"] = {"count": 0}
            (scratch / TIMES).unlink(missing_ok=True)
        violations = [*_files(folder, scratch), *_facts(result, again, origins, recorded=here.record)]
    except (BatdispatchError, OSError) as problem:
        return f"the run cannot be simulated again: {problem}"
    doubt = why_doubtful(result, cut_short=bool(again["fallbacks"])) or _other_simgrid(result, again)
    conclude(findings, violations, doubt)
    return ""


def _is_as_in_a_kernel(
    folder: Path, result: Mapping[str, Any], spec: RunSpec, origins: Origins, scratch: Path, files: InputFiles
) -> bool:
    """Return whether a kernel simulates a recorded run, and comes to the same, its exchange included."""
    try:
        again = execute(msgspec.structs.replace(spec, compiled="always"), scratch, files=files)
        has_times = _has_times(result)
        if has_times:
            # It decides as often as in Python, at each message but the last, and takes no time of it.
            again["decisions"] = {"count": again["performance"]["messages"] - 1}
        violations = chain(_files(folder, scratch, timed=not has_times), _facts(result, again, origins, recorded=True))
        return next(violations, None) is None
    except (BatdispatchError, OSError):
        return False


def _has_times(result: Mapping[str, Any]) -> bool:
    """Return whether each decision of a run was timed, which a kernel that records its exchange does not do."""
    return not part(result, "engine").get("compiled")


def _spec_of(result: Mapping[str, Any]) -> RunSpec | str:
    """Return what a run was made from, or why it is not simulated again."""
    spec = spec_of(result)
    if isinstance(spec, str):
        return spec
    if spec.engine != "embedded":
        return f"{spec.engine} is not started again"
    if spec.decision_time is None:
        return "decisions took measured time, which does not repeat"
    return spec


def _other_simgrid(result: Mapping[str, Any], again: Mapping[str, Any]) -> str:
    noted, here = (part(each, "engine").get("simgrid") for each in (result, again))
    return "" if noted == here else f"the run had SimGrid {noted}, this is {here}"


def _facts(
    result: Mapping[str, Any], again: Mapping[str, Any], origins: Origins, *, recorded: bool
) -> Iterator[Violation]:
    """Yield what result.json says otherwise than what came out; a kernel counts no decision."""
    counts = {"performance": "messages", **({"decisions": "count"} if recorded else {})}
    expected = msgspec.json.decode(
        msgspec.json.encode(
            {
                **{name: again.get(name) for name in _OUTCOME},
                "metrics": _timeless(again["metrics"]),
                "platform": {**again["platform"], "path": part(result, "platform").get("path")},
                "workload": {**again["workload"], "path": part(result, "workload").get("path")},
                "inputs": part(again, "made_from").get("sha256"),
                **{place: {name: again[place][name]} for place, name in counts.items()},
            }
        )
    )
    found = {name: result.get(name) for name in expected}
    found["metrics"] = _timeless(part(result, "metrics"))
    found["inputs"] = part(result, "made_from").get("sha256")
    found |= {place: {name: part(result, place).get(name)} for place, name in counts.items()}
    yield from other_reasons(result, {each["job"]: each["reason"] for each in again["rejected"]})
    for name, one, other in differences(found, expected, "result"):
        yield Violation(KIND, f"{name} is {short(one, 160)}; simulated again, it is {short(other, 160)}")


def _timeless(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metrics that no clock measured; a kernel times no decision."""
    return {name: value for name, value in metrics.items() if not name.startswith("decisions_")}


def _files(folder: Path, again: Path, *, timed: bool = True) -> Iterator[Violation]:
    """Yield the first line of each file that differs; if no decision was timed, the times are those of the messages."""
    for name in NAMES:
        found, expected = find(folder, name), find(again, name)
        if name == TIMES and found is not None and not timed:
            lines = chain(["time"], moments_in(again / RECORDING))
            yield from first_difference(name, lines_of(found, name), lines, "simulated")
            continue
        if found is None and (expected is None or name in _SPARED):
            continue
        if found is None or expected is None:
            whether = "is not there; simulated again, the run writes it"
            yield Violation(KIND, f"{name} {whether if found is None else 'is there; simulated again, there is none'}")
        elif content_digest(found) != content_digest(expected):
            yield from first_difference(name, lines_of(found, name), lines_of(expected, name), "simulated")
