"""A recorded exchange once more: what people ask of it, and what comes of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from batdispatch.core.errors import InputError
from batdispatch.core.line.settings import Form
from batdispatch.core.questions import Answer, Fields, Question
from batdispatch.links.options import MachineFile, ReplayOptions
from batdispatch.runs.spec import WHO_DECIDES, RunSpec, session_of

if TYPE_CHECKING:
    from batdispatch.core.line.messages import Peer
    from batdispatch.links.replay import ReplayResult


def answer(
    spec: Annotated[RunSpec, Fields(WHO_DECIDES, needed=False)],
    how: ReplayOptions,
    machine: MachineFile,
    recording: Annotated[Path, Form("RECORDING", exists=True)],
) -> Answer:
    """Rerun a recorded exchange (a file, or the folder of a run) and compare the decisions.

    Without a dispatcher every frame is only decoded, checked, and written again. Exits with 1 at the first difference.

    \b
    Examples:
      batdispatch replay exchange.jsonl --dispatcher easy --set reservation=hosts
      batdispatch replay exchange.jsonl
    """
    from batdispatch.batsim import protocol
    from batdispatch.links.platform_peer import platform_peer_of
    from batdispatch.links.replay import check_wire, replay, told_by

    path = _exchange(recording) if recording.is_dir() else recording
    version = how.protocol or told_by(path)
    wire = protocol(version)
    peer = _peer(spec, how.pybatsim)
    if peer is not None:
        result = replay(path, platform_peer_of(machine, peer, version), wire, times=how.times, partial=how.partial)
    elif spec.options or how.times or machine.platform is not None:
        raise InputError("--set, --times and --platform need --dispatcher or --pybatsim")
    else:
        result = check_wire(path, wire, partial=how.partial)
    return Answer(result, [_in_words(result, compared=peer is not None)], status=int(result.difference is not None))


def _peer(spec: RunSpec, pybatsim: str | None) -> Peer | None:
    """Return what answers; None: nothing does."""
    if pybatsim is not None and spec.dispatcher:
        raise InputError("--dispatcher and --pybatsim exclude each other")
    if pybatsim is not None:
        from batdispatch.links.pybatsim_peer import PybatsimPeer

        return PybatsimPeer(pybatsim, spec.options)
    return session_of(spec) if spec.dispatcher else None


def _exchange(folder: Path) -> Path:
    """Return the recording in a run's folder, whose files were checked to be of one run."""
    from batdispatch.explain.wait_causes import find_recording
    from batdispatch.results.runs import read_result

    read_result(folder)
    return find_recording(folder)


def _in_words(result: ReplayResult, *, compared: bool) -> str:
    seen = f"{result.messages} messages, {result.decisions} decisions"
    if result.difference is not None:
        return f"the decisions differ after {seen}: {result.difference}"
    return f"{seen}: " + ("every decision as recorded" if compared else "every frame reads and writes back the same")


QUESTION = Question("replay", answer, "Print the result as JSON.")
