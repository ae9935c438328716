"""Command-line options that name the input of a simulation, shared by the commands that run one."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from batdispatch.batsim import PROTOCOLS

F = TypeVar("F", bound=Callable[..., Any])


def input_options(*, made: bool = False) -> Callable[[F], F]:
    """Add ``--platform --workload --master-host --events --simgrid`` to a command.

    Args:
        made: whether the command makes a platform, and a workload of a log, if it is not given them.
    """

    def add(command: F) -> F:
        for option in reversed((*_files(made=made), *_SIMULATION)):
            command = option(command)
        return command

    return add


def _files(*, made: bool) -> tuple[Callable[[F], F], ...]:
    platform = "SimGrid platform. Default, or auto: one of the right size is made." if made else "SimGrid platform."
    workload = "Batsim workload, or a log." if made else "Batsim workload."
    return (
        click.option("--platform", metavar="P.xml", required=not made, type=click.Path(), help=platform),
        click.option("--workload", metavar="W.json", required=not made, type=click.Path(), help=workload),
    )


_SIMULATION = (
    click.option(
        "--master-host",
        metavar="NAME",
        help="The host that carries Batsim itself and is no resource, as Batsim's -m. "
        "Default: master_host, if the platform has one.",
    ),
    click.option("--events", metavar="FILE", type=click.Path(), help="External events, one JSON object a line."),
    click.option(
        "--simgrid",
        type=click.Choice(["auto", "always"]),
        default="auto",
        show_default=True,
        help="SimGrid times what depends on speeds and links. auto: where a job's profile needs it; always: "
        "also for what a dispatcher adds, such as I/O jobs.",
    ),
)


clock_option = click.option(
    "--clock",
    type=click.Choice(["together", "apart", "batsim"]),
    default="together",
    show_default=True,
    help="When the dispatcher hears of what happens. together: at once, and all that happens at one moment in one "
    "message. apart: at once, one event a message (submissions first). batsim: when Batsim's own messages, which take "
    "time on the platform's links, would have brought the news (needs SimGrid and a master host).",
)


def out_option(default: str, help: str = "Folder of results.") -> Callable[[F], F]:
    """Return ``--out`` with a default, read as a path."""
    return click.option(
        "--out", metavar="DIR", type=click.Path(path_type=Path), default=Path(default), show_default=True, help=help
    )


def processes_option(what: str, most: int = 64) -> Callable[[F], F]:
    """Return ``--jobs``, which a command takes as `processes`: so many at a time, as `what` says, up to `most`."""
    return click.option(
        "--jobs",
        "processes",
        type=click.IntRange(1, most),
        default=min(os.cpu_count() or 1, 8),
        help=f"{what} Default: one a processor.",
    )


explain_option = click.option(
    "--explain/--no-explain",
    default=True,
    show_default=True,
    help="Say in the report where a dispatcher loses, which reads the recorded decisions once more.",
)


class Seconds(click.FloatRange):
    """A bounded number of seconds. Not-a-number, which no comparison would refuse, is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number that a text stands for."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is no number of seconds.", param, ctx)
        return number


def timeout_option(about: str, *, default: float = 600.0, endless: bool = False) -> Callable[[F], F]:
    """Add ``--timeout`` in seconds to a command; with `endless`, 0 stands for no limit."""
    return click.option(
        "--timeout",
        metavar="SECONDS",
        type=Seconds(0, min_open=not endless),
        default=default,
        show_default=True,
        help=about,
    )


protocol_option = click.option(
    "--protocol",
    "version",
    type=click.Choice(list(PROTOCOLS)),
    default="4",
    show_default=True,
    help="Version of Batsim's protocol.",
)


def checked_folder(out: Path) -> Path:
    """Return a folder for results, which the run creates once its input is read.

    Raises:
        InputError: there is a file of that name.
    """
    from batdispatch.core.errors import InputError

    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file, expected a folder for the results", source="option --out")
    return out


def warn(text: str) -> None:
    """Say on the error stream what is remarkable and no error."""
    click.echo(f"batdispatch: warning: {text}", err=True)
