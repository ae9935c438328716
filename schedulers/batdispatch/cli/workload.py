"""``batdispatch workload``: look into workloads and logs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click
import msgspec

from batdispatch.cli.logs import machine_of, refuse_log_options
from batdispatch.cli.questions import command_of
from batdispatch.cli.subcommands import OpenGroup
from batdispatch.core.line.settings import RESULTS, Form
from batdispatch.core.questions import Answer, Fields, Question, Table
from batdispatch.inputs.log_options import LogMachine, LogReading
from batdispatch.runs.listener import SILENT, Listener

if TYPE_CHECKING:
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


class ShowOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What is written.

    html: Write a page with pictures into this file.
    """

    html: Annotated[Path | None, Form("FILE", RESULTS)] = None


def show(
    on: LogMachine,
    reading: Annotated[LogReading, Fields(first="kind")],
    shown: ShowOptions,
    path: Annotated[str, Form("W", piped=True)],
    *,
    listener: Listener | None,
) -> Answer:
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

    if shown.html is not None:
        extras.check("report", "the page of --html")
    machine, listener = machine_of(on), listener or SILENT
    if not is_log(path, reading):
        refuse_log_options()
    traits, imported = traits_of(path, reading, machine, listener.progress)
    account = ""
    if imported is not None:
        account = imported.report.as_text()
        warn_of_overruns(imported, listener.warn)
    if shown.html is not None:
        from batdispatch.report.workload.page import render

        write_whole(shown.html, render(traits, title=traits.workload.name, account=account).encode())
    written = "" if shown.html is None else str(shown.html)
    said: list[str | Table] = [account, ""] if account else []
    return Answer(lambda: as_dict(traits), chain(said, _tables(traits)), written=written)


def _tables(traits: Traits) -> Iterator[Table]:
    from batdispatch.report.workload.tables import HEADINGS, facts, quantile_rows, user_rows
    from batdispatch.report.workload.traits import WEEKDAYS
    from batdispatch.report.workload.waits import wait_headings, wait_rows

    yield Table(["", ""], [(name, [text]) for name, text in facts(traits)], left=(0, 1), long="fold")
    yield Table(["", *HEADINGS], quantile_rows(traits), long="fold")
    users = user_rows(traits)
    if users:
        yield Table(["user", "jobs", "of the jobs", "of the work"], users, long="fold")
    waits = wait_rows(traits)
    if waits:
        yield Table(["waits in the log of", *wait_headings(traits)], waits, long="fold")
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
    return Table(headings, rows, left=range(2, len(headings), 2), long="cut")


def _bar(share: float) -> str:
    eighths = round(8 * _BAR * share)
    return "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")


command.add_command(
    command_of(Question("show", show, "Print everything as JSON instead of tables.", RESULTS, quiet=True))
)
