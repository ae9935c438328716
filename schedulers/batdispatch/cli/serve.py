"""``batdispatch serve``: a dispatcher as the decision process of a real Batsim."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from batdispatch.cli.dispatching import dispatcher_options, parse_decision_time, parse_settings
from batdispatch.cli.groups import Command, option
from batdispatch.cli.informing import platform_options
from batdispatch.cli.inputs import protocol_option, timeout_option
from batdispatch.cli.telling import Terminal
from batdispatch.links import serve as link


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
    version: Literal["4", "5"],
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
    from batdispatch.api.server import serve
    from batdispatch.cli.platform import parse_roles

    served = serve(
        dispatcher,
        socket=endpoint,
        protocol=version,
        options=parse_settings(settings),
        seed=seed,
        decision_time=parse_decision_time(decision_time),
        platform=platform,
        master_host=master_host,
        roles=parse_roles(roles),
        timeout=timeout,
        max_message=max_message,
        allow_remote=allow_remote,
        record=record,
        on_ready=lambda real: click.echo(f"listening on {real}"),
        listener=Terminal(lambda *progress: None),
    )
    if served.stopped_by is not None:
        click.echo(f"batdispatch: stopped by {served.stopped_by} after {served.messages} messages", err=True)
        # What a shell expects of a process that a signal ended.
        context.exit(130 if served.stopped_by == "SIGINT" else 143)
    click.echo(f"simulation ended after {served.messages} messages")
