"""Any table of jobs (CSV and the like), with a mapping that says which column means what."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NoReturn

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.request import Dependency
from batdispatch.core.line.options import did_you_mean
from batdispatch.core.numerals import number_of
from batdispatch.inputs.files import Source, file_digest
from batdispatch.inputs.log_options import LogOptions
from batdispatch.inputs.workloads.amounts import read_memory
from batdispatch.inputs.workloads.bad_records import BadRecords
from batdispatch.inputs.workloads.logs import LogFormat, LogInfo, LogJob, check_processors_per_host
from batdispatch.inputs.workloads.mapping import (
    JOULES,
    MEBIBYTES,
    MOMENTS,
    SECONDS,
    TEXTS,
    WATTS,
    Column,
    Table,
    parse_columns,
)
from batdispatch.inputs.workloads.moments import Clock, read_duration, time_zone
from batdispatch.inputs.workloads.report import ImportReport
from batdispatch.inputs.workloads.totals import Totals, demand_of

_DELIMITERS = (",", ";", "\t", "|")
_NOTHING = frozenset({"", "-", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "none", "Unknown"})
#: Largest count and amount that is believed.
_MOST = 2**45


#: Takes a row's fields, and returns those that are read; none: the row is no job. A `ValueError` says what is wrong.
Check = Callable[[list[str]], list[str]]


def read_table(
    path: Path,
    options: LogOptions,
    report: ImportReport,
    info: LogInfo,
    progress: Callable[[int, int], None] | None = None,
    *,
    check: Check | None = None,
) -> Iterator[LogJob]:
    """Yield the jobs of a table that ran: one row a job; the first row, or the mapping, names the columns.

    Dropped and counted: rows without a submission time or a run time.

    Args:
        path: the table; plain or compressed.
        options: how a row is understood.
        report: what happens to each row is counted here.
        info: filled.
        progress: told of the bytes read.
        check: what else a format demands of a row; None: nothing.

    Raises:
        InputError: there is no mapping, it names a column that is not there, or a field cannot be read.
    """
    if not options.columns:
        raise InputError(
            "a table needs to be told which column means what: submit=SUBMITTED,runtime=ELAPSED:min,cores=NCPUS",
            source="option --columns",
        )
    table = parse_columns(options.columns)
    bad = BadRecords(str(path), options, report)
    if path.name.endswith(".parquet"):
        yield from _parquet_jobs(path, table, options, report, info, bad)
        return
    with Source(path, progress=progress) as log:
        lines = (line.decode("utf-8-sig" if number == 1 else "utf-8", "replace") for number, line in log.lines())
        header = next(lines, "")
        delimiter = table.delimiter or _delimiter(header, table)
        rows = csv.reader((f"{line}\n" for line in chain([header], lines)), delimiter=delimiter)
        try:
            reader = _RowReader(log.name, table.header or next(rows, []), table, options, report, info)
            for fields in rows:
                try:
                    row = fields if check is None else _checked(fields, check, log.name, rows.line_num)
                except InputError as problem:
                    report.records += 1
                    bad.add(problem)
                    continue
                job = None
                with bad.tolerated():
                    job = reader.job(row, rows.line_num) if row else None
                if job is not None:
                    yield job
        except csv.Error as problem:
            raise InputError(f"is no table: {problem}", source=log.name, place=f"line {rows.line_num}") from None
        info.digest = log.digest()
    bad.conclude()
    reader.tell(info, report)


def _parquet_jobs(
    path: Path, table: Table, options: LogOptions, report: ImportReport, info: LogInfo, bad: BadRecords
) -> Iterator[LogJob]:
    """Yield the jobs of a table in Parquet, of which only the columns are read that the mapping names."""
    from batdispatch.inputs.workloads.parquet import ParquetTable

    wanted = [*(column.name for column in table.columns.values()), *table.also.values()]
    with ParquetTable(path, wanted) as file:
        reader = _RowReader(str(path), file.names, table, options, report, info)
        for number, row in file.rows():
            job = None
            with bad.tolerated():
                job = reader.job(row, number)
            if job is not None:
                yield job
    info.digest = file_digest(path)
    bad.conclude()
    reader.tell(info, report)


def _checked(row: list[str], check: Check, source: str, line: int) -> list[str]:
    try:
        return check(row)
    except ValueError as problem:
        raise InputError(str(problem), source=source, place=f"line {line}") from None


def _delimiter(header: str, table: Table) -> str:
    """Return what stands between the names, by which way of reading the header finds most of the columns."""
    wanted = {column.name.strip().casefold() for column in table.columns.values()}

    def found(delimiter: str) -> int:
        names = next(csv.reader([header], delimiter=delimiter), [])
        return len(wanted & {name.strip().casefold() for name in names})

    try:
        return max(_DELIMITERS, key=found)
    except csv.Error:
        return ","


class _RowReader:
    def __init__(
        self,
        source: str,
        names: Sequence[str],
        table: Table,
        options: LogOptions,
        report: ImportReport,
        info: LogInfo,
    ) -> None:
        self._source, self._options, self._report, self._info = source, options, report, info
        self._units: Literal["hosts", "cores"] = options.units or ("cores" if "cores" in table.columns else "hosts")
        check_processors_per_host(options, self._units)
        if options.memory == "used":
            raise InputError("--columns names the memory, expected none or requested", source="option --memory")
        self._names = names
        self._columns = table.columns
        self._nothing = _NOTHING | table.unknown
        exact = {name: index for index, name in reversed(list(enumerate(names)))}
        alike = {name.strip().casefold(): index for name, index in exact.items()}
        self._at: dict[str, int] = {}
        for field, column in table.columns.items():
            index = exact.get(column.name, alike.get(column.name.strip().casefold()))
            if index is None and column.name in table.also:
                index = exact.get(table.also[column.name])
            if index is None:
                shown = [name[:40] for name in names[:40]]
                raise InputError(
                    f"there is no column {column.name[:60]!r} for {field}: {did_you_mean(column.name[:60], shown)}",
                    source=source,
                    place="line 1",
                )
            self._at[field] = index
        zone = time_zone(options.time_zone) if options.time_zone else None
        self._clocks = {
            field: Clock(zone, pattern=column.unit if "%" in column.unit else "")
            for field, column in table.columns.items()
            if field in MOMENTS
        }
        self.dated = False
        self._line = 0

    def tell(self, info: LogInfo, report: ImportReport) -> None:
        """Say what was found out about the times; each remark once."""
        info.dated = self.dated
        if self._options.time_zone:
            info.about["TimeZoneString"] = self._options.time_zone
        report.notes.extend(dict.fromkeys(remark for clock in self._clocks.values() for remark in clock.remarks()))

    def job(self, row: list[str], line: int) -> LogJob | None:
        """Return the job of a row, None if it never ran."""
        self._line = line
        self._report.records += 1
        if len(row) != len(self._names):
            raise InputError(
                f"found {len(row)} fields, expected the {len(self._names)} of the header",
                source=self._source,
                place=f"line {line}",
            )
        name = self._text(row, "id") or str(self._report.records)
        submit, start, end = (self._moment(row, field) for field in ("submit", "start", "end"))
        runtime, wait = self._duration(row, "runtime"), self._duration(row, "wait")
        if math.isnan(runtime):
            runtime = end - start
        if math.isnan(submit):
            submit = start - wait
        if math.isnan(submit):
            self._report.drop("without a submission time", name)
            return None
        if not runtime >= 0:
            self._report.drop("without a run time" if math.isnan(runtime) else "end before they start", name)
            return None
        if math.isnan(start):
            start = submit + wait
        if self._options.submission == "eligible":
            eligible = self._moment(row, "eligible")
            submit = submit if math.isnan(eligible) else max(submit, eligible)
        walltime = self._duration(row, "walltime")
        extra: dict[str, Any] = {field: text for field in TEXTS if (text := self._text(row, field))}
        totals = self._totals(row)
        watts = self._watts(row, totals, runtime)
        if not math.isnan(watts):
            extra["power"] = round(watts, 3)
        if self._units == "cores" and totals.nodes and totals.cores:
            each = self._info.capacity.get("core", 0)
            self._info.capacity["core"] = max(each, -(-totals.cores // totals.nodes))
        units, demand, fields = demand_of(totals, self._units, self._options.processors_per_host, self._report, name)
        return LogJob(
            id=name,
            submission=submit,
            runtime=runtime,
            start=start,
            walltime=walltime if walltime > 0 else math.inf,
            units=units,
            demand=demand,
            extra=extra | fields,
            dependencies=tuple(
                map(Dependency, dict.fromkeys(self._text(row, "dependencies").replace(",", " ").split()))
            ),
        )

    def _watts(self, row: list[str], totals: Totals, runtime: float) -> float:
        """Return the mean power of the job's nodes in all, in W; NaN: it is not told."""
        for field, units, seconds in (("power", WATTS, 1.0), ("energy", JOULES, runtime)):
            text = self._text(row, field)
            if text and seconds > 0:
                amount = _number(text)
                if not amount >= 0:
                    self._refuse(field, row, "a number from 0")
                parts = self._parts(field, totals.nodes or 0, totals.cores)
                return amount * units[self._column(field).unit] * parts / seconds
        return math.nan

    def _totals(self, row: list[str]) -> Totals:
        nodes = self._count(row, "nodes")
        cores = self._cores(row, nodes)
        gpus = self._count(row, "gpus") * self._parts("gpus", nodes, cores)
        memory = 0
        if self._options.memory != "none":
            memory = math.ceil(self._memory(row) * self._parts("memory", nodes, cores))
        if max(cores, gpus, memory) > _MOST:
            self._refuse("cores", row, "a job of a size that some machine has")
        return Totals(cores, nodes, nodes, memory, {"gpu": gpus} if gpus else {})

    def _cores(self, row: list[str], nodes: int) -> int:
        """Return the cores requested or allocated, as the options say, or the other figure where that is unknown."""
        figures = [self._count(row, field) * self._parts(field, nodes, 1) for field in ("cores", "allocated")]
        first, second = figures if self._options.size != "allocated" else reversed(figures)
        return first or second

    def _parts(self, field: str, nodes: int, cores: int) -> int:
        """Return of how many nodes or cores an amount is told."""
        of = self._column(field).of
        return max(nodes, 1) if of == "node" else max(cores, 1) if of == "core" else 1

    # ------------------------------------------------------------------ fields

    def _column(self, field: str) -> Column:
        return self._columns.get(field, Column(""))

    def _text(self, row: list[str], field: str) -> str:
        index = self._at.get(field)
        if index is None:
            return ""
        text = row[index].strip()
        return "" if text in self._nothing else text

    def _refuse(self, field: str, row: list[str], expected: str) -> NoReturn:
        found = row[self._at[field]][:60] if field in self._at else ""
        raise InputError(
            f"{found!r}, expected {expected}",
            source=self._source,
            place=f"line {self._line}, column {self._column(field).name[:60]!r}",
        )

    def _moment(self, row: list[str], field: str) -> float:
        text = self._text(row, field)
        if not text:
            return math.nan
        unit = self._column(field).unit
        if unit in SECONDS:
            number = _number(text)
            if not math.isnan(number):
                return number * SECONDS[unit]
        try:
            moment = self._clocks[field].read(text)
        except (ValueError, OverflowError):
            form = unit if "%" in unit else "2026-11-22T13:26:06, or seconds"
            self._refuse(field, row, f"a time such as {form}")
        self.dated = True
        return moment

    def _duration(self, row: list[str], field: str) -> float:
        text = self._text(row, field)
        if not text:
            return math.nan
        number = _number(text)
        if not math.isnan(number):
            return number * SECONDS[self._column(field).unit]
        try:
            return read_duration(text)
        except ValueError:
            self._refuse(field, row, "a number, or [D-]HH:MM:SS")

    def _count(self, row: list[str], field: str) -> int:
        text = self._text(row, field)
        if not text:
            return 0
        number = _number(text)
        if not (0 <= number <= _MOST and number == int(number)):
            self._refuse(field, row, "a whole number from 0")
        return int(number)

    def _memory(self, row: list[str]) -> float:
        """Return MiB."""
        text = self._text(row, "memory")
        if not text:
            return 0.0
        number = _number(text)
        if 0 <= number <= _MOST:
            return number * MEBIBYTES[self._column("memory").unit]
        try:
            return read_memory(text)[0]
        except ValueError:
            self._refuse("memory", row, "an amount of memory such as 4096 or 4G")


def _number(text: str) -> float:
    """Return a finite number, nan for what is none."""
    number = number_of(text)
    return number if math.isfinite(number) else math.nan


FORMAT = LogFormat(read_table, endings=(".csv", ".tsv", ".parquet"))
