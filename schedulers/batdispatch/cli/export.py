"""``batdispatch export``: runs in the forms of other programs."""

from __future__ import annotations

from pathlib import Path

import click

from batdispatch.cli.export_evalys import evalys
from batdispatch.cli.groups import Group
from batdispatch.cli.messages import answer
from batdispatch.cli.outputs import output_option


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
def perfetto(folders: tuple[Path, ...], output: Path) -> None:
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
    write_perfetto(read_runs(find_runs(folders)), output)
    answer(str(output))


@command.command()
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@output_option("FILE.csv", "Write the table into this file.")
def spreadsheet(run: Path, output: Path) -> None:
    """Write a run's jobs.csv so that a spreadsheet takes no text for a formula.

    Ids of jobs come from logs, and may begin with =, +, - or @. Such texts get an apostrophe in front; numbers stay.

    \b
    Example:
      batdispatch export spreadsheet demo-results/easy -o easy.csv
    """
    from batdispatch.results.spreadsheet import write_spreadsheet

    write_spreadsheet(run, output)
    answer(str(output))


command.add_command(evalys)
