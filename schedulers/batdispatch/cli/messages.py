"""What commands tell people beside their result: notes, warnings and tables. --quiet silences all of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import click
import msgspec

from batdispatch.cli.groups import option
from batdispatch.core.errors import printable
from batdispatch.core.line.settings import RESULTS
from batdispatch.runs.listener import Listener

_KEY = "batdispatch.quiet"
_APART = "batdispatch.apart"


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


def echo(text: str = "", *, err: bool = False, bold: bool = False) -> None:
    """Print a line. All that commands print goes through here: texts of files may hold what a terminal would obey.

    Args:
        text: shown with `batdispatch.core.errors.printable`.
        err: whether it goes to the error stream.
        bold: whether a terminal shows it in bold.
    """
    text = printable(text)
    click.echo(click.style(text, bold=True) if bold else text, err=err)


def note(text: str) -> None:
    """Say on the error stream what happens."""
    if not is_quiet():
        echo(f"batdispatch: {text}", err=True)


def warn(text: str) -> None:
    """Say on the error stream what is remarkable and no error."""
    note(f"warning: {text}")


class Terminal(Listener):
    """Shows how far work is as `progress` does, and says the rest on the error stream."""

    def __init__(self, progress: Callable[[str, int, int], None] = lambda *state: None) -> None:
        self._progress = progress

    def progress(self, label: str, done: int, total: int) -> None:
        self._progress(label, done, total)

    def note(self, text: str) -> None:
        note(text)

    def warn(self, text: str) -> None:
        warn(text)

    def failed(self, label: str, why: str) -> None:
        echo(f"batdispatch: {label} failed: {why}", err=True)

    def kept(self, labels: Sequence[str]) -> None:
        note(f"kept {', '.join(labels)}: whole runs of the same command and inputs (--fresh makes them anew)")


def write_apart(context: click.Context, parameter: click.Parameter, value: Path) -> Path:
    """Be the callback of an option that names a file: if this is the standard output, all else goes elsewhere."""
    # A process without a standard output has no such descriptor.
    with suppress(OSError):
        context.meta[_APART] = os.path.samestat(value.stat(), os.fstat(1))
    return value


def show(text: str) -> None:
    """Print a table or an account."""
    if not is_quiet():
        answer(text)


def answer(text: str) -> None:
    """Print what was asked for, such as the path of the result: beside a result that is the standard output itself."""
    context = click.get_current_context(silent=True)
    echo(text, err=context is not None and bool(context.meta.get(_APART)))


def conclude(output: object, facts: Mapping[str, object], *, as_json: bool, words: str = "") -> None:
    """Print what came of a command: words about it and its path, or both the path and facts as JSON.

    Args:
        output: the path.
        facts: about what was written; only JSON has them.
        as_json: which of the two.
        words: an account for people; empty: there is none.
    """
    if as_json:
        answer(json_text({"output": str(output), **facts}))
        return
    if words:
        show(words)
    answer(str(output))


def json_text(value: object) -> str:
    """Return a value as people read JSON."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
