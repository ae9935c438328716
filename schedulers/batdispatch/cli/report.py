"""``batdispatch report``: metrics and pictures of runs that are there, on one HTML page."""

from __future__ import annotations

from pathlib import Path

import click

from batdispatch.cli.groups import Command
from batdispatch.cli.messages import json_text
from batdispatch.cli.options import options
from batdispatch.cli.outputs import explain_option, json_option
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
    from batdispatch.api.looks import report

    written = report(*folders, page=page.output, title=page.title, baseline=page.baseline, explain=explain)
    click.echo(json_text(written.facts) if as_json else str(written))
