"""``batdispatch report``: metrics and pictures of runs that are there, on one HTML page."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from batdispatch.cli.groups import Command, option
from batdispatch.cli.outputs import explain_option, json_option


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
    from batdispatch.api.looks import report

    answer = report(*folders, page=output, title=title, baseline=baseline, explain=explain)
    click.echo(msgspec.json.format(msgspec.json.encode(answer.facts), indent=2).decode() if as_json else str(answer))
