"""``batdispatch workload fidelity``: the waits of a log beside those of simulations of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from batdispatch.cli.completing import complete_dispatchers
from batdispatch.cli.dispatching import seed_option
from batdispatch.cli.groups import DISPATCHER, INPUTS, Command, option
from batdispatch.cli.logs import log_options
from batdispatch.cli.outputs import json_option, out_option, processes_option
from batdispatch.cli.telling import Terminal, is_quiet, quiet_option
from batdispatch.inputs.folders import checked_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from batdispatch.inputs.workloads.importing import Imported
    from batdispatch.report.fidelity.waits import Waits
    from batdispatch.runs.inputs import Inputs


@click.command(cls=Command)
@click.argument("log", metavar="LOG", type=click.Path())
@option(
    "--dispatchers",
    section=DISPATCHER,
    metavar="A,B,...",
    default="easy,conservative,filler,fcfs",
    show_default=True,
    shell_complete=complete_dispatchers,
    help="Simulate these. The first one is the policy that the site is said to have run.",
)
@option(
    "--platform",
    section=INPUTS,
    metavar="P.xml",
    type=click.Path(),
    help="Read the machine from this SimGrid platform. By default, one of the right size is made.",
)
@seed_option
@out_option("fidelity")
@processes_option("Run this many simulations at a time.")
@log_options
@json_option("Print the numbers as JSON.")
@quiet_option
def fidelity(
    log: str,
    dispatchers: str,
    platform: str | None,
    seed: int,
    out: Path,
    processes: int,
    as_json: bool,
    **reading: Any,
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
    from batdispatch.cli.progress import Following
    from batdispatch.core.errors import SimulationError
    from batdispatch.inputs.files import write_whole
    from batdispatch.report.fidelity.page import alone, render
    from batdispatch.runs.compare import compare, entrants_of
    from batdispatch.runs.inputs import Inputs
    from batdispatch.runs.run import RunSpec

    folder = checked_folder(out)
    inputs = Inputs(log, platform, folder, log=True, log_settings=reading)
    specs = [
        RunSpec(
            platform=str(inputs.platform),
            workload=str(inputs.workload),
            dispatcher=entrant.name,
            options=entrant.options,
            seed=seed,
            record=False,
        )
        for entrant in entrants_of(dispatchers)
    ]
    imported: list[Imported] = []
    with Following() as progress:

        def prepare() -> None:
            inputs.prepare(note=listener.note, warn=listener.warn, follow=listener.progress)
            imported.append(_read_again(log, reading, inputs))

        listener = Terminal(progress.tell)
        folders, failures = compare(specs, folder, processes=processes, listener=listener, prepare=prepare)
    for label, problem in failures.items():
        click.echo(f"batdispatch: {label} failed: {problem}", err=True)
    if not folders or failures:
        raise SimulationError(f"{len(failures)} of {len(specs)} runs failed")
    told = _waits(imported[0], inputs, folders)
    page = folder / "fidelity.html"
    title = f"{imported[0].workload.name}: the log and its simulations"
    write_whole(page, render(told, title=title, account=imported[0].report.as_text()).encode())
    for name, picture in alone(told).items():
        write_whole(folder / name, picture)
    if as_json:
        _print_json(told)
    else:
        if not is_quiet():
            _print(told)
        click.echo(str(page))


def _read_again(log: str, reading: dict[str, Any], inputs: Inputs) -> Imported:
    """Return the log as it was made into the workload: without the jobs that do not fit the machine."""
    from batdispatch.inputs.platforms import read_platform
    from batdispatch.runs.inputs import read_log_with

    return read_log_with(log, reading, machine=read_platform(inputs.platform).machine)


def _waits(imported: Imported, inputs: Inputs, folders: list[Path]) -> dict[str, Waits]:
    """Return when the jobs ran in the log and in each run; jobs that are not known to have run in all are left out."""
    import numpy as np

    from batdispatch.core.errors import InputError
    from batdispatch.inputs.platforms import read_platform
    from batdispatch.report.fidelity.waits import Waits
    from batdispatch.report.fidelity.words import LOG
    from batdispatch.report.workload.traits import Traits
    from batdispatch.results.jobs_file import read_columns

    machine = read_platform(inputs.platform).machine
    totals = dict(zip(machine.resources, machine.total().tolist(), strict=True))
    capacity = totals.get("core", machine.size)
    traits = Traits(imported.workload, capacity=capacity, starts=imported.info.starts)
    rows = {job.id: row for row, job in enumerate(imported.workload.jobs)}
    starts = {LOG: traits.start}
    runtimes = {LOG: traits.runtime}
    for folder in folders:
        columns = read_columns(folder / "jobs.csv")
        at = [rows[name] for name in columns.job_id.tolist()]
        start, runtime = (np.full(len(rows), np.nan) for _ in range(2))
        start[at], runtime[at] = columns.starting_time, columns.finish_time - columns.starting_time
        starts[folder.name], runtimes[folder.name] = start, runtime
    known = ~np.isnan(np.array(list(starts.values()))).any(axis=0)
    if np.isnan(traits.start).all() or not known.any():
        raise InputError(
            "does not say when jobs started, so there is nothing to compare with", source=imported.report.source
        )
    return {
        name: Waits(traits.submission[known], start[known], runtimes[name][known], traits.size[known], int(capacity))
        for name, start in starts.items()
    }


def _print(told: Mapping[str, Waits]) -> None:
    from rich.console import Console
    from rich.table import Table

    from batdispatch.report.fidelity.words import APART, HEADINGS, apart_rows, sentences, wait_rows

    console = Console(color_system=None, highlight=False)
    for headings, rows in ((HEADINGS, wait_rows(told)), (APART, apart_rows(told))):
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for row, heading in enumerate(("", *headings)):
            table.add_column(heading, justify="right" if row else "left")
        for name, cells in rows:
            table.add_row(name, *cells)
        console.print(table)
        console.print()
    for line in sentences(told):
        click.echo(line)


def _print_json(told: Mapping[str, Waits]) -> None:
    from batdispatch.report.fidelity.waits import apart

    log = next(iter(told.values()))
    answer = {
        name: {
            "jobs": len(waits.wait),
            "mean_wait": float(waits.wait.mean()),
            "idle_share": waits.idle_share(),
            **apart(log, waits)._asdict(),
        }
        for name, waits in told.items()
    }
    click.echo(msgspec.json.format(msgspec.json.encode(answer), indent=2).decode())
