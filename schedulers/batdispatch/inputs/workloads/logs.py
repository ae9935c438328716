"""What an importer of logs is: a function in one file that yields what a log says of each job that ran."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.request import Dependency
from batdispatch.core.numerals import number
from batdispatch.inputs.log_options import LogOptions
from batdispatch.inputs.workloads.log_columns import LogBlock
from batdispatch.inputs.workloads.node_use import NodeUse
from batdispatch.inputs.workloads.report import ImportReport

#: An overrun up to this long, s, says more of how a site rounds and ends jobs than of the job.
SLIGHT = 120.0
#: Share of a log's jobs from which on killing them would change the workload.
MANY = 0.01


class LogJob(msgspec.Struct, kw_only=True, gc=False):
    """One job that ran, as a log tells it."""

    id: str
    #: Seconds on the log's own clock.
    submission: float
    #: Seconds from 0.
    runtime: float
    #: When it started, seconds on the log's own clock; nan: unknown.
    start: float = math.nan
    #: Seconds; infinite when no time was asked for.
    walltime: float = math.inf
    units: int
    demand: Mapping[str, int] | None = None
    #: The job's fields beyond Batsim's; `user` and what it asks for beyond `demand` are read from here.
    extra: dict[str, Any] = {}
    #: Whether the log says that its time limit ended it.
    killed: bool = False
    #: Names of its nodes, as Slurm writes them; empty: not told.
    nodes: str = ""
    #: What other jobs of the log had to do before this one.
    dependencies: tuple[Dependency, ...] = ()


class Overruns(msgspec.Struct):
    """By how much each job that is killed at its walltime had run over it, s."""

    seconds: list[float] = []

    def proposal(self, jobs: int) -> str:
        """Return a sentence that proposes ``--overrun extend``, or nothing.

        It is proposed where at least 1 % of the jobs ran over, and half of these by at most two minutes: the log's
        walltimes are rounded, or its site lets jobs go on for a while, so the jobs ended by themselves.

        Args:
            jobs: how many jobs the workload has.
        """
        count = len(self.seconds)
        if count < 1 or count < MANY * jobs:
            return ""
        median = float(np.median(self.seconds))
        if median > SLIGHT:
            return ""
        return (
            f"{count:,} of {jobs:,} jobs ({count / jobs:.1%}) ran longer than their walltime, half of these by at most "
            f"{median:,.0f} s. Simulated, they die at it. If they ended by themselves, --overrun extend lets them"
        )


class LogInfo(msgspec.Struct):
    """What an importer finds out about the log as a whole while it reads."""

    digest: str = ""
    #: Hosts of the machine, in the units chosen; None when the log does not say.
    hosts: int | None = None
    #: What a host offers at least of each resource, where the log tells; empty: it does not.
    capacity: dict[str, int] = {}
    #: Most units, and most of each resource, that jobs held at a time; empty: the log does not tell when jobs started.
    peak: dict[str, int] = {}
    #: Most licences that jobs held at a time, where the log tells who held any.
    licences: dict[str, int] = {}
    #: How many jobs ran in each partition of the machine; empty: its partitions, if it had any, are not told.
    partitions: dict[str, int] = {}
    #: What each node was used for, where the log tells.
    use: NodeUse = msgspec.field(default_factory=NodeUse)
    overruns: Overruns = msgspec.field(default_factory=Overruns)
    #: When each job of the workload started in the log, s on the workload's clock, float64 [job]; nan: unknown.
    starts: NDArray[np.float64] = msgspec.field(default_factory=lambda: np.zeros(0))
    #: Names of the nodes of each job of the workload, by its id, as Slurm writes them; jobs may be missing.
    nodes: dict[str, str] = {}
    #: Ids of the jobs of which the log tells that they had no limit; of others without one, it does not tell.
    unlimited: set[str] = set()
    #: Ids of the jobs that could not run as soon as they came, as the log tells: they were held, or not to begin yet.
    held: set[str] = set()
    #: How `hosts` is known, in words.
    why: str = ""
    #: Whether times are seconds since 1970: ``UnixStartTime`` of `about`, as SWF has it, is 0.
    dated: bool = False
    about: dict[str, Any] = {}


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """Which jobs of a log to take. Times are seconds on the log's clock."""

    #: Only so many jobs, in order of submission.
    first: int | None = None
    #: Submitted at or after this time.
    start: float = -math.inf
    #: Submitted before this time.
    end: float = math.inf
    #: Only these users; empty: all.
    users: frozenset[str] = frozenset()
    #: Whether a time was given as a date, so that the log has to have dates.
    dated: bool = False


#: An importer: path, options, report and info to fill, progress -> the jobs that ran, or blocks of them in columns.
Importer = Callable[
    [Path, LogOptions, ImportReport, LogInfo, Callable[[int, int], None] | None],
    Iterator[LogJob] | Iterator[LogBlock],
]


class KnownMachine(NamedTuple):
    """The one machine that logs of a format are of."""

    name: str
    #: Returns its platform file.
    platform: Callable[[], bytes]


class LogFormat(NamedTuple):
    """A format of logs, as a package announces it by an entry point of the group ``batdispatch.logs``."""

    read: Importer
    #: What names of such files end in, without ``.gz`` and ``.xz``.
    endings: tuple[str, ...] = ()
    #: Whether the first line of a file, without blanks around it, looks like this format; None: no line does.
    suits: Callable[[bytes], bool] | None = None
    #: Whether a file that begins so can be of no other format, whatever its name says; None: its name may say more.
    holds: Callable[[bytes], bool] | None = None
    #: Says what a file is that begins so, is like this format and is not read, and what to do instead; empty: nothing.
    stranger: Callable[[bytes], str] | None = None
    #: Whether a folder may be such a log.
    is_folder: bool = False
    #: The machine that such logs are of; None: any.
    machine: KnownMachine | None = None


def profile_name(delay: float) -> str:
    """Return the name of a delay profile: ``d`` and the seconds."""
    return f"d{number(delay)}"


def check_processors_per_host(options: LogOptions, units: str) -> None:
    """Refuse a combination that has no meaning.

    Raises:
        InputError: whole hosts are counted and processors are the unit at the same time.
    """
    if units == "cores" and options.processors_per_host != 1:
        raise InputError(
            "makes whole hosts, so it does not go with --units cores", source="option --processors-per-host"
        )
