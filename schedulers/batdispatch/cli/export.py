"""``batdispatch export``: runs in the forms of other programs."""

from __future__ import annotations

from pathlib import Path

import click

from batdispatch.cli.export_evalys import evalys
from batdispatch.cli.groups import Group
from batdispatch.cli.messages import conclude
from batdispatch.cli.outputs import output_option, written_option


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
    from batdispatch.core.errors import InputError
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


command.add_command(evalys)
