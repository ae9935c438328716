"""What commands tell people beside their result: notes, warnings and tables. --quiet silences all of it."""

from __future__ import annotations

import click

from batdispatch.cli.groups import RESULTS, option

_KEY = "batdispatch.quiet"


def _set_quiet(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    # A command may run another one, whose own option is not given.
    if value:
        context.meta[_KEY] = True


quiet_option = option(
    "--quiet",
    "-q",
    section=RESULTS,
    is_flag=True,
    expose_value=False,
    callback=_set_quiet,
    help="Print only errors and, as the last line, the path of the result: no progress, note, warning or table.",
)


def is_quiet() -> bool:
    """Return whether the command that runs was given --quiet."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_KEY))


def note(text: str) -> None:
    """Say on the error stream what happens."""
    if not is_quiet():
        click.echo(f"batdispatch: {text}", err=True)


def warn(text: str) -> None:
    """Say on the error stream what is remarkable and no error."""
    note(f"warning: {text}")


def show(text: str) -> None:
    """Print a table or an account."""
    if not is_quiet():
        click.echo(text)
