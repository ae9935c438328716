"""``batdispatch report``: metrics and pictures of runs that are there, on one HTML page."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from batdispatch.cli.inputs import explain_option


@click.command()
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    type=click.Path(path_type=Path),
    help="The page, or a folder for it. Default: report/index.html in DIR, or here when there are several.",
)
@click.option("--title", metavar="TEXT", help="Heading of the page.")
@explain_option
@click.option("--json", "as_json", is_flag=True, help="Print the metrics as JSON instead of the path of the page.")
def command(folders: tuple[Path, ...], output: Path | None, title: str | None, explain: bool, as_json: bool) -> None:
    """Compare runs on one HTML page: metrics, curves, charts, and what differs between the inputs.

    DIR is a run's folder (jobs.csv, with or without result.json; Batsim's own output works too) or a folder that
    holds several. The page needs no network. Its path is printed.

    \b
    Examples:
      batdispatch report comparison
      batdispatch report results/easy batsim-output -o easy-twice.html
    """
    from batdispatch.core import extras

    extras.check("report", "a report")
    from batdispatch.results.report.comparison import warnings
    from batdispatch.results.report.page import render, write_page
    from batdispatch.results.runs import find_runs, read_runs

    if output is None:
        output = (folders[0] if len(folders) == 1 else Path()) / "report" / "index.html"
    elif not output.suffix:
        output = output / "index.html"
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
