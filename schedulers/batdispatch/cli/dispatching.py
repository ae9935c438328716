"""Command-line options that name a dispatcher and set it up, shared by the commands that run one."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from batdispatch.cli.completing import complete_dispatcher, complete_setting
from batdispatch.cli.groups import DISPATCHER, SIMULATION, Choice, option
from batdispatch.core.errors import InputError
from batdispatch.core.line.options import parse_named

if TYPE_CHECKING:
    from batdispatch.core.line.session import DecisionTime, Session

F = TypeVar("F", bound=Callable[..., Any])

#: ``--decision-clock``, for the commands that simulate.
decision_clock_option = option(
    "--decision-clock",
    section=SIMULATION,
    type=Choice(["wall", "cpu"]),
    default="wall",
    show_default=True,
    help="Measure the time of each decision with this clock: the wall's, or the process's CPU time, which is right on "
    "a busy machine, too.",
)

_DECISION_TIME = option(
    "--decision-time",
    section=SIMULATION,
    metavar="none|measured|SECONDS",
    default="none",
    show_default=True,
    help="Let each decision take simulated time: none, as long as it really takes (measured), or this many seconds.",
)

seed_option = option(
    "--seed",
    section=DISPATCHER,
    metavar="N",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Seed all random choices with this number. The same seed gives the same bytes.",
)


def setup_options(about: str = "Set an option of the dispatcher. May be given several times.") -> Callable[[F], F]:
    """Add ``--set --seed --decision-time`` to a command.

    Args:
        about: the help of ``--set``.
    """
    settings = option(
        "--set",
        "settings",
        section=DISPATCHER,
        metavar="KEY=VALUE",
        multiple=True,
        shell_complete=complete_setting,
        help=about,
    )
    return lambda command: settings(seed_option(_DECISION_TIME(command)))


def dispatcher_options(*, required: bool = True) -> Callable[[F], F]:
    """Add ``--dispatcher --set --seed --decision-time`` to a command."""
    which = option(
        "--dispatcher",
        section=DISPATCHER,
        metavar="NAME",
        required=required,
        shell_complete=complete_dispatcher,
        help="Let this dispatcher decide: a name that `batdispatch list` shows, module:Class or path/to/file.py:Class. "
        "Options may follow in brackets, as in easy[ordering=sjf].",
    )
    setup = setup_options()
    return lambda command: which(setup(command))


compiled_option = option(
    "--compiled",
    section=SIMULATION,
    type=Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Simulate fcfs, filler, easy and conservative in a compiled kernel, which writes the same files much sooner, "
    "but no recording and no times of decisions. auto: if --no-record is given and a kernel applies. always: refuse "
    "what has no kernel, and say why. Needs Numba (pip install 'batdispatch[compiled]').",
)


def parse_settings(settings: Sequence[str]) -> dict[str, str]:
    """Read ``--set`` options.

    Raises:
        InputError: one is not KEY=VALUE, or a key is given twice.
    """
    values: dict[str, str] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key:
            raise InputError(f"found {setting!r}, expected KEY=VALUE", source="option --set")
        if key in values:
            raise InputError(f"{key!r} is given twice", source="option --set")
        values[key] = value
    return values


def named_with(dispatcher: str, settings: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return a dispatcher's name, and the options in its brackets together with those of ``--set``.

    Raises:
        InputError: the text has another form, or an option is given twice.
    """
    name, options = parse_named(dispatcher, "option --dispatcher")
    for key, value in settings.items():
        if key in options:
            raise InputError(f"{key!r} stands in brackets and in --set", source="option --dispatcher")
        options[key] = value
    return name, options


def parse_decision_time(text: str) -> DecisionTime:
    """Read ``--decision-time``: seconds, or None for the measured time.

    Raises:
        InputError: it is neither none, measured nor a number of seconds.
    """
    if text == "none":
        return 0.0
    if text == "measured":
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < math.inf:
        raise InputError(f"found {text!r}, expected none, measured or seconds", source="option --decision-time")
    return seconds


def build_session(dispatcher: str, settings: Mapping[str, str], seed: int, decision_time: str) -> Session:
    """Return a fresh session of the dispatcher that the options describe.

    Raises:
        InputError: an option is wrong.
    """
    from batdispatch.core.line.dispatcher import create
    from batdispatch.core.line.session import Session

    made = create(dispatcher, settings, seed)
    return Session(made, decision_time=parse_decision_time(decision_time), clock=time.perf_counter)
