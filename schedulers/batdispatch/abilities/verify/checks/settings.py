"""Whether result.json says of a run's settings what it was made from: both stand there, and a forger forgets one."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from batdispatch import __version__
from batdispatch.abilities.verify.audit.findings import Violation, part
from batdispatch.results.run_files import RESULT
from batdispatch.runs.run import stated_by
from batdispatch.runs.spec import RunSpec

KIND = "made from"


def read_said(folder: Path) -> dict[str, Any]:
    """Return result.json as it stands there, whatever this version knows of it; without it, nothing."""
    path = folder / RESULT
    return msgspec.json.decode(path.read_bytes() if path.is_file() else b"{}", type=dict[str, Any])


def spec_of(result: Mapping[str, Any]) -> RunSpec | str:
    """Return what a run was made from, or why nobody knows that."""
    settings = part(part(result, "made_from"), "settings")
    if not settings:
        return "result.json does not say what the run was made from (made_from)"
    try:
        return msgspec.convert(settings, RunSpec)
    except msgspec.ValidationError as problem:
        return f"made_from.settings cannot be read: {problem}"


def contradictions(result: Mapping[str, Any]) -> Iterator[Violation]:
    """Yield what result.json says otherwise than the settings within it; another version may have said it otherwise."""
    if "metrics" not in result or result.get("batdispatch") != __version__:
        return
    spec = spec_of(result)
    if isinstance(spec, str):
        yield Violation(KIND, spec)
        return
    stated = {
        **stated_by(spec),
        "platform.path": spec.platform,
        "workload.path": spec.workload,
        "engine.name": spec.engine,
        **{name: part(result, "made_from").get(name) for name in ("batdispatch", "python")},
    }
    for name, expected in stated.items():
        place, _, last = name.rpartition(".")
        noted = (part(result, place) if place else result).get(last)
        if noted != expected and not (name == "command" and _words(noted) == _words(expected)):
            yield Violation(KIND, f"result.{name} is {noted!r}, made_from says {expected!r}")
    yield from _engine(spec, result)
    for name, text in spec.options.items():
        noted = part(result, "options").get(name)
        if isinstance(noted, str) and noted != text:
            yield Violation(KIND, f"result.options.{name} is {noted!r}, made_from says {text!r}")


def _engine(spec: RunSpec, result: Mapping[str, Any]) -> Iterator[Violation]:
    """Yield what is said of the embedded engine that the settings and the figures do not bear out.

    Rules of the audit go by how energy was counted, so that a false word there would switch them off.
    """
    engine = part(result, "engine")
    if spec.engine != "embedded":
        return
    counted = part(result, "metrics").get("energy") is not None
    energy = spec.energy if spec.energy != "auto" else "batsim" if counted else None
    if engine.get("energy") != energy:
        yield Violation(KIND, f"result.engine.energy is {engine.get('energy')!r}, made_from and metrics say {energy!r}")
    version = part(result, "made_from").get("batdispatch")
    if engine.get("version") != version:
        yield Violation(KIND, f"result.engine.version is {engine.get('version')!r}, made_from says {version!r}")
    if engine.get("compiled") and engine.get("not_compiled"):
        yield Violation(KIND, "result.engine says that a kernel made the run, and why none did")


def _words(command: Any) -> list[str]:
    try:
        return shlex.split(str(command))
    except ValueError:
        return []
