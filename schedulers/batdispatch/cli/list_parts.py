"""``batdispatch list``: what there is to choose from."""

from __future__ import annotations

import click

from batdispatch.cli.groups import Choice, Command, option
from batdispatch.cli.kinds import KINDS, summaries
from batdispatch.cli.messages import echo, json_text


@click.command(cls=Command)
@click.argument("kind", type=Choice(list(KINDS)), required=False)
@option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def command(kind: str | None, as_json: bool) -> None:
    """List dispatchers and what they are assembled from, with a line about each.

    \b
    Examples:
      batdispatch list
      batdispatch list orderings --json
    """
    tables = {name: summaries(name) for name in KINDS if kind in (None, name)}
    if as_json:
        echo(json_text(tables))
        return
    for name, entries in tables.items():
        if kind is None:
            echo(name, bold=True)
        width = max(map(len, entries), default=0)
        for entry, text in entries.items():
            echo(f"  {entry.ljust(width)}  {text}")
