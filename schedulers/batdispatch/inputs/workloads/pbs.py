"""Accounts of PBS Pro, OpenPBS and Torque: ``MM/DD/YYYY hh:mm:ss;E;12.server;user=ada ...``, a line an event.

``Q`` a job is queued, ``S`` it starts, ``E`` it ends, ``R`` it is started again, ``D`` it is deleted, ``A`` the server
gives it up. A job is made of its last ``E``, which repeats all that was said before.

What a job got stands in ``exec_vnode`` (``(n1:ncpus=4:ngpus=1)+(n2:ncpus=4)``) and ``exec_host``, whose parts are
``n1/0*4`` (four cores) in PBS, and ``n1/0+n1/1`` or ``n1/0-3`` (cores by number) in Torque. What it asked for stands in
``Resource_List``: ``select=2:ncpus=4``, ``nodes=2:ppn=4``, ``ncpus``, ``mem``, ``walltime``.

References:
    Altair, PBS Professional Reference Guide, "Accounting Log"; Adaptive Computing, Torque Administrator Guide,
    "Accounting records".
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.request import Dependency
from batdispatch.core.numerals import number_of
from batdispatch.inputs.files import Source
from batdispatch.inputs.log_options import LogOptions
from batdispatch.inputs.workloads.bad_records import BadRecords
from batdispatch.inputs.workloads.logs import LogFormat, LogInfo, LogJob, check_processors_per_host
from batdispatch.inputs.workloads.moments import read_duration
from batdispatch.inputs.workloads.node_use import Stay, use_of
from batdispatch.inputs.workloads.report import ImportReport
from batdispatch.inputs.workloads.strangers import is_cobalt, stranger
from batdispatch.inputs.workloads.totals import Totals, demand_of

_LINE = re.compile(r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d;([A-Za-z]+);([^;]*);(.*)", re.ASCII | re.DOTALL)
_BEGIN = re.compile(rb"\s*\d\d/\d\d/\d{4} \d\d:\d\d:\d\d;[A-Za-z]{1,6};[^;\n]{0,200};")
_FIELD = re.compile(r'(?:^|\s)([A-Za-z][\w.\-]*)=("[^"]*"|)', re.ASCII)
#: ``12.server``, ``12[3].server``, ``12-3.server`` (older Torque), ``12[].server`` (a whole array).
_ID = re.compile(r"(\d{1,15})(?:\[(\d{0,15})\]|-(\d{1,15}))?(?:\..*)?", re.ASCII)
#: Kinds of lines that are of no job: licences, reservations, the server itself, whatever is not listed.
_OF_JOBS = frozenset("QSERDA")
_SLOTS = re.compile(r"([^/]+)/(\d[\d,\-]*)(?:\*(\d{1,9}))?", re.ASCII)
_AMOUNT = re.compile(r"(\d{1,15}(?:\.\d{1,6})?)([kmgtp]?)([bw]?)", re.ASCII | re.IGNORECASE)
_BYTES = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "p": 2**50}
_AFTER = re.compile(r"(after|afterok|afterany):(.+)", re.ASCII)
#: Exit statuses of jobs that were ended at their time limit.
_AT_THE_LIMIT = frozenset({"-11", "-29"})
_MOST = 2**45


class _End(msgspec.Struct, gc=False):
    """What an ``E`` line says of a job."""

    name: str
    line: int
    submit: float
    eligible: float
    start: float
    runtime: float
    walltime: float
    totals: Totals
    stay: Stay | None
    killed: bool
    depend: str
    extra: dict[str, Any]


def is_pbs(head: bytes) -> bool:
    """Return whether a file that begins so holds such accounts."""
    return _BEGIN.match(head) is not None and not is_cobalt(head)


def read_pbs(
    path: Path,
    options: LogOptions,
    report: ImportReport,
    info: LogInfo,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[LogJob]:
    """Yield the jobs of an account that ran and have ended.

    Raises:
        InputError: too many lines cannot be read, or an option means nothing here.
    """
    if options.memory == "used":
        raise InputError("is not read of PBS, expected none or requested", source="option --memory")
    units: Literal["hosts", "cores"] = options.units or "cores"
    check_processors_per_host(options, units)
    bad = BadRecords(str(path), options, report)
    account = _Account(str(path), options, memory=options.memory != "none" and units == "cores")
    with Source(path, progress=progress) as log:
        for number, line in log.lines():
            text = line.decode("utf-8", "replace").strip("\ufeff \t")
            if not text:
                continue
            try:
                account.take(text, number)
            except ValueError as problem:
                report.records += 1
                bad.add(InputError(str(problem), source=log.name, place=f"line {number}"))
        info.digest = log.digest()
    report.records += len(account.events)
    bad.conclude()
    account.tell(report, info)
    yield from _jobs(account, units, options, report, info)


class _Account:
    """Gathers the lines of each job."""

    def __init__(self, source: str, options: LogOptions, *, memory: bool) -> None:
        self._source, self._options, self._memory = source, options, memory
        #: Job -> the last thing that happened to it: Q, S, E, R, D or A.
        self.events: dict[str, str] = {}
        self.ends: dict[str, _End] = {}
        self.reruns: list[str] = []
        #: Lines that are of no job, by their kind.
        self.others: Counter[str] = Counter()

    def take(self, text: str, number: int) -> None:
        """Read a line.

        Raises:
            ValueError: it is none, or a field of it is wrong.
        """
        match = _LINE.fullmatch(text)
        if match is None:
            raise ValueError(f"found {text[:60]!r}, expected MM/DD/YYYY hh:mm:ss;E;12.server;user=...")
        kind, name, more = match.groups()
        if kind not in _OF_JOBS:
            self.others[kind if len(self.others) < 10 else "other"] += 1
            return
        job = _job_of(name)
        if kind == "E":
            fields = _fields(more)
            # A line of another job of the same number, as after a server was set up anew, is a job of its own.
            known = self.ends.get(job)
            if known is not None and known.submit != _moment(fields, "ctime", "qtime", "etime", "start"):
                job = next(each for count in range(2, 10**9) if (each := f"{job}~{count}") not in self.events)
            self.ends[job] = self._end(job, fields, number)
        elif kind == "R":
            self.reruns.append(job)
        if kind == "E" or self.events.get(job) != "E":
            self.events[job] = kind

    def _end(self, job: str, fields: Mapping[str, str], number: int) -> _End:
        start = _moment(fields, "start")
        end = _moment(fields, "end")
        runtime = end - start
        if math.isnan(runtime):
            runtime = _seconds(fields, "resources_used.walltime")
        asked, given, nodes = _asked(fields), *_given(fields)
        cores, host_count = sum(given.values()), len(given)
        allocated = self._options.size == "allocated"
        first, second = (cores, asked.cores) if allocated else (asked.cores, cores)
        totals = Totals(
            cores=first or second,
            nodes=host_count or asked.nodes,
            least=asked.nodes,
            memory=asked.memory if self._memory else 0,
            others=asked.others,
        )
        extra: dict[str, Any] = {
            field: fields[key]
            for field, key in (("user", "user"), ("group", "group"), ("queue", "queue"), ("name", "jobname"))
            if fields.get(key)
        }
        account = fields.get("account") or fields.get("project", "")
        if account and account != "_pbs_project_default":
            extra["account"] = account
        array, _, task = job.partition("~")[0].partition("_")
        if task:
            extra["array"] = {"id": array, "index": int(task)}
        stay = None
        if nodes:
            # Of memory, each core has a whole number of MiB.
            count = max(totals.cores, 1)
            amounts = {"core": max(cores, totals.cores), "memory": -(-totals.memory // count) * count, **totals.others}
            stay = Stay(nodes, start, runtime, amounts)
        return _End(
            name=job,
            line=number,
            submit=_moment(fields, "ctime", "qtime", "etime", "start"),
            eligible=_moment(fields, "etime"),
            start=start,
            runtime=runtime,
            walltime=_seconds(fields, "Resource_List.walltime"),
            totals=totals,
            stay=stay,
            killed=fields.get("Exit_status", "") in _AT_THE_LIMIT,
            depend=fields.get("depend") or fields.get("Resource_List.depend", ""),
            extra=extra,
        )

    def tell(self, report: ImportReport, info: LogInfo) -> None:
        """Count the jobs without an end, and say what the account tells of the machine."""
        why = {
            "Q": "not started when the account was made",
            "S": "not ended when the account was made",
            "R": "not ended when the account was made",
            "D": "never started (deleted)",
            "A": "never started (the server gave them up)",
        }
        for job, kind in self.events.items():
            if kind != "E":
                report.drop(why[kind], job)
        for job in self.reruns:
            report.change("were started again: their last run is kept", job)
        if self.others:
            said = ", ".join(f"{count:,} {kind}" for kind, count in sorted(self.others.items()))
            report.notes.append(f"{sum(self.others.values()):,} lines are of no job's life ({said})")
        info.use = use_of([one.stay for one in self.ends.values() if one.stay is not None])
        info.dated = True
        if self._options.time_zone:
            info.about["TimeZoneString"] = self._options.time_zone
        if info.use.names and not info.use.unread:
            info.hosts = len(info.use.names)
            info.why = f"{info.hosts:,} names of nodes in exec_host"


def _jobs(
    account: _Account, units: Literal["hosts", "cores"], options: LogOptions, report: ImportReport, info: LogInfo
) -> Iterator[LogJob]:
    for one in account.ends.values():
        if math.isnan(one.submit):
            report.drop("without a submit time", one.name)
            continue
        if not one.runtime >= 0:
            report.drop("without a run time" if math.isnan(one.runtime) else "end before they start", one.name)
            continue
        submission = one.submit
        if one.eligible > submission:
            if options.submission == "eligible":
                submission = one.eligible
            report.change(
                f"were eligible later than submitted: {options.submission} time taken (--submission)", one.name
            )
        if math.isnan(one.walltime):
            report.change("without a time limit of their own: no walltime", one.name)
        count, demand, request = demand_of(one.totals, units, options.processors_per_host, report, one.name)
        if one.totals.nodes and one.totals.cores:
            each = -(-one.totals.cores // one.totals.nodes)
            info.capacity["core"] = max(info.capacity.get("core", 0), each)
        yield LogJob(
            id=one.name,
            submission=submission,
            runtime=one.runtime,
            start=one.start,
            killed=one.killed,
            walltime=one.walltime if one.walltime > 0 else math.inf,
            units=count,
            demand=demand,
            extra=one.extra | request,
            nodes="" if one.stay is None else one.stay.nodes,
            dependencies=_dependencies(one, account, report),
        )


def _dependencies(one: _End, account: _Account, report: ImportReport) -> tuple[Dependency, ...]:
    found = []
    for part in filter(None, one.depend.split(",")):
        match = _AFTER.fullmatch(part)
        for name in match[2].split(":") if match else ():
            other = account.ends.get(_job_of(name.partition("@")[0]))
            if other is not None and other.submit < one.submit:
                kind: Literal["after", "afterok", "afterany"] = match[1]  # type: ignore[index,assignment]
                found.append(Dependency(other.name, kind))
            else:
                report.change("depend on a job that is not in the account: left out", one.name)
        if match is None and not part.startswith("before"):
            report.change("depend on others in a way that we do not know: that dependency is left out", one.name)
    return tuple(dict.fromkeys(found))


# ---------------------------------------------------------------------- fields


def _job_of(name: str) -> str:
    """Return a job's number, with its place in an array: ``12``, ``12_3``.

    Raises:
        ValueError: the text names no job.
    """
    match = _ID.fullmatch(name)
    if match is None:
        raise ValueError(f"job {name[:60]!r}, expected one such as 12.server or 12[3].server")
    number, index, older = match.groups()
    if index == "":
        return f"{number}[]"
    task = index or older
    return number if task is None else f"{number}_{int(task)}"


def _fields(text: str) -> dict[str, str]:
    """Return the fields of a line; a value goes on until the next field, and of one name the first one counts."""
    found: dict[str, str] = {}
    matches = list(_FIELD.finditer(text))
    for match, following in zip(matches, [*matches[1:], None], strict=True):
        value = match[2] or text[match.end() : len(text) if following is None else following.start()]
        found.setdefault(match[1], value.strip().strip('"'))
    return found


def _moment(fields: Mapping[str, str], *names: str) -> float:
    """Return the first of some times that is told, seconds since 1970.

    Raises:
        ValueError: it is no number.
    """
    for name in names:
        if text := fields.get(name, ""):
            value = number_of(text)
            if not math.isfinite(value):
                raise ValueError(f"{name} is {text[:40]!r}, expected seconds since 1970")
            if value > 0:
                return value
    return math.nan


def _seconds(fields: Mapping[str, str], name: str) -> float:
    text = fields.get(name, "")
    if not text:
        return math.nan
    if text.isascii() and text.isdigit() and len(text) < 12:
        return float(text)
    days, _, rest = text.partition(":")
    try:
        # Torque writes days in front of hours with one colon more.
        return int(days) * 86_400 + read_duration(rest) if rest.count(":") == 2 else read_duration(text)
    except ValueError:
        raise ValueError(f"{name} is {text[:40]!r}, expected seconds or HH:MM:SS") from None


def _count(text: str, what: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 14):
        raise ValueError(f"{what} is {text[:40]!r}, expected a whole number")
    return int(text)


def _memory(text: str, what: str) -> int:
    """Return MiB of an amount such as 4gb, rounded up."""
    match = _AMOUNT.fullmatch(text)
    if match is None:
        raise ValueError(f"{what} is {text[:40]!r}, expected an amount of memory such as 4gb")
    mib = float(match[1]) * _BYTES[match[2].lower()] * (8 if match[3].lower() == "w" else 1) / 2**20
    if mib > _MOST:
        raise ValueError(f"{what} is {text[:40]!r}, expected an amount of memory such as 4gb")
    return math.ceil(mib)


def _asked(fields: Mapping[str, str]) -> Totals:
    """Return what a job asked for; 0: it does not say."""
    told = {name[14:]: text for name, text in fields.items() if name.startswith("Resource_List.")}
    found = Totals()
    chunks = told.get("select") or told.get("schedselect", "")
    for chunk in filter(None, chunks.split("+")):
        count, parts = _chunk(chunk)
        found.add(_of_chunk(count, parts, "ncpus", "ngpus"))
    spec = told.get("nodes") or told.get("neednodes", "")
    if not found.cores and spec:
        for chunk in spec.partition("#")[0].split("+"):
            count, parts = _chunk(chunk)
            found.add(_of_chunk(count, parts, "ppn", "gpus"))
    if "ncpus" in told:
        # Where nodes are asked for, Torque writes 1 here, whatever these have.
        found.cores = max(found.cores, _count(told["ncpus"], "Resource_List.ncpus"))
    if "procs" in told:
        found.cores = max(found.cores, _count(told["procs"], "Resource_List.procs"))
    if "nodect" in told:
        found.nodes = found.least = _count(told["nodect"], "Resource_List.nodect") or found.nodes
    if "ngpus" in told and not found.others:
        found.others = {"gpu": _count(told["ngpus"], "Resource_List.ngpus")}
    if "mem" in told:
        found.memory = _memory(told["mem"], "Resource_List.mem")
    elif "pmem" in told and not found.memory:
        found.memory = _memory(told["pmem"], "Resource_List.pmem") * max(found.cores, 1)
    found.others = {name: amount for name, amount in found.others.items() if amount}
    return found


def _chunk(text: str) -> tuple[int, dict[str, str]]:
    """Return how many times a chunk such as ``2:ncpus=4`` or ``n1:ppn=4`` is asked for, and its amounts."""
    first, *more = text.split(":")
    count = int(first) if first.isascii() and first.isdigit() and len(first) < 8 else 1
    if "=" in first:
        more = [first, *more]
    pairs = (part.partition("=") for part in more)
    return count, {name: value for name, _, value in pairs}


def _of_chunk(count: int, parts: Mapping[str, str], cores: str, gpus: str) -> Totals:
    gpu = _count(parts[gpus], gpus) if parts.get(gpus) else 0
    return Totals(
        cores=count * (_count(parts[cores], cores) if cores in parts else 1),
        nodes=count,
        least=0,
        memory=count * _memory(parts["mem"], "mem") if "mem" in parts else 0,
        others={"gpu": count * gpu} if gpu else {},
    )


def _given(fields: Mapping[str, str]) -> tuple[dict[str, int], str]:
    """Return how many cores a job had on each of its nodes, and the names of these as a list."""
    cores: dict[str, int] = {}
    for part in filter(None, fields.get("exec_host", "").split("+")):
        match = _SLOTS.fullmatch(part)
        if match is None:
            raise ValueError(f"exec_host has {part[:40]!r}, expected a part such as n1/0*4 or n1/0-3")
        host, slots, times = match.groups()
        cores[host.partition(":")[0]] = cores.get(host.partition(":")[0], 0) + (
            int(times) if times is not None else _slots(slots)
        )
    vnodes: dict[str, int] = {}
    for part in filter(None, fields.get("exec_vnode", "").replace("(", "").replace(")", "").split("+")):
        name, *amounts = part.split(":")
        told = dict(amount.partition("=")[::2] for amount in amounts)
        host = name.partition("[")[0]
        vnodes[host] = vnodes.get(host, 0) + (_count(told["ncpus"], "ncpus") if "ncpus" in told else 0)
    # Virtual nodes are told with their cores, hosts perhaps as one slot for all of these.
    if sum(vnodes.values()) > sum(cores.values()) and (not cores or vnodes.keys() == cores.keys()):
        cores = vnodes
    return cores, ",".join(cores)


def _slots(text: str) -> int:
    """Return how many numbers ``0-3,7`` stands for."""
    total = 0
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not first or (dash and (not last or int(last) < int(first))):
            raise ValueError(f"exec_host has slots {text[:40]!r}, expected numbers such as 0-3,7")
        total += int(last) - int(first) + 1 if dash else 1
    return total


FORMAT = LogFormat(read_pbs, endings=(".pbs",), holds=is_pbs, stranger=stranger)
