"""``batdispatch replay``: rerun a recorded exchange and compare the decisions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from batdispatch.cli.groups import OTHER_OPTIONS, Command
from batdispatch.cli.messages import echo, json_text
from batdispatch.cli.options import options
from batdispatch.cli.outputs import json_option
from batdispatch.core.errors import InputError
from batdispatch.links.options import MachineFile, ReplayOptions
from batdispatch.runs.spec import WHO_DECIDES, RunSpec, session_of

if TYPE_CHECKING:
    from batdispatch.core.line.messages import Peer
    from batdispatch.links.replay import ReplayResult


@click.command(cls=Command)
@click.argument("recording", type=click.Path(exists=True, path_type=Path))
@options(RunSpec, only=WHO_DECIDES, needed=False)
@options(ReplayOptions)
@options(MachineFile)
@json_option("Print the result as JSON.", section=OTHER_OPTIONS)
@click.pass_context
def command(
    context: click.Context,
    spec: RunSpec,
    how: ReplayOptions,
    machine: MachineFile,
    recording: Path,
    as_json: bool,
) -> None:
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
    echo(json_text(result) if as_json else _in_words(result, compared=peer is not None))
    if result.difference is not None:
        context.exit(1)


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
