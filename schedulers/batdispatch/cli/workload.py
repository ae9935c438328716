"""``batdispatch workload``: look into workloads and logs."""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from batdispatch.cli.groups import INPUTS, RESULTS, Group, option
from batdispatch.cli.logs import log_options, refuse_log_options
from batdispatch.cli.outputs import json_option
from batdispatch.cli.progress import Following
from batdispatch.cli.telling import is_quiet, quiet_option, warn
from batdispatch.cli.workload_fidelity import fidelity

if TYPE_CHECKING:
    from rich.console import Console

    from batdispatch.report.workload.traits import Traits

#: Characters of the longest bar.
_BAR = 24
_EIGHTHS = " ▏▎▍▌▋▊▉█"


@click.group(cls=Group)
def command() -> None:
    """Look into workloads and logs.

    \b
    Examples:
      batdispatch workload show kth.json
      batdispatch workload show KTH-SP2-1996-2.1-cln.swf.xz --html kth.html
      batdispatch workload fidelity KTH-SP2-1996-2.1-cln.swf.xz --out kth
    """


command.add_command(fidelity)


@command.command()
@click.argument("path", metavar="W", type=click.Path())
@option(
    "--platform",
    section=INPUTS,
    metavar="P.xml",
    type=click.Path(path_type=Path),
    help="Take the size of the machine from this SimGrid platform. By default, the workload says it.",
)
@option(
    "--master-host",
    section=INPUTS,
    metavar="NAME",
    help="Leave out this host of the platform, which carries Batsim and is no resource.",
)
@log_options
@option(
    "--html",
    section=RESULTS,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write a page with pictures into this file.",
)
@json_option("Print everything as JSON instead of tables.")
@quiet_option
def show(
    path: str,
    html: Path | None,
    platform: Path | None,
    master_host: str | None,
    as_json: bool,
    **reading: Any,
) -> None:
    """Show what a workload or log is like: load, sizes, run times, walltimes, users and arrivals.

    W is a Batsim workload, or a log that `batdispatch convert` reads, as the options of that command say.

    \b
    Examples:
      batdispatch workload show kth.json --html kth.html
      batdispatch workload show accounts.txt --time-zone Europe/Berlin --select from=2026-03-01
      batdispatch workload show jobs.csv --columns submit=SUBMITTED,runtime=ELAPSED:min,cores=NCPUS --json
    """
    from batdispatch.core import extras
    from batdispatch.core.errors import InputError
    from batdispatch.inputs.files import write_whole
    from batdispatch.inputs.platforms import read_platform
    from batdispatch.inputs.workloads import read_workload
    from batdispatch.inputs.workloads.importing import is_workload
    from batdispatch.report.workload.tables import as_dict
    from batdispatch.report.workload.traits import Traits
    from batdispatch.runs.inputs import read_log_with, warn_of_overruns

    if html is not None:
        extras.check("report", "the page of --html")
    machine = None if platform is None else read_platform(platform, master=master_host).machine
    account, starts, capacity = "", None, None
    if reading["kind"] is None and not reading["columns"] and is_workload(Path(path)):
        refuse_log_options()
        workload = read_workload(path)
    else:
        with Following() as following:
            imported = read_log_with(path, reading, machine=machine, follow=following.tell)
        workload, account, starts = imported.workload, imported.report.as_text(), imported.info.starts
        warn_of_overruns(imported, warn)
        if imported.info.hosts and "core" in imported.info.capacity:
            capacity = imported.info.hosts * imported.info.capacity["core"]
    if not workload.jobs:
        raise InputError("has no jobs", source=path)
    shared = any(job.request.per_unit is not None for job in workload.jobs)
    if machine is not None:
        totals = dict(zip(machine.resources, machine.total().tolist(), strict=True))
        capacity = totals.get("core") if shared else machine.size
    traits = Traits(workload, capacity=capacity if shared or machine is not None else None, starts=starts)
    if html is not None:
        from batdispatch.report.workload.page import render

        write_whole(html, render(traits, title=workload.name, account=account).encode())
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(as_dict(traits)), indent=2).decode())
    elif not is_quiet():
        _print(traits, account)
    if html is not None:
        click.echo(str(html))


def _print(traits: Traits, account: str) -> None:
    from rich.console import Console

    if account:
        click.echo(account + "\n")
    width = shutil.get_terminal_size((100, 24)).columns
    console = Console(file=io.StringIO(), color_system=None, force_terminal=False, highlight=False, width=width)
    with console.capture() as capture:
        _describe(console, traits)
    # Tables are filled up with spaces to their widths.
    click.echo("\n".join(line.rstrip() for line in capture.get().rstrip().splitlines()))


def _describe(console: Console, traits: Traits) -> None:
    from batdispatch.report.workload.tables import HEADINGS, facts, quantile_rows, user_rows
    from batdispatch.report.workload.traits import WEEKDAYS

    _table(console, ["", ""], [(name, [text]) for name, text in facts(traits)], left=True)
    _table(console, ["", *HEADINGS], quantile_rows(traits))
    users = user_rows(traits)
    if users:
        _table(console, ["user", "jobs", "of the jobs", "of the work"], users)
    sizes = traits.sizes()
    _bars(console, f"{traits.unit}s", ["of the jobs", "of the work"], sizes.names, [sizes.jobs, sizes.work])
    if len(traits.accuracy):
        shares = traits.accuracy_shares()
        tens = [float(shares[row : row + 2].sum()) for row in range(0, len(shares) - 1, 2)] + [float(shares[-1])]
        names = [f"{10 * row}-{10 * row + 10} %" for row in range(10)] + ["over 100 %"]
        _bars(console, "of the walltime used", ["of the jobs"], names, [tens])
    hours = traits.by_hour()
    _bars(console, "hour", ["of the jobs"], [str(hour) for hour in range(24)], [hours])
    weekdays = traits.by_weekday()
    if weekdays is not None:
        _bars(console, "weekday", ["of the jobs"], list(WEEKDAYS), [weekdays])


def _table(console: Console, headings: list[str], rows: list[tuple[str, list[str]]], *, left: bool = False) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=any(headings))
    for row, heading in enumerate(headings):
        table.add_column(heading, justify="left" if left or row == 0 else "right", overflow="fold")
    for name, cells in rows:
        table.add_row(escape(name), *map(escape, cells))
    console.print(table)
    console.print()


def _bars(console: Console, what: str, headings: list[str], names: list[str], groups: list[Any]) -> None:
    """Print shares as bars; those of a group have one scale."""
    most = max((float(share) for shares in groups for share in shares), default=0.0) or 1.0
    headings = [what] + [heading for each in headings for heading in (each, "")]
    rows = []
    for row, name in enumerate(names):
        cells = []
        for shares in groups:
            share = float(shares[row])
            cells += [f"{share:.1%}", _bar(share / most)]
        rows.append((name, cells))
    _bar_table(console, headings, rows)


def _bar_table(console: Console, headings: list[str], rows: list[tuple[str, list[str]]]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for row, heading in enumerate(headings):
        # Names and numbers to the right, bars to the left.
        table.add_column(heading, justify="left" if row and row % 2 == 0 else "right", no_wrap=True)
    for name, cells in rows:
        table.add_row(name, *cells)
    console.print(table)
    console.print()


def _bar(share: float) -> str:
    eighths = round(8 * _BAR * share)
    return "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")
