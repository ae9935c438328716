"""``batdispatch serve``: a dispatcher as the decision process of a real Batsim."""

from __future__ import annotations

import click
from msgspec.structs import asdict

from batdispatch.cli.groups import Command
from batdispatch.cli.messages import Terminal, echo
from batdispatch.cli.options import options
from batdispatch.links.options import MachineFile, ServeOptions
from batdispatch.runs.spec import WHO_DECIDES, RunSpec


@click.command(cls=Command)
@options(RunSpec, only=WHO_DECIDES)
@options(ServeOptions)
@options(MachineFile)
@click.pass_context
def command(context: click.Context, spec: RunSpec, serving: ServeOptions, machine: MachineFile) -> None:
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

    served = serve(
        **{name: getattr(spec, name) for name in WHO_DECIDES},
        **asdict(serving),
        **asdict(machine),
        on_ready=lambda real: echo(f"listening on {real}"),
        listener=Terminal(),
    )
    if served.stopped_by is not None:
        echo(f"batdispatch: stopped by {served.stopped_by} after {served.messages} messages", err=True)
        # What a shell expects of a process that a signal ended.
        context.exit(130 if served.stopped_by == "SIGINT" else 143)
    echo(f"simulation ended after {served.messages} messages")
