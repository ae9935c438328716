"""``batdispatch serve``: a dispatcher as the decision process of a real Batsim."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import click

from batdispatch.batsim import features_for, protocol
from batdispatch.cli.dispatching import build_session, dispatcher_options, parse_settings
from batdispatch.cli.groups import Command, option
from batdispatch.cli.informing import informed, platform_options
from batdispatch.cli.inputs import protocol_option, timeout_option
from batdispatch.links import serve as link
from batdispatch.links.recorder import Recorder
from batdispatch.links.signals import StopSignals


@click.command(cls=Command)
@dispatcher_options()
@option(
    "--socket",
    "endpoint",
    metavar="ENDPOINT",
    default="tcp://127.0.0.1:28000",
    show_default=True,
    help="Listen here: tcp://ADDRESS:PORT, where port * takes a free one, or ipc://PATH. Batsim connects to it.",
)
@protocol_option
@platform_options
@timeout_option(
    "Give up if Batsim says nothing for this many seconds. With 0, wait for ever. If Batsim dies, this is noticed at "
    "once.",
    default=link.TIMEOUT,
    endless=True,
)
@option(
    "--max-message",
    metavar="MIB",
    type=click.IntRange(1, 2**20),
    default=link.MAX_MESSAGE >> 20,
    show_default=True,
    help="Accept messages of at most this many MiB.",
)
@option("--allow-remote", is_flag=True, help="Let other machines connect. The protocol has no authentication.")
@option(
    "--record",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the exchange to a file for `replay`; after a failure it is called FILE.partial.",
)
@click.pass_context
def command(
    context: click.Context,
    dispatcher: str,
    settings: tuple[str, ...],
    seed: int,
    decision_time: str,
    endpoint: str,
    version: str,
    platform: Path | None,
    master_host: str | None,
    roles: tuple[str, ...],
    timeout: float,
    max_message: int,
    allow_remote: bool,
    record: Path | None,
) -> None:
    """Answer one simulation of a real Batsim, which is the side that connects.

    Stops after the last reply, or between two messages on SIGINT or SIGTERM.

    \b
    Examples:
      batdispatch serve --dispatcher easy
      batdispatch serve --dispatcher easy --set reservation=hosts --record exchange.jsonl
      batsim -p platform.xml -w workload.json -s tcp://127.0.0.1:28000     (in another terminal)
      batdispatch serve --dispatcher easy --platform platform.xml          (knows where each host stands)
      batdispatch serve --dispatcher easy --protocol 5
      batsim -p platform.xml -w workload5.json -s tcp://127.0.0.1:28000 ""   (Batsim 5, in another terminal)
    """
    peer = build_session(dispatcher, parse_settings(settings), seed, decision_time)
    answering = informed(peer, platform, master_host, roles, version)
    wire = protocol(version)
    with ExitStack() as stack:
        signals = stack.enter_context(StopSignals())
        recorder = None if record is None else stack.enter_context(Recorder(record, wire))
        served = link.serve(
            answering,
            endpoint,
            wire,
            features=features_for(registers_jobs=peer.dispatcher.registers_jobs),
            timeout=timeout,
            max_message=max_message << 20,
            allow_remote=allow_remote,
            recorder=recorder,
            signals=signals,
            on_ready=lambda real: click.echo(f"listening on {real}"),
            on_notice=lambda text: click.echo(f"batdispatch: {text}", err=True),
        )
        if served.stopped_by is not None and recorder is not None:
            recorder.abort()
    if served.stopped_by is not None:
        click.echo(f"batdispatch: stopped by {served.stopped_by} after {served.messages} messages", err=True)
        # What a shell expects of a process that a signal ended.
        context.exit(130 if served.stopped_by == "SIGINT" else 143)
    click.echo(f"simulation ended after {served.messages} messages")
