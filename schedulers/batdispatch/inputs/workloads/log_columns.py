"""The jobs of a log in columns, which rules go through without an object for each job."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Self

import msgspec
import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from batdispatch.core.errors import FieldError, InputError
from batdispatch.core.jobs.fields import read_request
from batdispatch.core.jobs.job_table import in_order
from batdispatch.core.jobs.request import Dependency, Request
from batdispatch.inputs.workloads.report import Sieve

#: Columns of `LogColumns` that every log has: arrays, and lists.
ARRAYS = ("submission", "runtime", "start", "walltime", "units")
_COLUMNS = ("ids", "tables", *ARRAYS)
#: What few logs tell, by id.
BY_ID = ("nodes", "dependencies", "killed")


def as_written(values: NDArray[np.float64], below: float = math.inf) -> list[Any]:
    """Return numbers as people write them: whole ones as integers if they are below a bound, and `UNSET` for NaN."""
    known = ~np.isnan(values)
    there = np.where(known, values, 0.0)
    if np.abs(there).max(initial=0.0) < min(below, 2.0**63) and (there == np.floor(there)).all():
        objects = there.astype(np.int64).astype(object)
        objects[~known] = UNSET
        return list(objects.tolist())
    return [
        UNSET if value != value else int(value) if value == int(value) and abs(value) < below else value  # noqa: PLR0124
        for value in values.tolist()
    ]


def _append(whole: dict[str, Any], part: Mapping[str, Any]) -> None:
    """Put the columns of a part behind those of the parts before it."""
    for name, column in part.items():
        if isinstance(column, np.ndarray):
            whole.setdefault(name, bytearray()).extend(column.data)
        else:
            whole.setdefault(name, []).extend(column)


def _grown(whole: Mapping[str, Any]) -> dict[str, Any]:
    return {name: np.frombuffer(each) if isinstance(each, bytearray) else each for name, each in whole.items()}


def _taken(column: Any, rows: NDArray[np.int64]) -> Any:
    return column[rows] if isinstance(column, np.ndarray) else [column[row] for row in rows.tolist()]


class LogColumns(msgspec.Struct, kw_only=True, eq=False):
    """Jobs that ran, in columns; see `batdispatch.inputs.workloads.logs.LogJob`."""

    ids: list[str]
    #: float64 [job], and so below.
    submission: NDArray[np.float64]
    runtime: NDArray[np.float64]
    start: NDArray[np.float64]
    walltime: NDArray[np.float64]
    #: Whole numbers.
    units: NDArray[np.float64]
    #: `LogJob.extra` and the field ``demand``; jobs may share a table, which nobody changes.
    tables: list[Mapping[str, Any]]
    #: Fields before those of the table that are numbers, of which no request is read; NaN where a job has none.
    numbers: dict[str, NDArray[np.float64]] = {}
    #: By id, of jobs that have any; whoever is left out may be there, too.
    nodes: dict[str, str] = {}
    dependencies: dict[str, tuple[Dependency, ...]] = {}
    killed: dict[str, bool] = {}

    @classmethod
    def joined(cls, parts: Iterable[Self]) -> Self:
        """Return the jobs of some parts, in memory that grows where it is, so that none is there twice."""
        whole: dict[str, Any] = {"ids": [], "tables": []} | {name: bytearray() for name in ARRAYS}
        numbers: dict[str, Any] = {}
        few: dict[str, Any] = {name: {} for name in BY_ID}
        for part in parts:
            _append(whole, {name: getattr(part, name) for name in _COLUMNS})
            _append(numbers, part.numbers)
            for name, values in few.items():
                values |= getattr(part, name)
        return cls(numbers=_grown(numbers), **few, **_grown(whole))

    def __len__(self) -> int:
        """Return the number of jobs."""
        return len(self.ids)

    def keep(self, rows: NDArray[np.int64]) -> None:
        """Leave out all but some jobs, and put these in this order."""
        for name in _COLUMNS:
            setattr(self, name, _taken(getattr(self, name), rows))
        for name, column in self.numbers.items():
            self.numbers[name] = column[rows]

    def sifted(self, sieve: Sieve) -> Self:
        """Return the jobs that no rule has dropped, which are left here."""
        self.keep(sieve.tell())
        return self

    def requests(self, rows: Iterable[int], source: Path) -> Iterator[Request]:
        """Yield what some jobs of a log ask for.

        Raises:
            InputError: that is more than any workload may say.
        """
        for row in rows:
            try:
                yield read_request(int(self.units[row]), self.tables[row])
            except FieldError as problem:
                found = f"{problem.field!r} is {str(problem.found)[:60]}, expected {problem.expected}"
                raise InputError(found, source=str(source), place=f"job {self.ids[row]}") from None

    def column(self, name: str) -> list[Any]:
        """Return a field of each job, `UNSET` where it has none."""
        return (
            as_written(self.numbers[name]) if name in self.numbers else [each.get(name, UNSET) for each in self.tables]
        )

    def lacks(self, name: str) -> bool:
        """Return whether no job has a field."""
        known = self.numbers.get(name)
        return not any(name in table for table in self.tables) if known is None else bool(np.isnan(known).all())

    def few_texts(self, name: str) -> tuple[list[str], NDArray[np.int64]]:
        """Return the different texts of a field in the order in which they come, and where among them each job's is."""
        known = self.numbers.get(name)
        if known is None:
            return in_order(self.texts(name))
        values, first, place = np.unique(known, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        return ["" if each is UNSET else str(each) for each in as_written(values[order])], rank[place]

    def texts(self, name: str) -> list[str]:
        """Return a field of each job as text, empty where it has none."""
        return ["" if each is UNSET else str(each) for each in self.column(name)]

    def put(self, name: str, values: Mapping[int, Any]) -> None:
        """Set a field of some jobs, given by row; `UNSET` takes it away."""
        for row, value in values.items():
            table = {**self.tables[row], name: value}
            if value is UNSET:
                del table[name]
            self.tables[row] = table

    def rows(self, columns: Mapping[str, list[Any]], part: slice) -> list[Any]:
        """Return what is encoded to the objects of some jobs: first other columns, then the fields of these jobs."""
        columns = {**columns, **{name: as_written(column[part]) for name, column in self.numbers.items()}}
        tables = self.tables[part]
        rows: list[Any] = list(map(_row_type(tuple(columns)), *columns.values())) if columns else [{}] * len(tables)
        if any(tables):
            return [first | table for first, table in zip(msgspec.to_builtins(rows), tables, strict=True)]
        return rows


@cache
def _row_type(names: tuple[str, ...]) -> type[msgspec.Struct]:
    """Return a type of objects with some fields, of which those that are `UNSET` are not encoded."""
    return msgspec.defstruct("JobRow", [(name, Any) for name in names], gc=False)


class LogBlock(NamedTuple):
    """Jobs that an importer yields together."""

    jobs: LogColumns
    #: Which of them it keeps.
    sieve: Sieve
