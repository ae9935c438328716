"""``batdispatch eta``: when waiting jobs start."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import click

from batdispatch.abilities.sites.doors.eta.options import EtaOptions
from batdispatch.cli.groups import Command
from batdispatch.cli.logs import log_options
from batdispatch.cli.messages import Terminal, echo, is_quiet, json_text, quiet_option
from batdispatch.cli.options import options
from batdispatch.cli.outputs import json_option
from batdispatch.inputs.log_options import LogReading

if TYPE_CHECKING:
    from batdispatch.abilities.sites.doors.eta.calibration import IntervalRecord
    from batdispatch.abilities.sites.doors.eta.estimate import QueueEstimate
    from batdispatch.abilities.sites.doors.eta.remedies import Remedy


#: The options that people use first, which --help shows.
_COMMON = (
    "job",
    "queue",
    "run",
    "at",
    "accounts",
    "dispatcher",
    "slurm",
    "as_json",
)


@click.command(cls=Command, common=_COMMON)
@options(EtaOptions)
@log_options
@json_option("Print the estimates as JSON: times are seconds from now, with dates beside them.")
@quiet_option
def command(question: EtaOptions, reading: LogReading, as_json: bool) -> None:
    """Say when the waiting jobs of a queue start: a median and two intervals, and what they wait for.

    Futures of the queue are drawn from what jobs of the accounts did, and simulated. The same is done at moments of the
    accounts' past, where it is known what came of it: the intervals are made as wide as they had to be there. With
    fewer than 50 such moments there are no intervals. Nor is what held too rarely of late called one: how often it did
    is said below the table.

    \b
    Examples:
      batdispatch eta --accounts sacct.txt --learned site.json               (once a night)
      batdispatch eta --queue squeue.json --learned site.json --job 4711
      batdispatch eta --queue squeue.json --accounts sacct.txt --dispatcher conservative --json
      batdispatch eta --run comparison/easy --at 86400
    """
    from batdispatch.abilities.sites.doors.eta.ask import answer
    from batdispatch.cli.progress import ProgressDisplay

    with ProgressDisplay() as progress:
        found = answer(question, reading, Terminal(progress.tell))
    if found is None:
        return
    if as_json:
        echo(json_text(found))
    elif not is_quiet():
        _print(found, bool(question.job))


def _print(found: QueueEstimate, reasons: bool) -> None:
    from batdispatch.abilities.sites.doors.eta.calibration import INTERVALS
    from batdispatch.cli.tables import plain, table
    from batdispatch.results.numbers import duration_unit, number

    # One unit for all times, so that a start can be held against a wait.
    medians = sorted(one.median for one in found.jobs if one.median)
    scale, unit = duration_unit(medians[len(medians) // 2 :][:1])

    def span(low: float | None, high: float | None) -> str:
        if low is None or high is None:
            return "unknown"
        return f"{number(low / scale)} to {number(high / scale)}"

    def day(date: str | None) -> str:
        if date is None:
            return "-"
        # The line above the table says the year.
        return _minute(date)[5 if date[:4] == (found.taken or "")[:4] else 0 :]

    def moment(seconds: float | None) -> str:
        return "never" if seconds is None else number(seconds / scale)

    dated = ["start"] if found.taken else []
    headings = [
        "job",
        "place",
        found.unit,
        f"waited, {unit}",
        f"starts in, {unit}",
        *dated,
        *(f"{'no interval' if found.misfit else _heading(each)}, {unit}" for each in found.records),
        f"by walltimes, {unit}",
    ]
    rows = [
        (
            one.job,
            [
                "-" if one.place is None else f"{one.place:,}",
                f"{one.units:,}",
                moment(one.waited),
                moment(one.median),
                *(day(one.date) for _ in dated),
                *(span(*(one.quantiles[end] for end in INTERVALS[record.share])) for record in found.records),
                moment(one.plan),
            ],
        )
        for one in found.jobs
    ]
    how = f"calibrated at {found.moments} moments of the past" if found.moments else "not calibrated"
    taken = f"at {_minute(found.taken)} ({found.zone or 'local time'}), " if found.taken else ""
    echo(f"{taken}{found.free:,} of {found.units:,} {found.unit} are free; {found.dispatcher}; {how}")
    if rows:
        # Into a file or a pipe, each job is one line.
        echo(plain(table(headings, rows), width=shutil.get_terminal_size((130, 24)).columns))
    else:
        echo("no job waits")
    if found.misfit:
        echo(f"this queue is unlike the history, so that no interval can be trusted: {found.misfit}")
    for record in found.records:
        echo(_remark(record))
    for one in found.jobs if reasons else ():
        said = f"; Slurm says {one.slurm_reason}" if one.slurm_reason else ""
        echo(f"{one.job}: {one.reason}{said}")
        for remedy in one.remedies or ():
            date = f", {day(remedy.date)}" if remedy.date else ""
            change = _change(remedy, one.units, found.unit)
            echo(f"{one.job}: with {change} it starts in {moment(remedy.median)} {unit}{date}")
        if not one.remedies:
            echo(f"{one.job}: no smaller size or shorter walltime that was tried lets it start sooner")


def _change(remedy: Remedy, units: int, unit: str) -> str:
    if remedy.units != units:
        return f"{remedy.units:,} {unit if remedy.units != 1 else unit.removesuffix('s')}"
    from batdispatch.results.numbers import number

    return f"a walltime of {number((remedy.walltime or 0.0) / 60)} min"


def _minute(date: str) -> str:
    return date[:16].replace("T", " ")


def _heading(record: IntervalRecord) -> str:
    return f"{100 * record.share:.0f} %" if record.covers else "no interval"


def _remark(record: IntervalRecord) -> str:
    """Say how often an interval held."""
    share = f"{100 * record.share:.0f} %"
    if record.held is None:
        return f"the past that is known is too short to tell an interval of {share}"
    held = f"{100 * record.held:.0f} % of the last {record.count:,} starts of which we know"
    return f"the interval of {share} held {held}" + ("" if record.covers else ": too few, so it is none")
