"""The dispatcher of a run decides again: whether a recorded exchange is one that it had.

The audit (`batdispatch.results.audit`) asks whether decisions and rows fit together, and shares no code with what made
them. Decisions that were changed together with everything that follows from them are only found by making them again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from batdispatch import __version__
from batdispatch.batsim import protocol
from batdispatch.core.dispatcher import create
from batdispatch.core.errors import BatdispatchError
from batdispatch.core.messages import Peer
from batdispatch.core.session import Session
from batdispatch.links.foreign import is_foreign
from batdispatch.links.informed import Informed
from batdispatch.links.replay import Difference, replay, told_by
from batdispatch.results.audit.findings import Findings, Violation
from batdispatch.results.audit.run import Auditor, Site
from batdispatch.results.run_files import RECORDING

#: When a run's dispatcher decides again.
When = Literal["auto", "always", "never"]
#: Runs whose simulation took longer than this, in seconds, are not decided again unless it is asked for.
LONG = 60.0
KIND = "decision"


def audit_all(auditor: Auditor, folder: Path, when: When) -> Findings:
    """Audit a run's folder, and let its dispatcher decide again.

    Raises:
        InputError: as for `Auditor.run`.
    """
    findings = auditor.run(folder)
    inputs = auditor.inputs(folder)
    decide_again(findings, folder, inputs.said, inputs.platform, when)
    return findings


def decide_again(findings: Findings, folder: Path, result: Mapping[str, Any], platform: Site, when: When) -> None:
    """Let the dispatcher that result.json names answer the recorded messages, and add where it decides otherwise.

    Where that cannot be done, the findings say why under what was skipped. Unless `when` is ``always``, source files
    that result.json names are not run: the folder may be a stranger's.

    Args:
        findings: to add to.
        folder: of the run.
        result: its result.json.
        platform: that the run was on.
        when: whether to.
    """
    path = folder / RECORDING
    reason = "" if when == "always" else _why_not(result)
    if when == "never" or not path.is_file() or not result.get("dispatcher"):
        return
    if is_foreign(str(result["dispatcher"])):
        reason = "it is a scheduler of another program"
    if result.get("decision_time") == "measured":
        reason = "decisions took measured time, which does not repeat"
    if reason:
        findings.skipped[KIND] = f"the dispatcher did not decide again: {reason}"
        return
    try:
        _decide_again(findings, path, result, platform)
    except (BatdispatchError, OSError) as problem:
        findings.add(Violation(KIND, f"the dispatcher cannot decide again as recorded: {problem}"))


def _why_not(result: Mapping[str, Any]) -> str:
    """Return why a run is not decided again unasked, or an empty text."""
    if result.get("batdispatch") != __version__:
        return f"the run is of version {result.get('batdispatch')}, this is {__version__} (--replay always does it)"
    if any(":" in text for text in _texts([result.get("dispatcher"), result.get("options")])):
        return "it is, or uses, a source file, which is only run if --replay always says so"
    seconds = (result.get("performance") or {}).get("simulation_seconds")
    if isinstance(seconds, int | float) and seconds > LONG:
        return f"the simulation took {seconds:.0f} s (--replay always does it)"
    return ""


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts within a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)


def _decide_again(findings: Findings, path: Path, result: Mapping[str, Any], platform: Site) -> None:
    findings.checked.append(KIND)
    takes = result.get("decision_time")
    session = Session(
        create(str(result["dispatcher"]), result.get("options") or {}, int(result.get("seed") or 0)),
        decision_time=float(takes) if isinstance(takes, int | float) else 0.0,
    )
    peer: Peer = Informed(session, platform.machine, source=str(platform.path))
    found = replay(path, peer, protocol(told_by(path)), times=True)
    if found.difference is not None:
        if result.get("fallbacks"):
            # A solver that was stopped by the clock may have come to something else.
            findings.skipped[KIND] = f"a solver ran out of time, and the decisions do not repeat: {found.difference}"
        else:
            findings.add(_violation(found.difference))
        return
    rejections = [] if session.ledger is None else session.ledger.rejections
    reasons = dict(rejections)
    for each in result.get("rejected") or []:
        job, reason = str(each.get("job")), each.get("reason")
        if reasons.get(job) != reason:
            message = f"result.json gives the reason {str(reason)[:200]!r}, the dispatcher {reasons.get(job)!r}"
            findings.add(Violation(KIND, message, job=job.partition("!")[2]))
    again = msgspec.json.decode(msgspec.json.encode(session.report))
    for name, one, other in _differences(result.get("report") or {}, again, "report"):
        findings.add(Violation("report", f"result.json says {name} = {one!r}, the dispatcher reports {other!r}"))


def _violation(found: Difference) -> Violation:
    message = f"the dispatcher decides otherwise: {found}"
    return Violation(KIND, message, job=found.job.partition("!")[2], time=found.now)


def _differences(one: Any, other: Any, name: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield (name, one, other) where two reports differ; wall-clock times never repeat."""
    if "seconds" in name.rpartition(".")[2]:
        return
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}):
            yield from _differences(one.get(key), other.get(key), f"{name}.{key}")
    elif isinstance(one, float) and isinstance(other, float):
        if not math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-6):
            yield name, one, other
    elif one != other:
        yield name, one, other
