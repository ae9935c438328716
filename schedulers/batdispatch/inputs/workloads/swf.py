"""Standard Workload Format: logs of the Parallel Workloads Archive.

A line a job, 18 numbers, -1 for unknown; comments begin with ``;`` and hold ``; Name: value`` headers. Fields, from 1:
job, submit time, wait, run time, allocated processors, CPU time, used memory (KB a processor), requested processors,
requested time, requested memory (KB a processor), status, user, group, executable, queue, partition, preceding job,
think time.
Status: 0 failed, 1 completed, 2-4 partial executions of a job that also has a summary line (without one they are put
together: the job ran as long as they did), 5 cancelled (before it started, or while it ran).

References:
    Chapin et al., "Benchmarks and standards for the evaluation of parallel job schedulers", JSSPP 1999.
    Feitelson, Tsafrir, Krakov, "Experience with using the Parallel Workloads Archive", JPDC 74(10), 2014.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.request import Dependency
from batdispatch.core.numerals import number_of
from batdispatch.inputs.files import Source
from batdispatch.inputs.log_options import LogOptions
from batdispatch.inputs.workloads.bad_records import BadRecords
from batdispatch.inputs.workloads.log_columns import LogBlock, LogColumns
from batdispatch.inputs.workloads.logs import LogFormat, LogInfo, check_processors_per_host
from batdispatch.inputs.workloads.report import ImportReport, Sieve

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
#: Their names in small letters.
_SPELLING = {name.lower(): name for name in _HEADERS}
#: A number that a header begins with, perhaps with separators of thousands.
_HEADER_NUMBER = re.compile(r"(?:\d{1,3}(?:[,'  ]\d{3})+|\d{1,15})(?![\w.])", re.ASCII)
_SEPARATORS = {ord(letter): None for letter in ",'  "}
#: Where the texts of headers are kept that are not just a number; no header is called so.
_UNREAD = ""
#: Fields of a line.
_FIELDS = 18
#: Statuses of a part of a job's run: it goes on, it ended well, it failed.
_PARTIAL = (2, 3, 4)
_STATUS, _WAIT, _RUNTIME = 10, 2, 3
#: The last fields, which are kept as they are when known, and where they begin, counted from 0.
_KEPT = ("user", "group", "executable", "queue", "partition", "preceding_job", "think_time")
_FIRST_KEPT = 11
#: Of these, 0 means none.
_FROM_1 = frozenset({"preceding_job", "think_time"})
#: Submit time, wait, run time, allocated and requested processors, requested time, status.
_OF_JOB = (1, 2, 3, 4, 7, 8, 10)


def read_swf(
    path: Path,
    options: LogOptions,
    report: ImportReport,
    info: LogInfo,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[LogBlock]:
    """Yield the jobs of an SWF log that ran, many at a time, plain or compressed with xz or gzip.

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
    bad = BadRecords(str(path), options, report)
    parts = _Parts(report)
    with Source(path, progress=progress) as log:
        for number, lines in log.blocks():
            rows = _rows(lines, number, log.name, headers, bad, report)
            if len(rows):
                report.records += len(rows)
                yield _jobs(parts.whole(rows), units, options, report)
        info.digest = log.digest()
    bad.conclude()
    joined = parts.joined()
    if len(joined):
        yield _jobs(joined, units, options, report)
    unread = headers.pop(_UNREAD, {})
    for name, text in unread.items():
        what = f"{headers[name]:,} taken" if name in headers else "which is no number: left out"
        report.notes.append(f"the header {name} is {text!r}, {what}")
    info.hosts = _hosts(headers, units, options)
    info.why = _why(headers, units, options)
    if units == "cores" and headers.get("MaxProcs") and headers.get("MaxNodes"):
        info.capacity["core"] = -(-headers["MaxProcs"] // headers["MaxNodes"])
    info.about = headers


def _read_header(line: bytes, headers: dict[str, Any]) -> None:
    name, colon, value = line.lstrip(b"; \t").replace(b"=", b":", 0 if b":" in line else 1).partition(b":")
    key = _SPELLING.get(name.strip().decode("latin-1").lower(), "")
    if not colon or not key or key in headers:
        return
    text = value.strip().decode("latin-1")
    match = _HEADER_NUMBER.match(text)
    if not _HEADERS[key]:
        headers[key] = text[:200]
    elif match is not None:
        headers[key] = int(match[0].translate(_SEPARATORS))
        if match.end() < len(text):
            headers.setdefault(_UNREAD, {})[key] = text[:60]
    elif text and text != "-1":
        headers.setdefault(_UNREAD, {})[key] = text[:60]


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


def _rows(
    lines: list[bytes], first: int, source: str, headers: dict[str, Any], bad: BadRecords, report: ImportReport
) -> NDArray[np.float64]:
    """Return the numbers of some lines, float64 [record, field], and keep the headers among them.

    Where the format's fields end, a record has the number of further ones.
    """
    rows = _plain_rows(lines)
    if rows is not None:
        return rows
    found: list[list[float]] = []
    for number, line in enumerate(lines, first):
        text = line.lstrip()
        if text.startswith(b";"):
            _read_header(text, headers)
        elif text and not text.startswith(b"#"):
            try:
                found.append(_numbers(text, source, number))
            except InputError as problem:
                report.records += 1
                bad.add(problem)
    return np.array(found).reshape(len(found), _FIELDS + 1)


def _plain_rows(lines: list[bytes]) -> NDArray[np.float64] | None:
    """Return the numbers of lines that are jobs, or None if any is something else, be it wrong."""
    there = [line for line in lines if line.strip()]
    text = b"".join(there)
    # NumPy takes some things for numbers, and some for white space, that are none here.
    if not there or text.translate(None, b"0123456789+-.eE \t"):
        return None
    # Whole numbers are read in a third of the time and less.
    is_whole = not any(sign in text for sign in (b".", b"e", b"E"))
    try:
        rows = np.loadtxt(there, np.int64 if is_whole else np.float64, comments=None, ndmin=2)
    except ValueError:
        return None
    job = rows[:, 0]
    is_plain = rows.shape[1] == _FIELDS and np.isfinite(rows).all()
    if not is_plain or not ((job >= 0) & (job == np.floor(job))).all():
        return None
    return np.column_stack([rows, np.zeros(len(rows))])


def _numbers(line: bytes, source: str, number: int) -> list[float]:
    fields, place = line.split(), f"line {number}"
    if len(fields) < _FIELDS:
        raise InputError(f"found {len(fields)} fields, expected the 18 of the format", source=source, place=place)
    values = [number_of(field.decode("ascii", "replace")) for field in fields[:_FIELDS]]
    wrong = next((index for index, value in enumerate(values) if not math.isfinite(value)), None)
    if wrong is not None:
        found = fields[wrong].decode("latin-1")[:40]
        raise InputError(f"field {wrong + 1} is {found!r}, expected a number", source=source, place=place)
    if values[0] < 0 or values[0] != int(values[0]):
        raise InputError(f"job number {values[0]:g}, expected a whole number from 0", source=source, place=place)
    return [*values, len(fields) - _FIELDS]


class _Parts:
    """Records that are parts of a job's run; most jobs with such parts have a summary line of the same number, too."""

    def __init__(self, report: ImportReport) -> None:
        self._report = report
        self._parts: list[NDArray[np.float64]] = []
        #: Numbers of the records that are no parts, int64 [record] each.
        self._summaries: list[NDArray[np.int64]] = []

    def whole(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the records that are of whole jobs; the others are kept for `joined`."""
        partial = np.isin(rows[:, _STATUS], _PARTIAL)
        self._summaries.append(rows[~partial, 0].astype(np.int64))
        if not partial.any():
            return rows
        self._parts.append(rows[partial])
        return rows[~partial]

    def joined(self) -> NDArray[np.float64]:
        """Return a record of each job that has parts and no summary line: with the sum of their run times."""
        parts = np.concatenate(self._parts) if self._parts else np.zeros((0, _FIELDS + 1))
        summaries = set(np.concatenate(self._summaries).tolist()) if len(parts) else set()
        runs: dict[int, list[NDArray[np.float64]]] = {}
        for row in parts:
            job = int(row[0])
            if job in summaries:
                self._report.drop("partial executions: the job has a summary line", str(job))
            else:
                runs.setdefault(job, []).append(row)
        found = []
        for job, rows in runs.items():
            first = rows[0].copy()
            if known := [float(row[_RUNTIME]) for row in rows if row[_RUNTIME] >= 0]:
                first[_RUNTIME] = sum(known)
            found.append(first)
            for _ in rows[1:]:
                what = "further partial executions of jobs without a summary line: put together with the first"
                self._report.drop(what, str(job))
        return np.array(found).reshape(len(found), _FIELDS + 1)


def _jobs(rows: NDArray[np.float64], units: str, options: LogOptions, report: ImportReport) -> LogBlock:
    """Return the jobs of some records, float64 [record, field], and which of them ran."""
    ids = list(map(str, map(int, rows[:, 0].tolist())))
    submit, wait, runtime, allocated, asked, limit, status = (rows[:, field] for field in _OF_JOB)
    sieve = Sieve(report, ids)
    sieve.change("with more than 18 fields: the rest is not read", rows[:, _FIELDS] > 0)
    sieve.drop("without a submit time", submit < 0)
    sieve.drop("without a run time", (runtime < 0) & (allocated > 0))
    sieve.drop("never started", runtime < 0)
    sieve.drop(
        "never started (0 s and no processors, or cancelled)",
        (runtime == 0) & ((allocated <= 0) | (status == 5)),
    )
    sieve.change("with a status outside the format: taken as run", ~np.isin(status, (-1, 0, 1, 5, *_PARTIAL)))
    size = _sizes(allocated, asked, options, sieve)
    jobs = LogColumns(
        ids=ids,
        submission=submit,
        runtime=runtime,
        start=np.where(wait >= 0, submit + wait, np.nan),
        walltime=np.where(limit > 0, limit, np.inf),
        units=-(-size // options.processors_per_host),
        tables=_demands(rows, options, sieve) if units == "cores" else [{}] * len(rows),
        numbers={name: _known(rows[:, place], name) for place, name in enumerate(_KEPT, _FIRST_KEPT)},
    )
    if options.think_times:
        jobs.dependencies = _dependencies(jobs, sieve)
    return LogBlock(jobs, sieve)


def _known(values: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Return the values of a field that is kept, NaN where they are unknown."""
    return np.where((values > 0) | ((values == 0) & (name not in _FROM_1)), values, np.nan)


def _dependencies(jobs: LogColumns, sieve: Sieve) -> dict[str, tuple[Dependency, ...]]:
    """Return what jobs await that name a preceding job, by id."""
    preceding, think = jobs.column("preceding_job"), np.nan_to_num(jobs.numbers["think_time"]).tolist()
    named = ~np.isnan(jobs.numbers["preceding_job"])
    earlier = jobs.numbers["preceding_job"] < np.array(list(map(float, jobs.ids)))
    sieve.change("name a preceding job that comes later: without it", named & ~earlier)
    return {
        jobs.ids[row]: (Dependency(str(preceding[row]), "afterany", think[row]),)
        for row in np.flatnonzero(sieve.kept & named & earlier).tolist()
    }


def _sizes(
    allocated: NDArray[np.float64], asked: NDArray[np.float64], options: LogOptions, sieve: Sieve
) -> NDArray[np.float64]:
    size = options.size or "requested"
    first, second = (asked, allocated) if size == "requested" else (allocated, asked)
    other = "allocated" if size == "requested" else "requested"
    sieve.change(
        f"with {size} and {other} processors that differ: {size} taken",
        (first > 0) & (second > 0) & (first != second),
    )
    sieve.change(f"without {size} processors: {other} taken", (first <= 0) & (second > 0))
    sieve.change("ran on an unknown number of processors: taken as 1", (first <= 0) & (second <= 0))
    return np.ceil(np.where(first > 0, first, np.where(second > 0, second, 1.0)))


def _demands(rows: NDArray[np.float64], options: LogOptions, sieve: Sieve) -> list[Mapping[str, Any]]:
    """Return what each core of a job comes with; jobs of a block that ask alike share it."""
    if options.memory in (None, "none"):
        return [{"demand": {"core": 1}}] * len(rows)
    used, asked = rows[:, 6], rows[:, 9]
    first, second = (asked, used) if options.memory == "requested" else (used, asked)
    sieve.change(f"without {options.memory} memory: the other figure taken", (first <= 0) & (second > 0))
    sieve.change("without a memory figure: no memory demand", (first <= 0) & (second <= 0))
    # MiB; the log counts KB.
    amounts = np.ceil(np.maximum(np.where(first > 0, first, second), 0.0) / 1024).tolist()
    tables = {each: {"demand": {"core": 1} | ({"memory": int(each)} if each else {})} for each in set(amounts)}
    return [tables[amount] for amount in amounts]


def _suits(line: bytes) -> bool:
    return line.startswith(b";") or (len(line.split()) >= _FIELDS and line.split()[0].isdigit())


FORMAT = LogFormat(read_swf, endings=(".swf",), suits=_suits)
