"""``batdispatch workload fidelity``: the waits of a log beside those of simulations of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from batdispatch.abilities.whatif.fidelity.options import FidelityOptions
from batdispatch.cli.groups import Command
from batdispatch.cli.logs import log_options
from batdispatch.cli.messages import Terminal, echo, is_quiet, json_text, quiet_option
from batdispatch.cli.options import options
from batdispatch.cli.outputs import json_option, out_option, processes_option
from batdispatch.cli.pipe import InputPath
from batdispatch.cli.progress import ProgressDisplay
from batdispatch.cli.tables import plain, table
from batdispatch.core.errors import SimulationError
from batdispatch.inputs.folders import checked_folder
from batdispatch.inputs.log_options import LogReading
from batdispatch.runs.spec import RunSpec

if TYPE_CHECKING:
    from batdispatch.abilities.whatif.fidelity.waits import Waits


@click.command(cls=Command)
@click.argument("log", metavar="LOG", type=InputPath())
@options(FidelityOptions)
@options(RunSpec, only=("seed",))
@out_option("fidelity")
@processes_option("Run this many simulations at a time.")
@log_options
@json_option("Print the numbers as JSON.")
@quiet_option
def command(
    against: FidelityOptions,
    spec: RunSpec,
    reading: LogReading,
    log: str,
    out: Path,
    processes: int,
    as_json: bool,
) -> None:
    """Compare the waits that jobs had in a log with those that they have in simulations.

    The log must say when jobs started. The page DIR/fidelity.html, whose pictures also stand beside it, shows how
    far the simulation under the policy that the site ran is from what happened, beside how far other policies are,
    and what that allows to conclude.

    \b
    Examples:
      batdispatch workload fidelity KTH-SP2-1996-2.1-cln.swf.xz --out kth
      batdispatch workload fidelity KIT-FH2-2016-1.rst.xz --dispatchers slurm-backfill,easy,fcfs --out kit
    """
    from batdispatch.abilities.whatif.fidelity.simulation import as_dict, simulate_log, waits_of, write_fidelity
    from batdispatch.runs.inputs import Inputs

    folder = checked_folder(out)
    inputs = Inputs(log, against.platform, folder, log=True, reading=reading)
    with ProgressDisplay() as progress:
        listener = Terminal(progress.tell)
        imported, folders, failures = simulate_log(
            inputs, against.dispatchers, folder, seed=spec.seed, processes=processes, listener=listener
        )
    for name, why in failures.items():
        listener.failed(name, why)
    if not folders or failures:
        raise SimulationError(f"{len(failures)} of {len(folders) + len(failures)} runs failed")
    waits = waits_of(imported, inputs.platform, folders)
    page = write_fidelity(waits, imported, folder)
    if as_json:
        echo(json_text(as_dict(waits)))
        return
    if not is_quiet():
        _print_fidelity(waits)
    echo(str(page))


def _print_fidelity(waits: Mapping[str, Waits]) -> None:
    from batdispatch.abilities.whatif.fidelity.words import APART, HEADINGS, apart_rows, sentences, wait_rows

    pieces = ((HEADINGS, wait_rows(waits)), (APART, apart_rows(waits)))
    echo(plain(*(table(["", *headings], rows) for headings, rows in pieces)) + "\n")
    for line in sentences(waits):
        echo(line)
