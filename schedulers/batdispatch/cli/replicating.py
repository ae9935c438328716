"""``batdispatch compare --replicates``: every dispatcher on several replicates, and the page of what that shows."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec

from batdispatch.cli.completing import complete_one_of_them
from batdispatch.cli.groups import REPLICATES, Choice, option
from batdispatch.cli.telling import show
from batdispatch.core.errors import InputError, SimulationError

if TYPE_CHECKING:
    from batdispatch.api.results import Replication

F = TypeVar("F", bound=Callable[..., Any])
#: Options that do not change what comes out.
_SILENT = ("processes", "fresh", "as_json", "explain", "record", "report", "quiet")
_option = functools.partial(option, section=REPLICATES)
_OPTIONS = (
    _option(
        "--replicates",
        metavar="N",
        type=click.IntRange(1, 1000),
        help="Compare on N replicates of the workload, and say how sure the differences are.",
    ),
    _option(
        "--replicate-by",
        type=Choice(["slices", "sessions", "seeds"]),
        default="slices",
        show_default=True,
        help="Make replicates in this way. slices: parts of the workload, evenly spread. sessions: its users' weeks, "
        "drawn anew. seeds: the whole workload, with other seeds of the dispatchers.",
    ),
    _option(
        "--slice-jobs",
        metavar="N",
        type=click.IntRange(1),
        help="Put N jobs into each slice. By default, at most 1,000.",
    ),
    _option(
        "--weeks",
        metavar="N",
        type=click.IntRange(1),
        default=2,
        show_default=True,
        help="Draw N weeks for each replicate (sessions).",
    ),
    _option(
        "--baseline",
        metavar="NAME",
        shell_complete=complete_one_of_them,
        help="Compare the other dispatchers with this one of --dispatchers. The default is easy, else the first.",
    ),
)


def replicate_options(command: F) -> F:
    """Add the options of replicates to a command."""
    for add in reversed(_OPTIONS):
        command = add(command)
    return command


def check_replicates(count: int | None, by: str, dispatchers: str) -> bool:
    """Return whether a comparison is on replicates.

    Raises:
        InputError: an option is given that needs others.
    """
    from click.core import ParameterSource

    from batdispatch.runs.families import FAMILIES, check_names

    check_names(dispatchers)
    context = click.get_current_context()
    given = [
        option
        for option in ("replicate_by", "slice_jobs", "weeks", "baseline")
        if context.get_parameter_source(option) is ParameterSource.COMMANDLINE
    ]
    if count is not None:
        for option, way in (("slice_jobs", "slices"), ("weeks", "sessions")):
            if option in given and by != way:
                name = option.replace("_", "-")
                raise InputError(f"is for --replicate-by {way}, and this is {by}", source=f"option --{name}")
        return True
    if given:
        raise InputError("needs --replicates N", source=f"option --{given[0].replace('_', '-')}")
    if dispatchers.strip() == FAMILIES:
        raise InputError(f"{FAMILIES} needs --replicates N", source="option --dispatchers")
    return False


def given_words() -> str:
    """Return the command as it was given, without what does not change what comes out."""
    from click.core import ParameterSource

    context = click.get_current_context()
    words = ["batdispatch", context.info_name or ""]
    for param in context.command.params:
        name = param.name or ""
        value = context.params.get(name)
        if name in _SILENT or context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        if isinstance(param, click.Argument):
            words.append(str(value))
        elif isinstance(param, click.Option) and param.is_flag:
            words += [param.opts[0]] if value else list(param.secondary_opts[:1])
        else:
            option = max(param.opts, key=len)
            for one in value if isinstance(value, tuple) else (value,):
                words += [option, "=".join(one) if isinstance(one, tuple) else str(one)]
    return shlex.join(words)


def tell_replication(came: Replication, *, as_json: bool) -> None:
    """Print what came of a comparison on replicates, and the path of the page.

    Raises:
        SimulationError: a run failed.
    """
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(came.answers), indent=2).decode())
    else:
        show(str(came))
        for name, why in came.facts.refused:
            show(f"Not compared, {name}: {why}.")
        click.echo(str(came.page))
    if came.failures:
        raise SimulationError(f"{len(came.failures)} runs failed")
