"""``batdispatch engine``: the embedded engine in Batsim's place."""

from __future__ import annotations

from pathlib import Path

import click

from batdispatch.cli.groups import OTHER_OPTIONS, Command
from batdispatch.cli.messages import conclude
from batdispatch.cli.options import options
from batdispatch.cli.outputs import out_option, written_option
from batdispatch.inputs.folders import checked_folder
from batdispatch.links.options import EngineInPlace
from batdispatch.runs.spec import RunSpec

#: What is stated of the simulation.
_INPUTS = ("platform", "workload", "master_host", "external_events", "simgrid", "energy", "clock")


@click.command(cls=Command)
@options(RunSpec, only=_INPUTS)
@options(EngineInPlace)
@out_option(
    "engine-out", "Write jobs.csv, schedule.csv and machine_states.csv into this folder.", section=OTHER_OPTIONS
)
@written_option
def command(spec: RunSpec, engine: EngineInPlace, out: Path, as_json: bool) -> None:
    """Simulate a workload for a scheduler behind a socket, in Batsim's place and with its options.

    \b
    Example, in two terminals:
      batdispatch serve --dispatcher easy --socket tcp://127.0.0.1:28000
      batdispatch engine --platform P.xml --workload W.json --socket tcp://127.0.0.1:28000

    With --protocol 5 the scheduler asks for dynamic jobs and forwarded profiles in the handshake.
    """
    from batdispatch.runs.engine_in_place import simulate_for_scheduler

    simulate_for_scheduler(spec, engine, checked_folder(out))
    conclude(out, {"files": sorted(path.name for path in out.iterdir())}, as_json=as_json)
