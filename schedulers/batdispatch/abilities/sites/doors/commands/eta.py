"""When waiting jobs start: what people ask, and the answer in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from batdispatch.abilities.sites.doors.eta.options import EtaOptions
from batdispatch.core.line.settings import RESULTS
from batdispatch.core.questions import Answer, Fields, Question, Table
from batdispatch.inputs.log_options import LogReading
from batdispatch.runs.listener import SILENT, Listener

if TYPE_CHECKING:
    from batdispatch.abilities.sites.doors.eta.calibration import IntervalRecord
    from batdispatch.abilities.sites.doors.eta.estimate import QueueEstimate
    from batdispatch.abilities.sites.doors.eta.remedies import Remedy


def eta(
    question: EtaOptions, reading: Annotated[LogReading, Fields(first="kind")], *, listener: Listener | None
) -> Answer:
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

    found = answer(question, reading, listener or SILENT)
    return Answer(found, [] if found is None else _in_words(found, bool(question.job)))


def _in_words(found: QueueEstimate, reasons: bool) -> Iterator[str | Table]:
    from batdispatch.abilities.sites.doors.eta.calibration import INTERVALS
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
        found.unit,
        "place",
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
                f"{one.units:,}",
                "-" if one.place is None else f"{one.place:,}",
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
    yield f"{taken}{found.free:,} of {found.units:,} {found.unit} are free; {found.dispatcher}; {how}"
    # Into a file or a pipe, each job is one line.
    yield Table(headings, rows, width=130) if rows else "no job waits"
    if found.misfit:
        yield f"this queue is unlike the history, so that no interval can be trusted: {found.misfit}"
    for record in found.records:
        yield _remark(record)
    for one in found.jobs if reasons else ():
        said = f"; Slurm says {one.slurm_reason}" if one.slurm_reason else ""
        yield f"{one.job}: {one.reason}{said}"
        for remedy in one.remedies or ():
            date = f", {day(remedy.date)}" if remedy.date else ""
            change = _change(remedy, one.units, found.unit)
            yield f"{one.job}: with {change} it starts in {moment(remedy.median)} {unit}{date}"
        if not one.remedies:
            yield f"{one.job}: no smaller size or shorter walltime that was tried lets it start sooner"


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


QUESTION = Question(
    "eta",
    eta,
    "Print the estimates as JSON: times are seconds from now, with dates beside them.",
    RESULTS,
    quiet=True,
    common=("job", "queue", "run", "at", "accounts", "dispatcher", "slurm", "as_json"),
)
