"""Command-line options that say how a log is read, shared by the commands that read one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from batdispatch.cli.groups import LOGS, Choice, option
from batdispatch.cli.telling import show

if TYPE_CHECKING:
    from batdispatch.inputs.workloads import Workload

F = TypeVar("F", bound=Callable[..., Any])

#: Names of the options as parameters.
NAMES = (
    "kind",
    "columns",
    "time_zone",
    "units",
    "processors_per_host",
    "size",
    "overrun",
    "zero_runtime",
    "memory",
    "submission",
    "think_times",
    "keep_clock",
    "select",
)
#: The keys of `inputs.workloads.importing.FORMATS`, said here so that help needs no import.
FORMATS = ("swf", "kit", "eurora", "sacct", "table")
_log_option = functools.partial(option, section=LOGS)
_OPTIONS = (
    _log_option(
        "--format",
        "kind",
        type=Choice(FORMATS),
        help="Read the log in this format. By default, its name or its content tells.",
    ),
    _log_option(
        "--columns",
        metavar="FIELD=COLUMN[:UNIT],...",
        default="",
        help="Read a table (CSV), in which these columns mean these fields: submit=SUBMITTED,runtime=ELAPSED:min. A "
        ".toml file can say the same.",
    ),
    _log_option(
        "--time-zone",
        metavar="NAME",
        default="",
        help="Read times that name no time zone in this one, such as Europe/Berlin (sacct and tables). By default, "
        "they are read as they stand.",
    ),
    _log_option(
        "--units",
        type=Choice(["hosts", "cores"]),
        help="Count jobs in whole hosts, or in cores (and what else the log says) on hosts that jobs share. The "
        "default is hosts for SWF and for tables without cores, and cores for the others.",
    ),
    _log_option(
        "--processors-per-host",
        metavar="N",
        type=int,
        default=1,
        show_default=True,
        help="Make whole hosts of N processors each. A job's last host may be used in part.",
    ),
    _log_option(
        "--size",
        type=Choice(["requested", "allocated"]),
        default="requested",
        show_default=True,
        help="Take this processor count as a job's size. Where it is unknown, the other one is taken.",
    ),
    _log_option(
        "--overrun",
        type=Choice(["kill", "extend"]),
        default="kill",
        show_default=True,
        help="Choose what becomes of jobs that ran longer than their walltime: they are killed at it, or their "
        "walltime is raised above the run time.",
    ),
    _log_option(
        "--zero-runtime",
        type=Choice(["keep", "drop"]),
        default="keep",
        show_default=True,
        help="Keep jobs that ran for 0 s, which then take 1 s, or drop them.",
    ),
    _log_option(
        "--memory",
        type=Choice(["none", "requested", "used"]),
        help="Let jobs demand the log's memory, in MiB (in SWF that of each core, which needs --units cores). The "
        "default is none for SWF, and requested for the others.",
    ),
    _log_option(
        "--submission",
        type=Choice(["submit", "eligible"]),
        default="submit",
        show_default=True,
        help="Let a job come when it was submitted, or when it became eligible: once no --begin, hold or dependency "
        "kept it back (sacct and tables).",
    ),
    _log_option(
        "--think-times",
        is_flag=True,
        help="Let a job that names a preceding job come only when that one has ended in the simulation, and its think "
        "time has passed (SWF).",
    ),
    _log_option("--keep-clock", is_flag=True, help="Keep the log's clock instead of starting at 0 s."),
    _log_option(
        "--select",
        metavar="KEY=VALUE",
        multiple=True,
        help="Take a part of the log: first=N jobs; from=T and to=T for jobs submitted in [from, to) of the log's "
        "clock (in s, or 12h, 30d, 2w, or a date such as 2026-03-01); users=3,17. May be given several times.",
    ),
)


def log_options(command: F) -> F:
    """Add the options in `NAMES` to a command."""
    for add in reversed(_OPTIONS):
        command = add(command)
    return command


def source_option(help: str) -> Callable[[F], F]:
    """Return ``--from``, which the command takes as `log`: a log, or a workload (see `read_source`)."""
    return option("--from", "log", metavar="LOG|W.json", required=True, type=click.Path(path_type=Path), help=help)


def read_source(log: Path, *, quiet: bool) -> tuple[Workload, dict[str, Any]]:
    """Read a workload, or a log with the default options; also return an account of the latter, and print it.

    Args:
        log: its path.
        quiet: print nothing.

    Raises:
        InputError: it is wrong.
    """
    from batdispatch.inputs.workloads.importing import import_log, is_workload
    from batdispatch.inputs.workloads.reader import read_workload

    if is_workload(log):
        return read_workload(log), {}
    workload, report = import_log(log)
    if not quiet:
        show(report.as_text())
    return workload, {"imported": report.as_dict()}


def refuse_log_options(*more: str) -> None:
    """Refuse options of a log that were given with a Batsim workload.

    Args:
        more: names of further parameters that are only for logs.

    Raises:
        InputError: one of `NAMES` was given on the command line.
    """
    from click.core import ParameterSource

    from batdispatch.core.errors import InputError

    context = click.get_current_context()
    for name in (*NAMES, *more):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = "format" if name == "kind" else name.replace("_", "-")
            raise InputError("is for logs, and this is a Batsim workload", source=f"option --{option}")
