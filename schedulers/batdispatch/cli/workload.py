"""``batdispatch workload``: look into workloads and logs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from batdispatch.cli.groups import OpenGroup, option
from batdispatch.cli.logs import log_options, machine_of, refuse_log_options
from batdispatch.cli.messages import echo, is_quiet, json_text, quiet_option, warn
from batdispatch.cli.options import options
from batdispatch.cli.outputs import json_option
from batdispatch.cli.pipe import InputPath
from batdispatch.cli.progress import ProgressDisplay
from batdispatch.cli.tables import plain, table
from batdispatch.core.line.settings import RESULTS
from batdispatch.inputs.log_options import LogMachine, LogReading

if TYPE_CHECKING:
    from rich.table import Table

    from batdispatch.report.workload.traits import Traits

#: Characters of the longest bar.
_BAR = 24
_EIGHTHS = " ▏▎▍▌▋▊▉█"


class Workloads(OpenGroup):
    """What is done with workloads."""

    word = "workload"


@click.group(cls=Workloads)
def command() -> None:
    """Look into workloads and logs.

    \b
    Examples:
      batdispatch workload show kth.json
      batdispatch workload show KTH-SP2-1996-2.1-cln.swf.xz --html kth.html
      batdispatch workload fidelity KTH-SP2-1996-2.1-cln.swf.xz --out kth
    """


@command.command()
@click.argument("path", metavar="W", type=InputPath())
@options(LogMachine)
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
def show(on: LogMachine, reading: LogReading, path: str, html: Path | None, as_json: bool) -> None:
    """Show what a workload or log is like: load, sizes, run times, walltimes, users, arrivals, and who waited.

    W is a Batsim workload, or a log that `batdispatch convert` reads, as the options of that command say.

    \b
    Examples:
      batdispatch workload show kth.json --html kth.html
      batdispatch workload show accounts.txt --time-zone Europe/Berlin --select from=2026-03-01
      batdispatch workload show jobs.csv --columns submit=SUBMITTED,runtime=ELAPSED:min,cores=NCPUS --json
    """
    from batdispatch.core import extras
    from batdispatch.inputs.files import write_whole
    from batdispatch.report.workload.tables import as_dict
    from batdispatch.runs.inputs import is_log, warn_of_overruns
    from batdispatch.runs.workload_traits import traits_of

    if html is not None:
        extras.check("report", "the page of --html")
    machine = machine_of(on)
    if not is_log(path, reading):
        refuse_log_options()
    with ProgressDisplay() as following:
        traits, imported = traits_of(path, reading, machine, following.tell)
    account = ""
    if imported is not None:
        account = imported.report.as_text()
        warn_of_overruns(imported, warn)
    if html is not None:
        from batdispatch.report.workload.page import render

        write_whole(html, render(traits, title=traits.workload.name, account=account).encode())
    if as_json:
        echo(json_text(as_dict(traits)))
    elif not is_quiet():
        echo((f"{account}\n\n" if account else "") + plain(*_tables(traits)))
    if html is not None:
        echo(str(html))


def _tables(traits: Traits) -> Iterator[Table]:
    from batdispatch.report.workload.tables import HEADINGS, facts, quantile_rows, user_rows
    from batdispatch.report.workload.traits import WEEKDAYS
    from batdispatch.report.workload.waits import wait_headings, wait_rows

    yield table(["", ""], [(name, [text]) for name, text in facts(traits)], left=(0, 1), overflow="fold")
    yield table(["", *HEADINGS], quantile_rows(traits), overflow="fold")
    users = user_rows(traits)
    if users:
        yield table(["user", "jobs", "of the jobs", "of the work"], users, overflow="fold")
    waits = wait_rows(traits)
    if waits:
        yield table(["waits in the log of", *wait_headings(traits)], waits, overflow="fold")
    sizes = traits.sizes()
    yield _bars(f"{traits.unit}s", {"of the jobs": sizes.jobs, "of the work": sizes.work}, sizes.names)
    if len(traits.accuracy):
        shares = traits.accuracy_shares()
        tens = [float(shares[row : row + 2].sum()) for row in range(0, len(shares) - 1, 2)] + [float(shares[-1])]
        names = [f"{10 * row}-{10 * row + 10} %" for row in range(10)] + ["over 100 %"]
        yield _bars("of the walltime used", {"of the jobs": tens}, names)
    yield _bars("hour", {"of the jobs": traits.by_hour()}, [str(hour) for hour in range(24)])
    weekdays = traits.by_weekday()
    if weekdays is not None:
        yield _bars("weekday", {"of the jobs": weekdays}, list(WEEKDAYS))


def _bars(what: str, groups: dict[str, Any], names: Sequence[str]) -> Table:
    """Return shares with bars; all have one scale."""
    most = max((float(share) for shares in groups.values() for share in shares), default=0.0) or 1.0
    rows = []
    for row, name in enumerate(names):
        values = [float(shares[row]) for shares in groups.values()]
        rows.append((name, [text for share in values for text in (f"{share:.1%}", _bar(share / most))]))
    headings = [what, *(text for heading in groups for text in (heading, ""))]
    # Names and numbers to the right, bars to the left.
    return table(headings, rows, left=range(2, len(headings), 2), no_wrap=True)


def _bar(share: float) -> str:
    eighths = round(8 * _BAR * share)
    return "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")
