"""Logs that commands read: their options, and what is said of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from batdispatch.cli.groups import option
from batdispatch.cli.messages import show
from batdispatch.cli.options import options, refuse
from batdispatch.core.errors import InputError
from batdispatch.inputs.log_options import ONLY_LOGS, LogMachine, LogReading

if TYPE_CHECKING:
    from batdispatch.core.machine.machine import Machine
    from batdispatch.inputs.workloads import Workload

F = TypeVar("F", bound=Callable[..., Any])

#: Gives a command the options that say how a log is read.
log_options = options(LogReading, first="kind")


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
    from batdispatch.inputs.workloads import read_workload
    from batdispatch.inputs.workloads.importers import is_workload, read_log

    if is_workload(log):
        return read_workload(log), {}
    workload, report, _ = read_log(log)
    if not quiet:
        show(report.as_text())
    return workload, {"imported": report.as_dict()}


def machine_of(on: LogMachine) -> Machine | None:
    """Return the machine beside a log, None without a platform.

    Raises:
        InputError: the platform is wrong, or there is a master host without a platform.
    """
    from batdispatch.inputs.platforms import read_platform

    if on.platform is not None:
        return read_platform(on.platform, master=on.master_host).machine
    if on.master_host is not None:
        raise InputError("needs --platform", source="option --master-host")
    return None


def refuse_log_options(*more: str) -> None:
    """Refuse options of a log that were given with a Batsim workload.

    Args:
        more: names of further parameters that are only for logs.

    Raises:
        InputError: one of them was given on the command line.
    """
    refuse("is for logs, and this is a Batsim workload", (*ONLY_LOGS, *more))
