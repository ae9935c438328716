"""Command-line options that say how a log is read, shared by the commands that read one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from batdispatch.cli.groups import LOGS, Choice, option
from batdispatch.cli.telling import note, show, warn

if TYPE_CHECKING:
    from batdispatch.core.machine.machine import Machine
    from batdispatch.inputs.workloads import Workload
    from batdispatch.inputs.workloads.importing import Imported
    from batdispatch.runs.inputs import Inputs

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


def import_with(
    log: str, given: dict[str, Any], *, machine: Machine | None = None, follow: Callable[..., None] | None = None
) -> Imported:
    """Read a log as the options say.

    Args:
        log: its path.
        given: values of the options in `NAMES`.
        machine: what it is to run on; jobs that cannot are dropped and counted.
        follow: told of the progress: what is done, how far it is, how far it goes.

    Raises:
        InputError: the log or an option is wrong.
    """
    from batdispatch.core.errors import InputError
    from batdispatch.inputs.workloads.importing import read_log
    from batdispatch.inputs.workloads.logs import LogOptions
    from batdispatch.inputs.workloads.selecting import parse_selection

    processors = given["processors_per_host"]
    if not 1 <= processors <= 1_000_000:
        raise InputError(f"{processors}, expected 1 to 1,000,000 processors", source="option --processors-per-host")
    settings = {name: given[name] for name in NAMES if name not in ("kind", "select")}
    return read_log(
        log,
        kind=given["kind"],
        options=LogOptions(**settings),
        selection=parse_selection(given["select"], zone=given["time_zone"]),
        machine=machine,
        progress=None if follow is None else functools.partial(follow, f"reading {Path(log).name}"),
    )


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


def warn_of_overruns(imported: Imported) -> None:
    """Propose ``--overrun extend`` where many jobs would be killed for some seconds."""
    proposal = imported.info.overruns.proposal(len(imported.workload.jobs))
    if proposal:
        warn(proposal)


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


class LogInputs:
    """Makes the inputs of a comparison that were not given, and says so."""

    def __init__(self, log: str | None, given: dict[str, Any], master: str | None, follow: Callable[..., None]) -> None:
        """Set up.

        Args:
            log: its path; None: the workload was given.
            given: values of the options in `NAMES`.
            master: the platform's host that carries Batsim.
            follow: told of the progress, as `import_with` does.
        """
        self._log, self._given, self._master, self._follow = log, given, master, follow

    def prepare(self, inputs: Inputs, platform: str | None) -> None:
        """Write what is missing; None as `platform` stands for one of the right size.

        Raises:
            InputError: something is wrong with the log, an option or the platform.
        """
        from batdispatch.runs.inputs import prepare

        read = None if self._log is None else self._read
        imported = prepare(inputs, platform=platform, read=read, master=self._master, tell=note)
        if imported is not None:
            note(f"workload {inputs.workload}: {imported.report.as_text()}")
            warn_of_overruns(imported)

    def _read(self, platform: Path | None) -> Imported:
        from batdispatch.inputs.platforms import read_platform

        machine = None if platform is None else read_platform(platform, master=self._master).machine
        assert self._log is not None
        return import_with(self._log, self._given, machine=machine, follow=self._follow)
