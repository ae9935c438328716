"""``batdispatch export evalys``: evalys' own figures of runs."""

from __future__ import annotations

from pathlib import Path

import click

from batdispatch.cli.groups import Command, option
from batdispatch.cli.messages import conclude, quiet_option
from batdispatch.cli.outputs import out_option, written_option
from batdispatch.cli.progress import ProgressDisplay


@click.command(cls=Command)
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
