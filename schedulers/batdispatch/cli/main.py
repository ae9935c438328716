"""The command `batdispatch`: one file a subcommand, loaded when it is used."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

import click

from batdispatch import __version__
from batdispatch.cli.groups import numbers_in_words
from batdispatch.cli.subcommands import LazyGroup
from batdispatch.core.abilities import insert_behind, own_abilities
from batdispatch.core.errors import InputError, printable, readable
from batdispatch.core.line.blame import DEBUG, blame, interrupt_of, user_error

#: Heading -> subcommand, its module, and a sentence about it. The module is one of this folder, or of another room if
#: its name has a point; it holds a `command`, or a `QUESTION` from which the command follows.
_HEADINGS = {
    "Compare dispatchers": (
        ("demo", "demo", "Compare dispatchers on an example, as a first look."),
        ("compare", "compare", "Compare dispatchers on one workload, with a report."),
        ("run", "run", "Simulate one dispatcher, here or in a real Batsim."),
    ),
    "Work with a real Batsim": (
        ("serve", "serve", "Be the scheduler of a real Batsim."),
        ("engine", "engine", "Be Batsim for a scheduler behind a socket."),
        ("replay", "runs.replay", "Rerun a recorded exchange and compare the decisions."),
    ),
    "Workloads and platforms": (
        ("convert", "convert", "Make a Batsim workload of a log."),
        ("generate", "generate", "Generate a workload from a model."),
        ("workload", "workload", "Look into workloads and logs."),
        ("platform", "platform", "Generate SimGrid platforms and look into them."),
    ),
    "Results": (
        ("report", "report", "Compare runs on one HTML page."),
        ("explain-wait", "explain.question", "Say what held a job while it waited."),
        ("export", "export", "Write runs in the forms of other programs."),
    ),
    "Dispatchers, and your own": (
        ("list", "list_parts", "List dispatchers and the parts they are made of."),
        ("explain", "explain", "Explain a dispatcher or a part of one."),
        ("new", "new", "Write a package for a dispatcher or part of your own."),
    ),
}


def _commands() -> tuple[dict[str, tuple[str, str]], dict[str, list[str]]]:
    """Return the subcommands, as `LazyGroup` has them, and the names under each heading; with those of abilities."""
    table = {
        name: (f"batdispatch.{module if '.' in module else f'cli.{module}'}", summary)
        for rows in _HEADINGS.values()
        for name, module, summary in rows
    }
    headings = {heading: [name for name, _, _ in rows] for heading, rows in _HEADINGS.items()}
    for command in (each for ability in own_abilities() for each in ability.commands if not each.group):
        table[command.name] = (command.module, command.summary)
        insert_behind(headings[command.heading], command.name, command.after)
    return {name: table[name] for names in headings.values() for name in names}, headings


#: Subcommand that is gone -> what replaces it.
_FORMER = {
    "leaderboard": "`batdispatch compare LOG --dispatchers simple,YOURS --replicates 10` ranks dispatchers on your "
    "jobs, and `python -m expe leaderboard` in the sources makes the manual's leaderboard"
}


class Commands(LazyGroup):
    """The subcommands of `batdispatch`."""

    table, headings = _commands()
    former = _FORMER


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="batdispatch")
def cli() -> None:
    """Compare HPC job dispatchers on your own logs, in simulation or against a real Batsim.

    \b
    First steps:
      batdispatch demo
      batdispatch compare --platform P.xml --workload W.json --dispatchers fcfs,easy,conservative
      batdispatch list dispatchers
      batdispatch explain easy
    """


#: Set by a shell that asks how a line may go on.
COMPLETION_VARIABLE = "_BATDISPATCH_COMPLETE"


class _Terminated(KeyboardInterrupt):
    """A signal that ends the program, its only argument, with the clean-up of an interrupt."""


def _terminate(number: int, frame: FrameType | None) -> None:
    raise _Terminated(number)


def _terminate_when_told() -> None:
    signal.signal(signal.SIGTERM, _terminate)
    # What runs under nohup goes on when its terminal closes.
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, _terminate)


def _in_words(problem: click.ClickException) -> str:
    """Return what is wrong with a command line, as other errors say it, and where to read more."""
    # Click lists choices with one on each line.
    text = " ".join(problem.format_message().split()).rstrip(".")
    if isinstance(problem, click.BadParameter) and isinstance(problem.param, click.Option) and problem.message:
        text = problem.message.rstrip(".")
        if isinstance(problem.param.type, click.IntRange | click.FloatRange):
            found = text.partition(" is not ")[0].strip("'")
            text = f"found {found!r}, expected {numbers_in_words(problem.param.type)}"
        text = f"option {max(problem.param.opts, key=len)}: {text}"
    context = problem.ctx if isinstance(problem, click.UsageError) else None
    end = "" if text.endswith("?") else "."
    return f"{text}{end} See {context.command_path} --help" if context is not None else text


def _program() -> str:
    """Return with which words the command was called, so that what messages propose can be typed."""
    as_module = sys.argv[0].endswith("batdispatch/__main__.py")
    return "python -m batdispatch" if as_module else "batdispatch"


def _stop(interrupt: BaseException | None) -> NoReturn:
    """End as a shell expects of a program that a signal ends."""
    stopped_by = interrupt.args[0] if isinstance(interrupt, _Terminated) else signal.SIGINT
    click.echo(f"batdispatch: {'interrupted' if stopped_by == signal.SIGINT else 'terminated'}", err=True)
    sys.exit(128 + stopped_by)


def main() -> None:
    """Run the command line; every expected failure is one message and an exit status (2: input, 1: the run)."""
    _terminate_when_told()
    if COMPLETION_VARIABLE in os.environ:
        from click.shell_completion import add_completion_class

        from batdispatch.cli.bash import Bash

        add_completion_class(Bash)
    try:
        # Without standalone mode click returns the status of `context.exit` and raises nothing.
        status = cli.main(prog_name=_program(), standalone_mode=False)
        sys.exit(status if isinstance(status, int) else 0)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.Abort as stop:
        _stop(stop.__cause__)
    except click.ClickException as problem:
        click.echo(f"batdispatch: error: {readable(_in_words(problem))}", err=True)
        sys.exit(2)
    except Exception as problem:
        if (interrupt := interrupt_of(problem)) is not None:
            _stop(interrupt)
        error = user_error(problem)
        if error is not None:
            click.echo(f"batdispatch: error: {error}", err=True)
            sys.exit(2 if isinstance(error, InputError) else 1)
        # A bug of ours: a message that fits into a report of it, and the traceback for whoever looks for it.
        hint = "" if os.environ.get(DEBUG) else f"; with {DEBUG}=1 in the environment it says where from"
        click.echo(f"batdispatch: error: this is a bug: {printable(blame(problem))}{hint}", err=True)
        sys.exit(1)
