"""Standard Workload Format: logs of the Parallel Workloads Archive.

A line a job, 18 numbers, -1 for unknown; comments begin with ``;`` and hold ``; Name: value`` headers. Fields, from 1:
job, submit time, wait, run time, allocated processors, CPU time, used memory (KB a processor), requested processors,
requested time, requested memory (KB a processor), status, user, group, executable, queue, partition, preceding job,
think time.
Status: 0 failed, 1 completed, 2-4 partial executions of a job that also has a summary line, 5 cancelled (before it
started, or while it ran).

References:
    Chapin et al., "Benchmarks and standards for the evaluation of parallel job schedulers", JSSPP 1999.
    Feitelson, Tsafrir, Krakov, "Experience with using the Parallel Workloads Archive", JPDC 74(10), 2014.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.request import Dependency
from batdispatch.inputs.files import Source
from batdispatch.inputs.log_options import LogOptions
from batdispatch.inputs.workloads.logs import LogFormat, LogInfo, LogJob, check_processors_per_host
from batdispatch.inputs.workloads.report import ImportReport

#: Headers kept, and whether they are numbers.
_HEADERS = {
    "MaxProcs": True,
    "MaxNodes": True,
    "UnixStartTime": True,
    "Computer": False,
    "Installation": False,
    "TimeZoneString": False,
    "Acknowledge": False,
}
#: The last fields, which are kept as they are when known, and where they begin, counted from 0.
_KEPT = ("user", "group", "executable", "queue", "partition", "preceding_job", "think_time")
_FIRST_KEPT = 11
#: Of these, 0 means none.
_FROM_1 = frozenset({"preceding_job", "think_time"})
#: Submit time, run time, allocated and requested processors, requested time, status.
_OF_JOB = itemgetter(1, 3, 4, 7, 8, 10)


def read_swf(
    path: Path,
    options: LogOptions,
    report: ImportReport,
    info: LogInfo,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[LogJob]:
    """Yield the jobs of an SWF log that ran, plain or compressed with xz or gzip.

    Dropped and counted: jobs that never started (no run time, or 0 s without processors or cancelled), partial
    executions, jobs with an unknown submit time. A job that ran on an unknown number of processors counts as one.

    Raises:
        InputError: a line is not 18 numbers.
    """
    units = options.units or "hosts"
    check_processors_per_host(options, units)
    if options.memory not in (None, "none") and units != "cores":
        raise InputError("needs --units cores: whole hosts come with all their memory", source="option --memory")
    headers: dict[str, Any] = {}
    with Source(path, progress=progress) as log:
        for number, line in log.lines():
            text = line.lstrip()
            if not text:
                continue
            if text.startswith(b";"):
                _read_header(text, headers)
                continue
            report.records += 1
            values = _numbers(text, log.name, number, report)
            job = _job(values, units, options, report, log.name, number)
            if job is not None:
                yield job
        info.digest = log.digest()
    info.hosts = _hosts(headers, units, options)
    info.why = _why(headers, units, options)
    if units == "cores" and headers.get("MaxProcs") and headers.get("MaxNodes"):
        info.capacity["core"] = -(-headers["MaxProcs"] // headers["MaxNodes"])
    info.about = headers


def _read_header(line: bytes, headers: dict[str, Any]) -> None:
    name, colon, value = line.lstrip(b"; \t").partition(b":")
    key = name.strip().decode("latin-1")
    if not colon or key not in _HEADERS or key in headers:
        return
    text = value.strip().decode("latin-1")
    if not _HEADERS[key]:
        headers[key] = text[:200]
    elif text.isascii() and text.isdigit() and len(text) < 16:
        headers[key] = int(text)


def _hosts(headers: dict[str, Any], units: str, options: LogOptions) -> int | None:
    processors = headers.get("MaxProcs") or headers.get("MaxNodes")
    if not processors:
        return None
    if units == "cores":
        return int(headers.get("MaxNodes") or processors)
    return math.ceil(int(processors) / options.processors_per_host)


def _why(headers: dict[str, Any], units: str, options: LogOptions) -> str:
    """Return in words how the number of hosts is known."""
    name = "MaxProcs" if headers.get("MaxProcs") and not (units == "cores" and headers.get("MaxNodes")) else "MaxNodes"
    each = f", {options.processors_per_host} to a host" if options.processors_per_host > 1 else ""
    return f"{name} {headers.get(name, 0):,} in the log's header{each}"


def _numbers(line: bytes, source: str, number: int, report: ImportReport) -> list[float]:
    fields = line.split()
    if len(fields) < 18:
        raise InputError(
            f"found {len(fields)} fields, expected the 18 of the format", source=source, place=f"line {number}"
        )
    if len(fields) > 18:
        report.change("with more than 18 fields: the rest is not read", fields[0].decode("latin-1")[:32])
        del fields[18:]
    try:
        values = list(map(float, fields))
    except ValueError:
        values = []
    if not values or not math.isfinite(sum(values)) or b"_" in line:
        wrong = next((f for f in fields if not _is_number(f)), b"")
        raise InputError(
            f"field {fields.index(wrong) + 1 if wrong else '?'} is {wrong.decode('latin-1')[:40]!r}, expected a number",
            source=source,
            place=f"line {number}",
        )
    return values


def _is_number(field: bytes) -> bool:
    try:
        return b"_" not in field and math.isfinite(float(field))
    except ValueError:
        return False


def _job(
    values: list[float], units: str, options: LogOptions, report: ImportReport, source: str, number: int
) -> LogJob | None:
    name = str(int(values[0]))
    if values[0] < 0 or values[0] != int(values[0]):
        raise InputError(
            f"job number {values[0]:g}, expected a whole number from 0", source=source, place=f"line {number}"
        )
    submit, runtime, allocated, asked, limit, status = _OF_JOB(values)
    if status in (2, 3, 4):
        report.drop("partial executions: the job has a summary line", name)
        return None
    if submit < 0:
        report.drop("without a submit time", name)
        return None
    if runtime < 0:
        report.drop("without a run time" if allocated > 0 else "never started", name)
        return None
    if runtime == 0 and (allocated <= 0 or status == 5):
        report.drop("never started (0 s and no processors, or cancelled)", name)
        return None
    if status not in (-1, 0, 1, 5):
        report.change("with a status outside the format: taken as run", name)
    size = _size(allocated, asked, options, report, name)
    per_host = options.processors_per_host
    demand = None
    if units == "cores":
        demand = {"core": 1}
        memory = _memory(values, options, report, name)
        if memory:
            demand["memory"] = memory
    extra: dict[str, Any] = {}
    for field, value in zip(_KEPT, values[_FIRST_KEPT:], strict=True):
        if value > 0 or (value == 0 and field not in _FROM_1):
            whole = int(value)
            extra[field] = whole if value == whole else value
    preceding, think = extra.get("preceding_job"), float(extra.get("think_time", 0))
    awaited: tuple[Dependency, ...] = ()
    if options.think_times and preceding is not None:
        if preceding < values[0]:
            awaited = (Dependency(str(preceding), "afterany", think),)
        else:
            report.change("name a preceding job that comes later: without it", name)
    return LogJob(
        id=name,
        submission=submit,
        runtime=runtime,
        start=submit + values[2] if values[2] >= 0 else math.nan,
        walltime=limit if limit > 0 else math.inf,
        units=-(-size // per_host),
        demand=demand,
        extra=extra,
        dependencies=awaited,
    )


def _size(allocated: float, asked: float, options: LogOptions, report: ImportReport, name: str) -> int:
    first, second = (asked, allocated) if options.size == "requested" else (allocated, asked)
    if first > 0:
        if second > 0 and first != second:
            other = "allocated" if options.size == "requested" else "requested"
            report.change(f"with {options.size} and {other} processors that differ: {options.size} taken", name)
        return math.ceil(first)
    if second > 0:
        other = "allocated" if options.size == "requested" else "requested"
        report.change(f"without {options.size} processors: {other} taken", name)
        return math.ceil(second)
    report.change("ran on an unknown number of processors: taken as 1", name)
    return 1


def _memory(values: list[float], options: LogOptions, report: ImportReport, name: str) -> int:
    """Return MiB a processor; the log counts KB."""
    if options.memory in (None, "none"):
        return 0
    used, asked = values[6], values[9]
    first, second = (asked, used) if options.memory == "requested" else (used, asked)
    if first <= 0 < second:
        report.change(f"without {options.memory} memory: the other figure taken", name)
    elif first <= 0:
        report.change("without a memory figure: no memory demand", name)
    return math.ceil(max(first if first > 0 else second, 0) / 1024)


FORMAT = LogFormat(read_swf, endings=(".swf",), suits=lambda line: line.startswith(b";") or len(line.split()) >= 18)
