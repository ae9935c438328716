"""``batdispatch replay``: rerun a recorded exchange and compare the decisions."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from batdispatch.batsim import PROTOCOLS, protocol
from batdispatch.cli.dispatching import build_session, dispatcher_options, parse_settings
from batdispatch.cli.groups import Choice, Command, option
from batdispatch.cli.informing import informed, platform_options
from batdispatch.core.errors import InputError
from batdispatch.core.line.messages import Peer
from batdispatch.links.pybatsim_peer import PybatsimPeer
from batdispatch.links.replay import Replayed, check_wire, told_by
from batdispatch.links.replay import replay as run_replay


@click.command(cls=Command)
@click.argument("recording", type=click.Path(exists=True, path_type=Path))
@dispatcher_options(required=False)
@option("--pybatsim", metavar="NAME", help="Answer with a scheduler of pybatsim instead, such as easyBackfill.")
@option("--times", is_flag=True, help="Compare the times of decisions, too.")
@option(
    "--protocol",
    "version",
    type=Choice(list(PROTOCOLS)),
    help="Speak this version of Batsim's protocol. The default is the recording's own.",
)
@platform_options
@option("--partial", is_flag=True, help="Accept a recording that ends before the simulation does.")
@option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.pass_context
def command(
    context: click.Context,
    recording: Path,
    dispatcher: str | None,
    settings: tuple[str, ...],
    seed: int,
    decision_time: str,
    pybatsim: str | None,
    times: bool,
    version: str | None,
    platform: Path | None,
    master_host: str | None,
    roles: tuple[str, ...],
    partial: bool,
    as_json: bool,
) -> None:
    """Rerun a recorded exchange (a file, or the folder of a run) and compare the decisions.

    Without a dispatcher every frame is only decoded, checked, and written again. Exits with 1 at the first difference.

    \b
    Examples:
      batdispatch replay exchange.jsonl --dispatcher easy --set reservation=hosts
      batdispatch replay exchange.jsonl
    """
    path = _exchange(recording) if recording.is_dir() else recording
    version = version or told_by(path)
    wire = protocol(version)
    if pybatsim is not None and dispatcher is not None:
        raise InputError("--dispatcher and --pybatsim exclude each other")
    if pybatsim is not None:
        answering: Peer = PybatsimPeer(pybatsim, parse_settings(settings))
        answering = informed(answering, platform, master_host, roles, version)
        result = run_replay(path, answering, wire, times=times, partial=partial)
    elif dispatcher is not None:
        session = build_session(dispatcher, parse_settings(settings), seed, decision_time)
        answering = informed(session, platform, master_host, roles, version)
        result = run_replay(path, answering, wire, times=times, partial=partial)
    elif settings or times or platform is not None:
        raise InputError("--set, --times and --platform need --dispatcher or --pybatsim")
    else:
        result = check_wire(path, wire, partial=partial)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(result), indent=2))
    else:
        click.echo(_in_words(result, compared=dispatcher is not None or pybatsim is not None))
    if result.difference is not None:
        context.exit(1)


def _exchange(folder: Path) -> Path:
    """Return the recording in a run's folder, whose files were checked to be of one run."""
    from batdispatch.explain.waiting import find_recording
    from batdispatch.results.runs import read_result

    read_result(folder)
    return find_recording(folder)


def _in_words(result: Replayed, *, compared: bool) -> str:
    seen = f"{result.messages} messages, {result.decisions} decisions"
    if result.difference is not None:
        return f"the decisions differ after {seen}: {result.difference}"
    return f"{seen}: " + ("every decision as recorded" if compared else "every frame reads and writes back the same")
