"""``batdispatch serve``: a dispatcher as the decision process of a real Batsim."""

from __future__ import annotations

from contextlib import ExitStack

import click

from batdispatch.cli.groups import Command
from batdispatch.cli.options import options
from batdispatch.links.options import MachineFile, ServeOptions
from batdispatch.runs.spec import WHO_DECIDES, RunSpec, session_of


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
    from batdispatch.batsim import features_for, protocol
    from batdispatch.links import serve as link
    from batdispatch.links.informed import informed
    from batdispatch.links.recorder import Recorder
    from batdispatch.links.signals import StopSignals

    session = session_of(spec)
    peer = informed(machine, session, serving.protocol)
    wire = protocol(serving.protocol)
    with ExitStack() as stack:
        signals = stack.enter_context(StopSignals())
        recorder = None if serving.record is None else stack.enter_context(Recorder(serving.record, wire))
        served = link.serve(
            peer,
            serving.socket,
            wire,
            features=features_for(registers_jobs=session.dispatcher.registers_jobs),
            timeout=serving.timeout,
            max_message=serving.max_message << 20,
            allow_remote=serving.allow_remote,
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
