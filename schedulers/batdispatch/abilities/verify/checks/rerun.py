"""The dispatcher of a run decides again: whether a recorded exchange is one that it had.

The audit asks whether decisions and rows fit together, and shares no code with what made them. Decisions
that were changed together with everything that follows from them are only found by making them again.

What is done does not depend on what the folder says of its cost: a forger writes that, too. What cannot be done, or
proves nothing, is told under what is undone (`Findings.undone`), so that nobody takes it for done.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import msgspec

from batdispatch import __version__
from batdispatch.abilities.verify.audit.findings import Findings, Violation, part, short
from batdispatch.abilities.verify.checks.lines import KIND, first_difference, lines_of, without_times
from batdispatch.abilities.verify.checks.options import When
from batdispatch.batsim import protocol
from batdispatch.core.errors import BatdispatchError
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.messages import Message, Peer, Reply
from batdispatch.core.line.session import Session
from batdispatch.core.machine.machine import Machine
from batdispatch.links.foreign import is_foreign
from batdispatch.links.platform_peer import PlatformPeer
from batdispatch.links.replay import Difference, replay, told_by
from batdispatch.results.decisions import PLANS
from batdispatch.results.run_files import RECORDING, find

#: Options whose values `FILE:COLUMN` are read as series, and never as somebody's class.
SERIES = ("price", "cap", "carbon", "water")
#: What may be a name or a value in a dispatcher's text, and such an option in it.
_WORD, _SERIES_TEXT = re.compile(r"[^\s\[\]=,]+"), re.compile(rf"\b(?:{'|'.join(SERIES)})=[^\[\]=,]+")


def why_not(result: Mapping[str, Any], when: When, series: Mapping[str, Path | None]) -> str:
    """Return why the dispatcher that result.json names does not decide again, or an empty text.

    Args:
        result: result.json.
        when: whether it is to.
        series: where the files are that its options name, see `results.origins.find_series`.
    """
    if when == "never":
        return "--replay never"
    if not result:
        return "there is no result.json, so nothing says which dispatcher decided"
    name = result.get("dispatcher")
    if not isinstance(name, str) or not name:
        return "result.json names no dispatcher"
    if is_foreign(name):
        return f"{name} is a scheduler of another program"
    missing = next((text for text, path in series.items() if path is None), None)
    if missing is not None:
        return f"{missing}, which an option names, is not there"
    options = {key: value for key, value in part(result, "options").items() if key not in SERIES}
    texts = [_SERIES_TEXT.sub("", text) for text in _texts([name, options])]
    if when == "auto" and any(_may_name_code(word) for text in texts for word in _WORD.findall(text)):
        return "the dispatcher or an option of it names a source file, which only --replay always runs"
    return ""


def _may_name_code(word: str) -> bool:
    """Return whether a word of a dispatcher's text may be `module:Class` or `file.py:Class`; a date is none."""
    return ":" in word and word.rpartition(":")[2].isidentifier()


def decide_again(findings: Findings, folder: Path, result: Mapping[str, Any], machine: Machine) -> None:
    """Let the dispatcher that result.json names answer the recorded messages, and add where it decides otherwise.

    Args:
        findings: to add to.
        folder: of the run, with a recording.
        result: its result.json.
        machine: of its platform.
    """
    try:
        session = _session_of(result)
    except (BatdispatchError, TypeError, ValueError) as problem:
        findings.undone[KIND] = f"the dispatcher cannot be set up here: {problem}"
        return
    try:
        violations = list(_contradictions(session, folder / RECORDING, result, machine))
    except (BatdispatchError, OSError) as problem:
        violations = [Violation(KIND, f"the dispatcher cannot decide again as recorded: {problem}")]
    conclude(findings, violations, why_doubtful(result, cut_short=_is_cut_short(session)))


def conclude(findings: Findings, violations: list[Violation], doubt: str) -> None:
    """Add what a rerun found.

    Args:
        findings: to add to.
        violations: where the rerun came to something else.
        doubt: why that proves nothing, from `why_doubtful`.
    """
    if violations and doubt:
        findings.undone[KIND] = f"{doubt}, and here it comes to something else: {violations[0]}"
        return
    findings.checked.append(KIND)
    for violation in violations:
        findings.add(violation)


def why_doubtful(result: Mapping[str, Any], *, cut_short: bool) -> str:
    """Return why a rerun that comes to something else proves nothing, or an empty text.

    Args:
        result: result.json.
        cut_short: whether the clock stopped a solver of the rerun.
    """
    if result.get("batdispatch") != __version__:
        return f"the run is of version {result.get('batdispatch')}, this is {__version__}"
    if result.get("fallbacks") or cut_short:
        return "the clock stopped a solver, which does not repeat"
    for name, noted in part(part(result, "made_from"), "packages").items():
        with suppress(PackageNotFoundError):
            if version(name) != noted:
                return f"the run had {name} {noted}, this is {version(name)}"
    return ""


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts within a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)


def _session_of(result: Mapping[str, Any]) -> Session:
    """Return a fresh session of the run's dispatcher; decisions that took measured time are given theirs one by one."""
    takes = result.get("decision_time")
    return Session(
        create(str(result["dispatcher"]), result.get("options") or {}, int(result.get("seed") or 0)),
        decision_time=float(takes) if isinstance(takes, int | float) else 0.0,
    )


def _is_cut_short(session: Session) -> bool:
    """Return whether the clock stopped a solver of the session."""
    # The report of somebody else's dispatcher may fail before the end.
    with suppress(Exception):
        return bool((session.report or session.dispatcher.report()).get("fallbacks"))
    return False


def _contradictions(session: Session, path: Path, result: Mapping[str, Any], machine: Machine) -> Iterator[Violation]:
    """Yield what the dispatcher says otherwise than the recording and result.json do."""
    peer: Peer = PlatformPeer(session, machine, source=str(part(result, "platform").get("path")))
    measured = result.get("decision_time") == "measured"
    before = _taking_time_as_recorded(session) if measured else None
    found = replay(path, peer, protocol(told_by(path)), times=True, before=before)
    if found.difference is not None:
        yield _violation(found.difference)
        return
    yield from other_reasons(result, dict([] if session.ledger is None else session.ledger.rejections))
    noted, registers = result.get("dynamic_jobs"), session.dispatcher.registers_jobs
    if noted != registers:
        yield Violation(KIND, f"result.json says that dynamic_jobs is {noted}, for this dispatcher it is {registers}")
    again = msgspec.json.decode(msgspec.json.encode(session.report))
    for name, one, other in differences(result.get("report") or {}, again, "report"):
        yield Violation("report", f"result.json says {name} = {one!r}, the dispatcher reports {other!r}")
    plans = find(path.parent, PLANS)
    if plans is not None:
        yield from first_difference(
            PLANS, lines_of(plans, PLANS), map(without_times, session.dispatcher.notes()), "decided"
        )


def other_reasons(result: Mapping[str, Any], reasons: Mapping[str, str]) -> Iterator[Violation]:
    """Yield the jobs for whose rejection result.json gives another reason than the rerun (job -> reason)."""
    given = {str(each.get("job")): each.get("reason") for each in result.get("rejected") or []}
    for job in sorted({*given, *reasons}):
        if given.get(job) != reasons.get(job):
            told, again = (short(each.get(job), 200) for each in (given, reasons))
            message = f"result.json gives the reason {told}, the dispatcher {again}"
            yield Violation(KIND, message, job=job.partition("!")[2])


def _taking_time_as_recorded(session: Session) -> Callable[[Message, Reply | None], None]:
    """Return what lets each decision take the time that the recorded one took: a measured time does not repeat."""

    def before(message: Message, recorded: Reply | None) -> None:
        session.decision_time = 0.0 if recorded is None else recorded.now - message.now

    return before


def _violation(found: Difference) -> Violation:
    message = f"the dispatcher decides otherwise: {found}"
    return Violation(KIND, message, job=found.job.partition("!")[2], time=found.now)


def differences(one: Any, other: Any, name: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield (name, one, other) where two JSON values differ; wall-clock times, which never repeat, are left out."""
    if "seconds" in name.rpartition(".")[2]:
        return
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}):
            yield from differences(one.get(key), other.get(key), f"{name}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, (each, its) in enumerate(zip(one, other, strict=True)):
            yield from differences(each, its, f"{name}.{place}")
    elif isinstance(one, float) and isinstance(other, float):
        if not math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-6):
            yield name, one, other
    elif one != other:
        yield name, one, other
