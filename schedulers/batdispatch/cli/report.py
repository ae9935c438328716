"""``batdispatch report``: metrics and pictures of runs that are there, on one HTML page."""

from __future__ import annotations

from pathlib import Path

import click

from batdispatch.cli.groups import Command
from batdispatch.cli.messages import json_text
from batdispatch.cli.options import options
from batdispatch.cli.outputs import explain_option, json_option
from batdispatch.core.errors import InputError
from batdispatch.report.options import ReportOptions


@click.command(cls=Command)
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@options(ReportOptions)
@explain_option
@json_option("Print the metrics as JSON instead of the path of the page.")
def command(page: ReportOptions, folders: tuple[Path, ...], explain: bool, as_json: bool) -> None:
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
    from batdispatch.runs.replicate_comparison import has_replicates

    output = page.output
    if output is not None and not output.suffix:
        output = output / "index.html"
    if len(folders) == 1 and has_replicates(folders[0]):
        _report_replicates(folders[0], output, page, as_json=as_json)
        return
    if page.baseline is not None:
        raise InputError(
            "is for the folder of a campaign or of a comparison with replicates", source="option --baseline"
        )
    from batdispatch.report.comparison import warnings
    from batdispatch.report.page import render, write_page
    from batdispatch.results.runs import find_runs, read_runs

    runs = read_runs(find_runs(folders))
    home = folders[0] if len(folders) == 1 else Path()
    path = write_page(render(runs, title=page.title, explain=explain), output or home / "report" / "index.html")
    if not as_json:
        click.echo(str(path))
        return
    listed = [{"label": run.label, "folder": str(run.folder), "metrics": run.metrics} for run in runs]
    click.echo(json_text({"report": str(path), "warnings": warnings(runs), "runs": listed}))


def _report_replicates(folder: Path, output: Path | None, page: ReportOptions, *, as_json: bool) -> None:
    from batdispatch.report.replicates.answers import as_dict
    from batdispatch.runs.replicate_comparison import report_replicates

    sections, path = report_replicates(folder, output, title=page.title, baseline=page.baseline)
    click.echo(json_text(as_dict(sections, path)) if as_json else str(path))
