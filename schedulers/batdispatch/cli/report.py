"""``batdispatch report``: metrics and pictures of runs that are there, on one HTML page."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from batdispatch.cli.groups import Command, option
from batdispatch.cli.outputs import explain_option, json_option
from batdispatch.cli.replicating import has_replicates, report_replicates
from batdispatch.core.errors import InputError


@click.command(cls=Command)
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@option(
    "-o",
    "--output",
    metavar="OUT",
    type=click.Path(path_type=Path),
    help="Write the page here, or into this folder. The default is report/index.html in DIR, or "
    "here if there are several.",
)
@option("--title", metavar="TEXT", help="Give the page this heading.")
@option(
    "--baseline",
    metavar="NAME",
    help="Compare the other dispatchers of a campaign with this one. The default is easy, else the first.",
)
@explain_option
@json_option("Print the metrics as JSON instead of the path of the page.")
def command(
    folders: tuple[Path, ...],
    output: Path | None,
    title: str | None,
    baseline: str | None,
    explain: bool,
    as_json: bool,
) -> None:
    """Compare runs on one HTML page: metrics, curves, charts, and what differs between the inputs.

    DIR is a run's folder (jobs.csv, with or without result.json; Batsim's own output works too) or a folder that
    holds several. The page needs no network. Its path is printed.

    The folder of a campaign, or of a comparison with replicates, gives one page over all its workloads and replicates:
    which dispatcher to choose for which aim, and how sure that is.

    \b
    Examples:
      batdispatch report campaigns/placements --baseline EASY
      batdispatch report comparison
      batdispatch report results/easy batsim-output -o easy-twice.html
    """
    from batdispatch.core import extras

    extras.check("report", "a report")
    if output is not None and not output.suffix:
        output = output / "index.html"
    if len(folders) == 1 and has_replicates(folders[0]):
        report_replicates(folders[0], output, title=title, baseline=baseline, as_json=as_json)
        return
    if baseline is not None:
        raise InputError(
            "is for the folder of a campaign or of a comparison with replicates", source="option --baseline"
        )
    from batdispatch.report.comparison import warnings
    from batdispatch.report.page import render, write_page
    from batdispatch.results.runs import find_runs, read_runs

    if output is None:
        output = (folders[0] if len(folders) == 1 else Path()) / "report" / "index.html"
    runs = read_runs(find_runs(folders))
    path = write_page(render(runs, title=title, explain=explain), output)
    if not as_json:
        click.echo(str(path))
        return
    answer = {
        "report": str(path),
        "warnings": warnings(runs),
        "runs": [{"label": run.label, "folder": str(run.folder), "metrics": run.metrics} for run in runs],
    }
    click.echo(msgspec.json.format(msgspec.json.encode(answer), indent=2).decode())
