"""Command-line options that name the input of a simulation, shared by the commands that run one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import click

from batdispatch.batsim import PROTOCOLS
from batdispatch.cli.groups import BATSIM, INPUTS, SIMULATION, Choice, option

F = TypeVar("F", bound=Callable[..., Any])


def input_options(*, made: bool = False) -> Callable[[F], F]:
    """Add ``--platform --workload --master-host --events --simgrid`` to a command.

    Args:
        made: whether the command makes a platform, and a workload of a log, if it is not given them.
    """

    def add(command: F) -> F:
        for one in reversed((*_files(made=made), *_SIMULATION)):
            command = one(command)
        return command

    return add


def _files(*, made: bool) -> tuple[Callable[[F], F], ...]:
    platform = "Read the machine from this SimGrid platform."
    workload = "Read the jobs from this Batsim workload."
    if made:
        platform += " By default, or as auto, a platform of the right size is made."
        workload = "Read the jobs from this Batsim workload or log; LOG says the same."
    return (
        option("--platform", section=INPUTS, metavar="P.xml", required=not made, type=click.Path(), help=platform),
        option("--workload", section=INPUTS, metavar="W.json", required=not made, type=click.Path(), help=workload),
    )


_SIMULATION = (
    option(
        "--master-host",
        section=INPUTS,
        metavar="NAME",
        help="Keep this host for Batsim itself, as Batsim's -m does; it is no resource. The default is master_host, if "
        "the platform has one.",
    ),
    option(
        "--events",
        section=INPUTS,
        metavar="FILE",
        type=click.Path(),
        help="Play external events, such as hosts that fail, from this file: one JSON object on each line, as for "
        "Batsim's --events.",
    ),
    option(
        "--simgrid",
        section=SIMULATION,
        type=Choice(["auto", "always"]),
        default="auto",
        show_default=True,
        help="Choose when SimGrid computes run times from speeds and links. auto: where a job's profile needs it. "
        "always: also for jobs that a dispatcher adds, such as those for I/O.",
    ),
)


clock_option = option(
    "--clock",
    section=SIMULATION,
    type=Choice(["together", "apart", "batsim"]),
    default="together",
    show_default=True,
    help="Choose when the dispatcher hears of what happens. together: at once, with all events of one moment in one "
    "message. apart: at once, with one event in each message, submissions first. batsim: when Batsim's own messages, "
    "which take time on the platform's links, would have arrived (needs SimGrid and a master host).",
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
    return option(
        "--timeout",
        section=BATSIM,
        metavar="SECONDS",
        type=Seconds(0, min_open=not endless),
        default=default,
        show_default=True,
        help=about,
    )


protocol_option = option(
    "--protocol",
    "version",
    section=BATSIM,
    type=Choice(list(PROTOCOLS)),
    default="4",
    show_default=True,
    help="Speak this version of Batsim's protocol.",
)
