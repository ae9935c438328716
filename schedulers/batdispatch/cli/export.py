"""``batdispatch export``: runs in the forms of other programs."""

from __future__ import annotations

from pathlib import Path

import click

from batdispatch.cli.groups import Group, option
from batdispatch.cli.messages import conclude, quiet_option
from batdispatch.cli.outputs import out_option, output_option, written_option
from batdispatch.cli.progress import ProgressDisplay
from batdispatch.core.errors import InputError


@click.group(cls=Group)
def command() -> None:
    """Write runs in the forms of other programs.

    \b
    Example:
      batdispatch export perfetto demo-results -o demo.json.gz
    """


@command.command()
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@output_option("FILE", "Write the trace into this file, FILE.json or FILE.json.gz.")
@written_option
def perfetto(folders: tuple[Path, ...], output: Path, as_json: bool) -> None:
    """Write a trace for Perfetto's viewer: each host a track, each job a slice, the queue a counter.

    DIR is a run's folder, or a folder that holds several.

    \b
    Examples:
      batdispatch export perfetto demo-results -o demo.json.gz
      batdispatch export perfetto results/easy results/fcfs -o two.json
    """
    from batdispatch.results.perfetto import write_perfetto
    from batdispatch.results.runs import find_runs, read_runs

    if not output.name.endswith((".json", ".json.gz")):
        raise InputError(f"{output.name!r}, expected a name that ends in .json or .json.gz", source="option --out")
    runs = read_runs(find_runs(folders))
    slices = write_perfetto(runs, output)
    conclude(output, {"runs": [run.label for run in runs], "slices": slices}, as_json=as_json)


@command.command()
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@output_option("FILE.csv", "Write the table into this file.")
@written_option
def spreadsheet(run: Path, output: Path, as_json: bool) -> None:
    """Write a run's jobs.csv so that a spreadsheet takes no text for a formula.

    Ids of jobs come from logs, and may begin with =, +, - or @. Such texts get an apostrophe in front; numbers stay.

    \b
    Example:
      batdispatch export spreadsheet demo-results/easy -o easy.csv
    """
    from batdispatch.results.spreadsheet import write_spreadsheet

    jobs = write_spreadsheet(run, output)
    conclude(output, {"jobs": jobs}, as_json=as_json)


@command.command()
@click.argument("folders", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@out_option("evalys", "Write the tables and figures into this folder.")
@option("--from", "begin", metavar="TIME", help="Leave out jobs that end before this time.")
@option("--to", "end", metavar="TIME", help="Leave out jobs that start after this time.")
@option("--user", "users", metavar="NAME", multiple=True, help="Show only jobs of this user. May be repeated.")
@written_option
@quiet_option
def evalys(
    folders: tuple[Path, ...], out: Path, begin: str | None, end: str | None, users: tuple[str, ...], as_json: bool
) -> None:
    """Write what evalys reads of runs, and evalys' own figures of them as SVG and PNG.

    RUN is a run's folder, or a folder that holds several. Of each run: its jobs as a table, utilisation, queue and
    states of the machine; of at most 1,000 jobs also a Gantt chart and free intervals, and of several runs their Gantt
    charts on top of each other. TIME is in s, or 12h, 30d, 2w, or a date such as 2026-03-01T12:00 in the log's zone.

    \b
    Examples:
      batdispatch export evalys demo-results/easy demo-results/fcfs -o evalys
      batdispatch export evalys kth/easy -o week --from 1997-03-03 --to 1997-03-10 --user 3
    """
    from batdispatch.inputs.workloads.selection import parse_moment
    from batdispatch.report.evalys_figures import write_figures
    from batdispatch.results.runs import find_runs, read_runs

    runs = read_runs(find_runs(folders))
    dates = runs[0].result.workload.dates
    ends = [
        None if text is None else parse_moment(text, name, dates) for name, text in (("--from", begin), ("--to", end))
    ]
    with ProgressDisplay() as progress:
        paths = write_figures(
            runs,
            out,
            begin=ends[0],
            end=ends[1],
            users=users,
            progress=lambda done, total: progress.tell("figures of evalys", done, total),
        )
    conclude(out, {"files": list(map(str, paths))}, as_json=as_json, words="\n".join(map(str, paths)))
