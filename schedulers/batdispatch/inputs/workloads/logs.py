"""From the records of a log to a workload: what every importer shares.

An importer is a generator of `LogJob` in one file; `assemble` selects, repairs, checks against the machine, counts all
it does, and builds the workload.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from batdispatch.core.capacity.granularity import space_of
from batdispatch.core.errors import InputError
from batdispatch.core.hosts import hostset
from batdispatch.core.jobs.fields import read_request, write_dependencies
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Dependency, Request
from batdispatch.core.machine.machine import Machine
from batdispatch.inputs.log_options import LogOptions
from batdispatch.inputs.workloads.model import Workload, stem
from batdispatch.inputs.workloads.node_use import NodeUse
from batdispatch.inputs.workloads.overruns import Overruns
from batdispatch.inputs.workloads.report import ImportReport
from batdispatch.inputs.workloads.writer import number

#: Batsim refuses a delay of 0; logs count whole seconds, so a run time of 0 means less than one.
SHORTEST = 1.0
#: Longest time span accepted in a log, s: a thousand years.
LONGEST = 3.2e10


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


#: An importer: path, options, report and info to fill, progress -> the jobs that ran.
Importer = Callable[[Path, LogOptions, ImportReport, LogInfo, Callable[[int, int], None] | None], Iterator[LogJob]]


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


def assemble(
    jobs: Iterable[LogJob],
    *,
    source: Path,
    info: LogInfo,
    report: ImportReport,
    options: LogOptions,
    selection: Selection,
    machine: Machine | None = None,
) -> Workload:
    """Build a workload of the jobs of a log, of delay profiles shared by jobs of equal run time.

    Args:
        jobs: from an importer.
        source: the log.
        info: filled by the importer while `jobs` is read.
        report: what happens to each record is counted here.
        options: how jobs are made.
        selection: which are taken.
        machine: jobs that could never run on it are dropped and counted; its number of hosts becomes `nb_res`.

    Raises:
        InputError: the log is wrong, or no job is left.
    """
    taken: list[tuple[LogJob, float]] = []
    seen: set[str] = set()
    fits = _Fits(machine)
    for job in jobs:
        if job.id in seen:
            raise InputError("there are two jobs of this id", source=str(source), place=f"job {job.id}")
        seen.add(job.id)
        if not (math.isfinite(job.submission) and job.runtime < LONGEST and abs(job.submission) < LONGEST):
            raise InputError("its times are beyond a thousand years", source=str(source), place=f"job {job.id}")
        if not selection.start <= job.submission < selection.end:
            report.drop("submitted outside the time span selected", job.id)
        elif selection.users and str(job.extra.get("user", "")) not in selection.users:
            report.drop("of users not selected", job.id)
        elif job.units > hostset.MAX_HOST_ID:
            raise InputError(f"{job.units} units", source=str(source), place=f"job {job.id}")
        elif (runtime := _runtime(job, options, report)) is not None and fits.check(
            _licensed(job, machine, report), report
        ):
            taken.append((job, runtime))
    seen.clear()
    if selection.dated and not info.dated:
        raise InputError("this log's clock has no dates, expected seconds or 30d, 2w, ...", source="option --select")
    taken.sort(key=lambda pair: (pair[0].submission, pair[0].id))
    if selection.first is not None:
        for job, _ in taken[selection.first :]:
            report.drop(f"after the first {selection.first:,} jobs", job.id)
        del taken[selection.first :]
    if not taken:
        raise InputError(f"no job is left of {report.records:,} records:\n{report.as_text()}", source=str(source))
    info.peak, info.licences = _peak(taken), _most_licences(taken)
    origin = 0.0 if options.keep_clock else taken[0][0].submission
    if origin < 0 or taken[0][0].submission < 0:
        raise InputError("a job is submitted before time 0", source=str(source), place=f"job {taken[0][0].id}")
    info.starts = np.array([job.start for job, _ in taken]) - origin
    info.nodes = {job.id: job.nodes for job, _ in taken if job.nodes}
    if info.dated:
        info.about.setdefault("UnixStartTime", 0)
    workload = _build(taken, origin, options, report, info.overruns)
    workload.path, workload.name = source, stem(source)
    workload.nb_res = machine.size if machine is not None else info.hosts
    if workload.nb_res is None:
        workload.nb_res = max(job.units for job in workload.jobs)
        report.notes.append(
            f"the log does not say how large the machine is: nb_res is the largest job, {workload.nb_res}"
        )
    elif machine is None:
        for entry in workload.jobs:
            if entry.units > workload.nb_res and entry.request.units_are_nodes:
                report.change(f"larger than the machine of {workload.nb_res:,} that the log states", entry.id)
    workload.about = {
        "origin": {"log": source.name, "sha256": info.digest, **info.about, "time_origin": number(origin)}
    }
    report.kept = len(workload.jobs)
    return workload


#: Most resources of which is told how much was held: a column each, and a hostile log names one in each record.
_TRACKED = 64
#: Name of the number of units among the amounts that jobs held at a time.
UNITS = "units"


def _peak(taken: list[tuple[LogJob, float]]) -> dict[str, int]:
    """Return the most that jobs held at a time, by the log's own starts; who ends makes room for who starts."""
    starts = np.array([job.start for job, _ in taken])
    if np.isnan(starts).any():
        return {}
    held: dict[str, NDArray[np.float64]] = {UNITS: np.array([float(job.units) for job, _ in taken])}
    for row, (job, _) in enumerate(taken):
        if job.demand is not None:
            for name, amount in _holds(job).items():
                if name not in held and len(held) < _TRACKED:
                    held[name] = np.zeros(len(taken))
                if name in held:
                    held[name][row] = amount
    return _together(starts, taken, held)


def _together(
    starts: NDArray[np.float64], taken: list[tuple[LogJob, float]], held: Mapping[str, NDArray[np.float64]]
) -> dict[str, int]:
    """Return the most that jobs with known starts held at a time of each of what `held` says, float64 [job]."""
    # A stable sort keeps ends before starts.
    order = np.argsort(np.concatenate([starts + [runtime for _, runtime in taken], starts]), kind="stable")
    return {name: int(np.cumsum(np.concatenate([-each, each])[order]).max()) for name, each in held.items()}


def _most_licences(taken: list[tuple[LogJob, float]]) -> dict[str, int]:
    """Return the most of each licence that jobs held at a time, or, where starts are unknown, that one of them did."""
    jobs = [(job, runtime) for job, runtime in taken if "licences" in job.extra]
    starts = np.array([job.start for job, _ in jobs])
    names = dict.fromkeys(name for job, _ in jobs for name in job.extra["licences"])
    held = {name: np.array([float(job.extra["licences"].get(name, 0)) for job, _ in jobs]) for name in names}
    if np.isnan(starts).any():
        return {name: int(each.max()) for name, each in held.items()}
    return _together(starts, jobs, held)


def _licensed(job: LogJob, machine: Machine | None, report: ImportReport) -> LogJob:
    """Return a job without licences that its machine does not state."""
    asked = job.extra.get("licences", {})
    there = asked if machine is None else dict(machine.licences)
    if any(name not in there for name in asked):
        report.change("ask for licences that the platform does not state: without these", job.id)
        job.extra["licences"] = {name: amount for name, amount in asked.items() if name in there}
        if not job.extra["licences"]:
            del job.extra["licences"]
    return job


def _holds(job: LogJob) -> dict[str, int]:
    """Return what a job holds of each resource, on all its hosts together."""
    amounts: dict[str, int] = {}
    for name, amount in (job.demand or {}).items():
        amounts[name] = amount * job.units
    nodes = job.extra.get("nodes", 1)
    for name, amount in job.extra.get("per_node", {}).items():
        amounts[name] = amounts.get(name, 0) + amount * (nodes if isinstance(nodes, int) else nodes[0])
    return amounts


def _runtime(job: LogJob, options: LogOptions, report: ImportReport) -> float | None:
    if job.runtime > 0:
        return job.runtime
    if options.zero_runtime == "drop":
        report.drop("ran for 0 s", job.id)
        return None
    report.change(f"ran for 0 s: taken as {SHORTEST:g} s, since a delay must be above 0", job.id)
    return SHORTEST


class _Fits:
    """Whether a job could ever run on a machine; jobs that ask alike are looked at once."""

    def __init__(self, machine: Machine | None) -> None:
        self._machine = machine
        self._space = None if machine is None else space_of(machine)
        self._known: dict[Request, str] = {}

    def _refusal(self, request: Request) -> str:
        """Return why the idle machine cannot run such a job, or nothing."""
        assert self._space is not None
        whole = self._space.whole()
        try:
            if self._space.fits(whole, Job(id="", request=request)):
                return ""
            one = msgspec.structs.replace(request, units=1, nodes=None)
            if int(self._space.room(whole, Job(id="", request=one)).sum()):
                return "larger than the platform"
        except InputError:
            # It needs a resource that the machine does not have.
            pass
        needs = " ".join(f"{name}={amount}" for name, amount in request.stated)
        return f"need a unit of {needs}, which no host of the platform offers"

    def check(self, job: LogJob, report: ImportReport) -> bool:
        """Return whether it fits; one that does not is dropped."""
        if self._space is None:
            return True
        request = read_request(job.units, _fields(job))
        if request not in self._known:
            self._known[request] = self._refusal(request)
        if self._known[request]:
            report.drop(self._known[request], job.id)
        return not self._known[request]


def _fields(job: LogJob) -> dict[str, Any]:
    return job.extra if job.demand is None else {**job.extra, "demand": job.demand}


def _succeeding(taken: list[tuple[LogJob, float]], options: LogOptions) -> set[str]:
    """Return the ids of the jobs taken that nothing kills; none if nobody waits for any."""
    if not any(job.dependencies for job, _ in taken):
        return set()
    return {job.id for job, runtime in taken if options.overrun == "extend" or runtime <= job.walltime}


def _build(
    taken: list[tuple[LogJob, float]], origin: float, options: LogOptions, report: ImportReport, overruns: Overruns
) -> Workload:
    profiles: dict[str, dict[str, Any]] = {}
    demands: dict[tuple[tuple[str, int], ...], Mapping[str, int]] = {}
    users: dict[str, str] = {}
    names: dict[float, str] = {}
    jobs: list[Job] = []
    succeed = _succeeding(taken, options)
    linked = any(job.dependencies or "parent" in job.extra for job, _ in taken)
    there = {job.id for job, _ in taken} if linked else succeed
    # A log of a million jobs takes gigabytes as records and as jobs at the same time.
    taken.reverse()
    while taken:
        job, runtime = taken.pop()
        name = names.get(runtime)
        if name is None:
            name = names[runtime] = profile_name(runtime)
            profiles[name] = {"type": "delay", "delay": number(runtime)}
        walltime = job.walltime
        if walltime < runtime:
            if options.overrun == "extend":
                report.change("ran longer than their walltime: walltime raised to 1 s above the run time", job.id)
                walltime = math.floor(runtime) + 1.0
            else:
                report.change("ran longer than their walltime: they will be killed at it", job.id)
                if not job.killed:
                    overruns.seconds.append(runtime - walltime)
        extra = job.extra
        user = str(extra.get("user", ""))
        if job.demand is not None:
            extra["demand"] = demands.setdefault(tuple(job.demand.items()), job.demand)
        if job.dependencies:
            awaited = tuple(
                one
                for one in job.dependencies
                if one.kind == "singleton" or one.job in (succeed if one.kind == "afterok" else there)
            )
            if len(awaited) < len(job.dependencies):
                report.change("depend on a job that is left out or killed at its walltime: without it", job.id)
            if awaited:
                extra["dependencies"] = write_dependencies(awaited)
        if extra.get("parent", "") not in there:
            extra.pop("parent", None)
        jobs.append(
            Job(
                id=job.id,
                request=read_request(job.units, extra),
                # Batsim's messages count microseconds.
                submission=round(job.submission - origin, 6),
                walltime=walltime,
                profile=name,
                user=users.setdefault(user, user),
                parent=extra.get("parent", ""),
                extra=extra,
            )
        )
    return Workload(
        path=Path(), name="", jobs=jobs, profiles=dict(sorted(profiles.items(), key=lambda p: p[1]["delay"]))
    )
