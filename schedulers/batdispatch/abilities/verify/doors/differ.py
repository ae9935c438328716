"""``batdispatch differ``: hold the schedules of any simulator against textbook definitions."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from batdispatch.abilities.verify.differ.options import FigureOptions, FileOptions
from batdispatch.cli.groups import OTHER_OPTIONS, Group, option
from batdispatch.cli.messages import echo, json_text
from batdispatch.cli.options import options
from batdispatch.cli.outputs import json_option


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
@options(FileOptions)
@json_option("Print what is found as JSON.", section=OTHER_OPTIONS)
def file(wanted: FileOptions, path: Path, as_json: bool) -> None:
    """Compare a schedule with the one that a definition gives, and say what explains the differences.

    JOBFILE is Batsim's jobs.csv, an SWF file with waits filled in, or whatever else `batdispatch convert` reads.
    The expected schedule comes from a naive simulation that shares no code with this package's dispatchers. If the
    schedule is another one, known variants are simulated until one gives it exactly: other readings of simultaneous
    events, other sizes of the machine, known mistakes, other policies.

    Exit status: 0 when the schedule is what the policy's name says, 1 when it is not, 2 when a file cannot be read.
    """
    from batdispatch.abilities.verify.differ.files import hold_file
    from batdispatch.abilities.verify.differ.words import as_dict, differences, verdict

    schedule, hosts, why, held = hold_file(path, wanted)
    if as_json:
        echo(json_text(as_dict(schedule, held, wanted.policy, hosts)))
    else:
        echo(f"{path}: {len(schedule.jobs):,} jobs on {hosts:,} processors ({why})")
        for line in (*schedule.notes, *differences(schedule, held), verdict(held, wanted.policy, hosts)):
            echo(line)
    if not held.closest.exact:
        sys.exit(1)


@command.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@option("--write", is_flag=True, help="Write the cases into DIR.")
@json_option("Print what is found as JSON.", section=OTHER_OPTIONS)
def cases(folder: Path, write: bool, as_json: bool) -> None:
    """Write small cases for another simulator to run, or check what it made of them.

    With --write, each case becomes a folder DIR/CASE: workload.swf and workload.json (Batsim's), platform.xml, the
    starts expected of every policy, and what the case reveals. Run your simulator on each, and leave its schedule
    there as POLICY.csv (Batsim's jobs.csv) or POLICY.swf (waits filled in), such as DIR/extra-nodes/easy.swf. Without
    --write, the schedules found are checked.

    Exit status: 0 when every schedule is right, 1 when one is not, 2 when a file cannot be read or there is none.
    """
    from batdispatch.abilities.verify.differ.files import checked_cases, write_cases
    from batdispatch.abilities.verify.differ.words import cases_as_dict, verdict

    if write:
        echo(f"{folder}: {len(write_cases(folder))} cases")
        return
    checked = checked_cases(folder)
    wrong = sum(not each.held.closest.exact for each in checked)
    if as_json:
        echo(json_text(cases_as_dict(checked)))
    else:
        for each in checked:
            echo(f"{each.path}: {verdict(each.held, each.policy, each.case.hosts)}")
        echo(f"{len(checked)} schedules, {wrong} wrong")
    if wrong:
        sys.exit(1)


@command.command()
@click.argument("log", metavar="LOG", type=click.Path(path_type=Path))
@options(FigureOptions)
@json_option("Print the figures as JSON.", section=OTHER_OPTIONS)
def figures(wanted: FigureOptions, log: Path, as_json: bool) -> None:
    """Print what a policy and its known variants make of a log, to find out what a published figure is of.

    For each variant and number of processors: the quantile of the bounded slowdown of the jobs, and the mean wait.
    """
    from batdispatch.abilities.verify.differ.figures import figures_of_log

    jobs, listed = figures_of_log(log, wanted)
    if as_json:
        echo(json_text({"jobs": jobs, "figures": [figure._asdict() for figure in listed]}))
        return
    heading = f"{wanted.quantile:.0%} bounded slowdown ({wanted.threshold:g} s), mean wait"
    echo(f"{log}: {jobs:,} jobs; {heading}")
    for figure in listed:
        near = figure.is_near(wanted.published)
        mark = f"  <- {wanted.published:g}" if near else ""
        echo(f"{figure.hosts:>7,} {figure.slowdown:>10,.2f} {figure.wait:>12,.0f} s  {figure.about}{mark}")
