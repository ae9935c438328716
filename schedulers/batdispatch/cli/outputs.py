"""Command-line options that say what a command writes, and how it works through it, shared by the commands that do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from batdispatch.cli.groups import option
from batdispatch.cli.messages import write_apart
from batdispatch.core.line.settings import RESULTS
from batdispatch.runs.comparison_options import PROCESSES

F = TypeVar("F", bound=Callable[..., Any])


def out_option(
    default: str | None, help: str = "Write the results into this folder.", *, section: str = RESULTS
) -> Callable[[F], F]:
    """Return ``--out``, in short ``-o``, with a default or a help that says it, read as a path."""
    return option(
        "-o",
        "--out",
        section=section,
        metavar="DIR",
        type=click.Path(path_type=Path),
        default=None if default is None else Path(default),
        show_default=default is not None,
        help=help,
    )


def output_option(metavar: str, help: str, **more: Any) -> Callable[[F], F]:
    """Return ``--out``, in short ``-o``: the file that a command writes, which may be the standard output."""
    return option(
        "-o",
        "--out",
        "output",
        metavar=metavar,
        required=True,
        type=click.Path(path_type=Path),
        callback=write_apart,
        help=help,
        **more,
    )


def processes_option(what: str, most: int = 64) -> Callable[[F], F]:
    """Return ``--jobs``, which a command takes as `processes`: so many at a time, as `what` says, up to `most`."""
    return option(
        "--jobs",
        "processes",
        section=RESULTS,
        metavar="N",
        type=click.IntRange(1, most),
        default=PROCESSES,
        help=f"{what} By default there is one for each processor, and at most 8.",
    )


def json_option(help: str, *, section: str = RESULTS) -> Callable[[F], F]:
    """Return ``--json``, which a command takes as `as_json`."""
    return option("--json", "as_json", section=section, is_flag=True, help=help)


#: ``--json`` of a command that writes something, see `messages.conclude`.
written_option = json_option("Print what was written as JSON, with its path.")


def fresh_option(what: str) -> Callable[[F], F]:
    """Return ``--fresh``: whether runs that are there are made anew; `what` says when they are kept otherwise."""
    return option(
        "--fresh",
        section=RESULTS,
        is_flag=True,
        help=f"Make every run anew. By default, a whole run of the same {what} is kept.",
    )


report_option = option(
    "--report/--no-report",
    section=RESULTS,
    default=True,
    show_default=True,
    help="Write the report, an HTML page. Without it, the table is all.",
)
