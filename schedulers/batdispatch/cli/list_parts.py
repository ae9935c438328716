"""``batdispatch list``: what there is to choose from."""

from __future__ import annotations

import inspect

import click
import msgspec

from batdispatch.core import dispatcher, registry
from batdispatch.parts import ordering, placement, prediction, requests

#: Kind -> entry-point group and base class.
KINDS: dict[str, tuple[str, type]] = {
    "dispatchers": (dispatcher.GROUP, dispatcher.Dispatcher),
    "orderings": (ordering.GROUP, ordering.Ordering),
    "placements": (placement.GROUP, placement.Placement),
    "requests": (requests.GROUP, requests.RequestSequence),
    "predictions": (prediction.GROUP, prediction.Prediction),
}


def summary(found: type) -> str:
    """Return the first sentence of a class's documentation."""
    return inspect.cleandoc(found.__doc__ or "").split("\n")[0]


@click.command()
@click.argument("kind", type=click.Choice(list(KINDS)), required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def command(kind: str | None, as_json: bool) -> None:
    """List dispatchers, orderings, placements and predictions, with a line about each.

    \b
    Examples:
      batdispatch list
      batdispatch list orderings --json
    """
    tables = {
        name: {entry: summary(registry.find(group, entry, base, name[:-1])) for entry in registry.names(group)}
        for name, (group, base) in KINDS.items()
        if kind in (None, name)
    }
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(tables), indent=2).decode())
        return
    for name, entries in tables.items():
        if kind is None:
            click.secho(name, bold=True)
        width = max(map(len, entries), default=0)
        for entry, text in entries.items():
            click.echo(f"  {entry.ljust(width)}  {text}")
