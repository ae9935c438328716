"""``batdispatch differ``: hold the schedules of any simulator against textbook definitions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from batdispatch.cli.groups import Choice, Group, option
from batdispatch.cli.options import Seconds

if TYPE_CHECKING:
    from batdispatch.differ.hold import Explanation

#: The keys of `differ.variants.DEFINED`, said here so that help needs no import.
_POLICIES = ("fcfs", "easy", "easy-sjbf", "conservative", "conservative-uncompressed", "filling", "sjf-filling")

_policy = option(
    "--policy",
    type=Choice(_POLICIES),
    default="easy",
    show_default=True,
    help="Hold the schedules against this policy's definition.",
)
_columns = option(
    "--columns",
    metavar="FIELD=COLUMN[:UNIT],...",
    default="",
    help="Read the job file as a table, in which these columns mean these fields, written as for "
    "`batdispatch convert`. There must be a column for start or for wait.",
)
_format = option(
    "--format",
    "kind",
    metavar="NAME",
    help="Read the job file in this format. By default, its name or its content tells.",
)
_size = option(
    "--size",
    type=Choice(["requested", "allocated"]),
    default="requested",
    show_default=True,
    help="Take this processor count of an SWF file as a job's size.",
)


@click.group(cls=Group)
def command() -> None:
    """Hold the schedules of any simulator against textbook definitions.

    \b
    Examples:
      batdispatch differ file theirs.swf --log CTC-SP2.swf --policy easy --hosts 338
      batdispatch differ cases kit --write
      batdispatch differ cases kit
      batdispatch differ figures CTC-SP2.swf --policy easy --hosts 338,512 --threshold 60
    """


@command.command()
@click.argument("path", metavar="JOBFILE", type=click.Path(path_type=Path))
@_policy
@option(
    "--log",
    metavar="LOG",
    type=click.Path(path_type=Path),
    help="Read what the jobs asked for from this log, which was simulated. By default, the job file says it itself.",
)
@option(
    "--hosts",
    metavar="N",
    type=click.IntRange(1),
    help="Take this as the number of processors of the machine. By default, the header of the log "
    "or of the job file says it.",
)
@option(
    "--tolerance",
    metavar="SECONDS",
    type=Seconds(0),
    default=0.5,
    show_default=True,
    help="Count two starts as equal if they differ by at most this many seconds.",
)
@_format
@_columns
@_size
@option("--json", "as_json", is_flag=True, help="Print what is found as JSON.")
def file(
    path: Path,
    policy: str,
    log: Path | None,
    hosts: int | None,
    tolerance: float,
    kind: str | None,
    columns: str,
    size: str,
    as_json: bool,
) -> None:
    """Compare a schedule with the one that a definition gives, and say what explains the differences.

    JOBFILE is Batsim's jobs.csv, an SWF file with waits filled in, or whatever else `batdispatch convert` reads.
    The expected schedule comes from a naive simulation that shares no code with this package's dispatchers. If the
    schedule is another one, known variants are simulated until one gives it exactly: other readings of simultaneous
    events, other sizes of the machine, known mistakes, other policies.

    Exit status: 0 when the schedule is what the policy's name says, 1 when it is not, 2 when a file cannot be read.
    """
    from batdispatch.differ.hold import hold
    from batdispatch.differ.reading import read_schedule
    from batdispatch.differ.words import differences, verdict
    from batdispatch.inputs.workloads.logs import LogOptions

    schedule = read_schedule(path, kind=kind, options=LogOptions(columns=columns, size=size), log=log)  # type: ignore[arg-type]
    true, why = (hosts, "as given") if hosts is not None else next(iter(schedule.sizes.items()))
    held = hold(
        schedule.jobs,
        schedule.starts,
        policy,
        true,
        other_sizes=_sizes(schedule.sizes, true),
        tolerance=round(tolerance * 1e6),
    )
    if as_json:
        _print_json(
            {
                "policy": policy,
                "hosts": true,
                "jobs": len(schedule.jobs),
                "differing": [schedule.jobs[index].id for index in held.differing],
                "verdict": verdict(held, policy, true),
                "explained_by": None if held.explained is None else _plain(held.explained),
                "notes": schedule.notes,
            }
        )
    else:
        click.echo(f"{path}: {len(schedule.jobs):,} jobs on {true:,} processors ({why})")
        for line in (*schedule.notes, *differences(schedule, held), verdict(held, policy, true)):
            click.echo(line)
    if not held.closest.exact:
        sys.exit(1)


@command.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@option("--write", is_flag=True, help="Write the cases into DIR.")
@option("--json", "as_json", is_flag=True, help="Print what is found as JSON.")
def cases(folder: Path, write: bool, as_json: bool) -> None:
    """Write small cases for another simulator to run, or check what it made of them.

    With --write, each case becomes a folder DIR/CASE: workload.swf and workload.json (Batsim's), platform.xml, the
    starts expected of every policy, and what the case reveals. Run your simulator on each, and leave its schedule
    there as POLICY.csv (Batsim's jobs.csv) or POLICY.swf (waits filled in), such as DIR/extra-nodes/easy.swf. Without
    --write, the schedules found are checked.

    Exit status: 0 when every schedule is right, 1 when one is not, 2 when a file cannot be read or there is none.
    """
    from batdispatch.core.errors import InputError
    from batdispatch.differ.files import check_cases, write_cases
    from batdispatch.differ.words import verdict

    if write:
        made = write_cases(folder)
        click.echo(f"{folder}: {len(made)} cases")
        return
    checked = list(check_cases(folder))
    if not checked:
        raise InputError(
            f"there is no schedule, expected CASE/POLICY.csv or CASE/POLICY.swf, POLICY one of {', '.join(_POLICIES)}",
            source=str(folder),
        )
    wrong = [each for each in checked if not each.held.closest.exact]
    if as_json:
        _print_json(
            {
                "schedules": len(checked),
                "wrong": len(wrong),
                "found": [
                    {
                        "case": each.case.name,
                        "policy": each.policy,
                        "right": each.held.closest.exact,
                        "verdict": verdict(each.held, each.policy, each.case.hosts),
                    }
                    for each in checked
                ],
            }
        )
    else:
        for each in checked:
            click.echo(f"{each.path}: {verdict(each.held, each.policy, each.case.hosts)}")
        click.echo(f"{len(checked)} schedules, {len(wrong)} wrong")
    if wrong:
        sys.exit(1)


@command.command()
@click.argument("log", metavar="LOG", type=click.Path(path_type=Path))
@_policy
@option(
    "--hosts",
    metavar="N,...",
    default="",
    help="Try these numbers of processors. By default, the one that the log's header says, and the next power of two.",
)
@option(
    "--threshold",
    metavar="SECONDS",
    type=Seconds(0, min_open=True),
    default=10.0,
    show_default=True,
    help="Count a run time below this many seconds as this long in the bounded slowdown.",
)
@option(
    "--quantile",
    type=click.FloatRange(0, 1),
    default=0.95,
    show_default=True,
    help="Compute this quantile of the bounded slowdown.",
)
@option(
    "--together",
    type=click.IntRange(1, 3),
    default=1,
    show_default=True,
    help="Combine up to this many mistakes in one simulation.",
)
@option("--published", metavar="X", type=float, help="Mark every figure that is within 1 % of this published one.")
@_format
@_columns
@_size
def figures(
    log: Path,
    policy: str,
    hosts: str,
    threshold: float,
    quantile: float,
    together: int,
    published: float | None,
    kind: str | None,
    columns: str,
    size: str,
) -> None:
    """Print what a policy and its known variants make of a log, to find out what a published figure is of.

    For each variant and number of processors: the quantile of the bounded slowdown of the jobs, and the mean wait.
    """
    from batdispatch.differ.figures import figures_of
    from batdispatch.differ.reading import read_schedule
    from batdispatch.inputs.workloads.logs import LogOptions

    schedule = read_schedule(log, kind=kind, options=LogOptions(columns=columns, size=size))  # type: ignore[arg-type]
    stated = next(iter(schedule.sizes))
    sizes = _numbers(hosts) if hosts else list(dict.fromkeys([stated, 1 << (stated - 1).bit_length()]))
    click.echo(f"{log}: {len(schedule.jobs):,} jobs; {quantile:.0%} bounded slowdown ({threshold:g} s), mean wait")
    for figure in figures_of(schedule.jobs, policy, sizes, threshold=threshold, quantile=quantile, together=together):
        close = published is not None and abs(figure.slowdown - published) <= 0.01 * abs(published)
        mark = f"  <- {published:g}" if close else ""
        click.echo(f"{figure.hosts:>7,} {figure.slowdown:>10,.2f} {figure.wait:>12,.0f} s  {figure.about}{mark}")


def _numbers(text: str) -> list[int]:
    from batdispatch.core.errors import InputError

    found = []
    for part in text.split(","):
        if not part.strip().isdigit() or not 1 <= int(part) <= 1 << 40:
            raise InputError(f"{part[:40]!r}, expected numbers of processors such as 338,512", source="option --hosts")
        found.append(int(part))
    return found


def _sizes(known: dict[int, str], true: int) -> list[int]:
    """Return further sizes that a schedule may have been made with, likeliest first."""
    found = [*known, 1 << (true - 1).bit_length()]
    return [size for size in dict.fromkeys(found) if size != true]


def _plain(explanation: Explanation) -> dict[str, Any]:
    return {
        "policy": explanation.policy,
        "hosts": explanation.rules.hosts,
        "readings": [reading.name for reading in explanation.readings],
        "mistakes": [mistake.name for mistake in explanation.mistakes],
    }


def _print_json(answer: dict[str, Any]) -> None:
    click.echo(msgspec.json.format(msgspec.json.encode(answer), indent=2).decode())
