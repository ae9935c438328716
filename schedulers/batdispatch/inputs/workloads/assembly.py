"""From the jobs of a log to a workload: what all formats share.

Jobs are selected, repaired and checked against the machine, in columns; all that is done to them is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import compress, starmap
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from batdispatch.core.capacity.granularity import space_of
from batdispatch.core.errors import InputError
from batdispatch.core.hosts import hostset
from batdispatch.core.jobs.fields import write_dependencies
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.core.machine.machine import Machine
from batdispatch.core.numerals import number
from batdispatch.inputs.log_options import LogOptions
from batdispatch.inputs.workloads.columns import on_clock, submission_order
from batdispatch.inputs.workloads.log_columns import ARRAYS, BY_ID, LogBlock, LogColumns
from batdispatch.inputs.workloads.log_workload import LogProfiles, LogWorkload
from batdispatch.inputs.workloads.logs import LogInfo, LogJob, Overruns, Selection
from batdispatch.inputs.workloads.model import stem
from batdispatch.inputs.workloads.report import ImportReport, Sieve

#: Batsim refuses a delay of 0; logs count whole seconds, so a run time of 0 means less than one.
SHORTEST = 1.0
#: Longest time span accepted in a log, s: a thousand years.
LONGEST = 3.2e10


def blocks(found: Iterator[LogJob] | Iterator[LogBlock], report: ImportReport) -> Iterator[LogBlock]:
    """Yield what an importer yields in columns."""
    jobs: list[LogJob] = []
    for each in found:
        if isinstance(each, LogBlock):
            yield each
        else:
            jobs.append(each)
    if jobs:
        columns = _columns(jobs)
        yield LogBlock(columns, Sieve(report, columns.ids))


def _columns(jobs: list[LogJob]) -> LogColumns:
    """Return jobs in columns; those that ask for the same share it."""
    demands: dict[tuple[tuple[str, int], ...], Mapping[str, int]] = {}
    for job in jobs:
        if job.demand is not None:
            job.extra["demand"] = demands.setdefault(tuple(job.demand.items()), job.demand)
    arrays: dict[str, Any] = {name: np.array([getattr(job, name) for job in jobs], dtype=float) for name in ARRAYS}
    few: dict[str, Any] = {name: {job.id: value for job in jobs if (value := getattr(job, name))} for name in BY_ID}
    return LogColumns(ids=[job.id for job in jobs], tables=[job.extra for job in jobs], **arrays, **few)


def assemble(
    found: Iterator[LogJob] | Iterator[LogBlock],
    *,
    source: Path,
    info: LogInfo,
    report: ImportReport,
    options: LogOptions,
    selection: Selection,
    machine: Machine | None = None,
) -> LogWorkload:
    """Build a workload of the jobs of a log, of delay profiles shared by jobs of equal run time.

    Args:
        found: from an importer.
        source: the log.
        info: filled by the importer while `found` is read.
        report: what happens to each record is counted here.
        options: how jobs are made.
        selection: which are taken.
        machine: jobs that could never run on it are dropped and counted; its number of hosts becomes `nb_res`.

    Raises:
        InputError: the log is wrong, or no job is left.
    """
    names: set[str] = set()
    refusal = None if machine is None else _refusals(machine)

    def sifted(jobs: LogColumns, sieve: Sieve) -> LogColumns:
        _name_again(jobs, sieve, names, report)
        _check_times(jobs, sieve, source)
        _select(jobs, selection, sieve, source)
        _repair_runtimes(jobs, options, sieve)
        if machine is not None and refusal is not None:
            _leave_licences(jobs, machine, sieve)
            _leave_types(jobs, machine, sieve)
            _drop_misfits(jobs, refusal, sieve, source)
        return jobs.sifted(sieve)

    jobs = LogColumns.joined(starmap(sifted, blocks(found, report)))
    names.clear()
    if selection.dated and not info.dated:
        raise InputError("this log's clock has no dates, expected seconds or 30d, 2w, ...", source="option --select")
    _put_in_order(jobs, selection.first, report)
    if not jobs.ids:
        raise InputError(f"no job is left of {report.records:,} records:\n{report.as_text()}", source=str(source))
    info.peak, info.licences = _peak(jobs), _most_licences(jobs)
    began = float(jobs.submission[0])
    origin = 0.0 if options.keep_clock else began
    if began < 0:
        raise InputError("a job is submitted before time 0", source=str(source), place=f"job {jobs.ids[0]}")
    info.starts = jobs.start - origin
    info.nodes = {name: jobs.nodes[name] for name in jobs.ids if name in jobs.nodes}
    if info.dated:
        info.about.setdefault("UnixStartTime", 0)
    # A -0.0 would be written without its sign.
    jobs.submission = on_clock(jobs.submission - origin) + 0.0
    sieve = Sieve(report, jobs.ids)
    _repair_walltimes(jobs, options, sieve, info.overruns)
    _link(jobs, options, sieve)
    _check_requests(jobs, source)
    sieve.tell()
    about = {"origin": {"log": source.name, "sha256": info.digest, **info.about, "time_origin": number(origin)}}
    nb_res = _size(jobs, info, report, machine, source)
    report.kept = len(jobs)
    profiles = LogProfiles(np.unique(jobs.runtime))
    return LogWorkload(path=source, name=stem(source), nb_res=nb_res, about=about, jobs=jobs, profiles=profiles)


def _name_again(jobs: LogColumns, sieve: Sieve, names: set[str], report: ImportReport) -> None:
    """Give jobs whose id came before another one, and add all ids to those that came."""
    ids = list(compress(jobs.ids, sieve.kept))
    again = len(set(ids)) < len(ids) or not names.isdisjoint(ids)
    for row in np.flatnonzero(sieve.kept).tolist() if again else ():
        name = jobs.ids[row]
        if name in names:
            jobs.ids[row] = next(each for count in range(2, 10**9) if (each := f"{name}~{count}") not in names)
            report.change("with the number of an earlier job: named with ~2 and so on", name)
        names.add(jobs.ids[row])
    names.update(ids)


def _check_times(jobs: LogColumns, sieve: Sieve, source: Path) -> None:
    """Refuse times that no log has."""
    there = np.isfinite(jobs.submission) & (jobs.runtime < LONGEST) & (np.abs(jobs.submission) < LONGEST)
    for row in np.flatnonzero(sieve.kept & ~there).tolist():
        raise InputError("its times are beyond a thousand years", source=str(source), place=f"job {jobs.ids[row]}")


def _check_requests(jobs: LogColumns, source: Path) -> None:
    """Refuse what no workload may say; jobs of one table ask alike."""
    rows = {id(table): row for row, table in enumerate(jobs.tables)}
    for _ in jobs.requests(rows.values(), source):
        pass


def _select(jobs: LogColumns, selection: Selection, sieve: Sieve, source: Path) -> None:
    inside = (selection.start <= jobs.submission) & (jobs.submission < selection.end)
    sieve.drop("submitted outside the time span selected", ~inside)
    if selection.users:
        users = ("" if user is UNSET else str(user) for user in jobs.column("user"))
        theirs = np.fromiter((user in selection.users for user in users), dtype=np.bool_, count=len(jobs))
        sieve.drop("of users not selected", ~theirs)
    for row in np.flatnonzero(sieve.kept & (jobs.units > hostset.MAX_HOST_ID)).tolist():
        raise InputError(f"{int(jobs.units[row])} units", source=str(source), place=f"job {jobs.ids[row]}")


def _repair_runtimes(jobs: LogColumns, options: LogOptions, sieve: Sieve) -> None:
    none = jobs.runtime <= 0
    if options.zero_runtime == "drop":
        sieve.drop("ran for 0 s", none)
    sieve.change(f"ran for 0 s: taken as {SHORTEST:g} s, since a delay must be above 0", none)
    jobs.runtime = np.where(none, SHORTEST, jobs.runtime)


def _leave_licences(jobs: LogColumns, machine: Machine, sieve: Sieve) -> None:
    """Leave out licences that the machine does not state."""
    there = dict(machine.licences)
    asked = jobs.column("licences")
    left = [UNSET if each is UNSET else {name: each[name] for name in each if name in there} for each in asked]
    changed = np.array([one != other for one, other in zip(asked, left, strict=True)], dtype=np.bool_)
    sieve.change("ask for licences that the platform does not state: without these", changed)
    jobs.put("licences", {row: left[row] or UNSET for row in np.flatnonzero(changed).tolist()})


def _leave_types(jobs: LogColumns, machine: Machine, sieve: Sieve) -> None:
    """Leave out types of resources (``gpu_a100``) that the machine does not tell apart."""
    there = set(machine.resources)

    def known(amounts: Any) -> Any:
        if not isinstance(amounts, dict):
            return amounts
        return {one: each for one, each in amounts.items() if one in there or one.partition("_")[0] not in there}

    changed = np.zeros(len(jobs), dtype=np.bool_)
    for field in ("demand", "per_node"):
        asked = jobs.column(field)
        left = [known(each) for each in asked]
        other = np.array([one != each for one, each in zip(asked, left, strict=True)], dtype=np.bool_)
        jobs.put(field, {row: left[row] for row in np.flatnonzero(other).tolist()})
        changed |= other
    sieve.change("ask for a type of devices that the platform does not tell apart: any will do", changed)


def _refusals(machine: Machine) -> Callable[[Request], str]:
    """Return what says why the idle machine cannot run jobs of a request, or nothing."""
    space = space_of(machine)
    whole = space.whole()

    @cache
    def refusal(request: Request) -> str:
        try:
            if space.fits(whole, Job(id="", request=request)):
                return ""
            one = msgspec.structs.replace(request, units=1, nodes=None)
            if int(space.room(whole, Job(id="", request=one)).sum()):
                return "larger than the platform"
        except InputError:
            # It needs a resource that the machine does not have.
            pass
        needs = " ".join(f"{name}={amount}" for name, amount in request.stated)
        return f"need a unit of {needs}, which no host of the platform offers"

    return refusal


def _drop_misfits(jobs: LogColumns, refusal: Callable[[Request], str], sieve: Sieve, source: Path) -> None:
    """Drop jobs that could never run on the machine."""
    rows = np.flatnonzero(sieve.kept)
    refusals = np.full(len(jobs), "", dtype=object)
    refusals[rows] = list(map(refusal, jobs.requests(rows.tolist(), source)))
    for reason in dict.fromkeys(filter(None, refusals.tolist())):
        sieve.drop(reason, refusals == reason)


def _put_in_order(jobs: LogColumns, first: int | None, report: ImportReport) -> None:
    """Put jobs in Batsim's order of submission, and leave out all but the first ones."""
    order = submission_order(jobs.submission, jobs.ids)
    if order is not None:
        jobs.keep(order)
    if first is not None:
        sieve = Sieve(report, jobs.ids)
        sieve.drop(f"after the first {first:,} jobs", np.arange(len(jobs)) >= first)
        jobs.keep(sieve.tell())


def _link(jobs: LogColumns, options: LogOptions, sieve: Sieve) -> None:
    """Leave out what jobs await or continue that is not there, or never as it is awaited."""
    parents = {row: parent for row, parent in enumerate(jobs.column("parent")) if parent is not UNSET}
    if not parents and not jobs.dependencies:
        return
    there = set(jobs.ids)
    jobs.put("parent", {row: UNSET for row, parent in parents.items() if parent not in there})
    succeeds = (options.overrun == "extend") | (jobs.runtime <= jobs.walltime)
    succeed = {jobs.ids[row] for row in np.flatnonzero(succeeds).tolist()}
    less = np.zeros(len(jobs), dtype=np.bool_)
    for row, name in enumerate(jobs.ids):
        named = jobs.dependencies.get(name, ())
        left = [
            one for one in named if one.kind == "singleton" or one.job in (succeed if one.kind == "afterok" else there)
        ]
        less[row] = len(left) < len(named)
        if left:
            jobs.put("dependencies", {row: write_dependencies(tuple(left))})
    sieve.change("depend on a job that is left out or killed at its walltime: without it", less)


def _repair_walltimes(jobs: LogColumns, options: LogOptions, sieve: Sieve, overruns: Overruns) -> None:
    # Batsim kills a job that ends in the moment of its walltime, so the two notes add up to the jobs that are killed.
    sieve.change("ran exactly as long as their walltime: they count as killed at it", jobs.walltime == jobs.runtime)
    over = jobs.walltime < jobs.runtime
    if options.overrun == "extend":
        sieve.change("ran longer than their walltime: walltime raised to 1 s above the run time", over)
        jobs.walltime[over] = np.floor(jobs.runtime[over]) + 1.0
    else:
        sieve.change("ran longer than their walltime: they will be killed at it", over)
        seconds = jobs.runtime - jobs.walltime
        rows = np.flatnonzero(over).tolist()
        overruns.seconds += [float(seconds[row]) for row in rows if jobs.ids[row] not in jobs.killed]


def _size(jobs: LogColumns, info: LogInfo, report: ImportReport, machine: Machine | None, source: Path) -> int:
    """Return the number of hosts of the machine."""
    if machine is not None:
        return machine.size
    if info.hosts is None:
        size = int(jobs.units.max())
        report.notes.append(f"the log does not say how large the machine is: nb_res is the largest job, {size}")
        return size
    sieve, larger = Sieve(report, jobs.ids), jobs.units > info.hosts
    rows = np.flatnonzero(larger)
    larger[rows] = [request.units_are_nodes for request in jobs.requests(rows.tolist(), source)]
    sieve.change(f"larger than the machine of {info.hosts:,} that the log states", larger)
    sieve.tell()
    return info.hosts


#: Most resources of which is told how much was held: a column each, and a hostile log names one in each record.
_TRACKED = 64
#: Name of the number of units among the amounts that jobs held at a time.
UNITS = "units"


def _peak(jobs: LogColumns) -> dict[str, int]:
    """Return the most that jobs held at a time, by the log's own starts; who ends makes room for who starts."""
    if np.isnan(jobs.start).any():
        return {}
    held = {UNITS: jobs.units}
    for row, fields in enumerate(jobs.tables):
        if "demand" in fields:
            for name, amount in _holds(int(jobs.units[row]), fields).items():
                if name not in held and len(held) < _TRACKED:
                    held[name] = np.zeros(len(jobs))
                if name in held:
                    held[name][row] = amount
    return most_at_a_time(jobs.start, jobs.start + jobs.runtime, held)


def most_at_a_time(
    starts: NDArray[np.float64], ends: NDArray[np.float64], held: Mapping[str, NDArray[Any]]
) -> dict[str, int]:
    """Return the most that jobs with known starts held at a time of each of what `held` says, numbers [job]."""
    # A stable sort keeps ends before starts.
    order = np.argsort(np.concatenate([ends, starts]), kind="stable")
    return {name: int(np.cumsum(np.concatenate([-each, each])[order]).max()) for name, each in held.items()}


def _most_licences(jobs: LogColumns) -> dict[str, int]:
    """Return the most of each licence that jobs held at a time, or, where starts are unknown, that one of them did."""
    column = jobs.column("licences")
    rows = [row for row, asked in enumerate(column) if asked is not UNSET]
    names = dict.fromkeys(name for row in rows for name in column[row])
    held = {name: np.array([float(column[row].get(name, 0)) for row in rows]) for name in names}
    if np.isnan(jobs.start[rows]).any():
        return {name: int(each.max()) for name, each in held.items()}
    return most_at_a_time(jobs.start[rows], jobs.start[rows] + jobs.runtime[rows], held)


def _holds(units: int, fields: Mapping[str, Any]) -> dict[str, int]:
    """Return what a job holds of each resource, on all its hosts together."""
    amounts: dict[str, int] = {name: amount * units for name, amount in fields["demand"].items()}
    nodes = fields.get("nodes", 1)
    for name, amount in fields.get("per_node", {}).items():
        amounts[name] = amounts.get(name, 0) + amount * (nodes if isinstance(nodes, int) else nodes[0])
    return amounts
