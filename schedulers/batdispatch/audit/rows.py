"""The rows of a jobs file as columns, with units.csv and lineage.csv, which say what the rows mean."""

from __future__ import annotations

import csv
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.audit.findings import FAILED, LINEAGE, NO_TIME, REJECTED, STATES, SUCCESS, UNITS, WALLTIME
from batdispatch.audit.hosts import Floats, HostSets, Ints, read_host_sets
from batdispatch.core.errors import InputError

#: Batsim 4's columns, in its order.
COLUMNS = [
    *("job_id", "workload_name", "profile", "submission_time", "requested_number_of_resources", "requested_time"),
    *("success", "final_state", "starting_time", "execution_time", "finish_time", "waiting_time", "turnaround_time"),
    *("stretch", "allocated_resources", "consumed_energy", "metadata"),
]
_TEXTS = ("job_id", "workload_name", "profile", "final_state", "allocated_resources", "metadata")
_NUMBERS = [name for name in COLUMNS if name not in _TEXTS]
_REQUIRED = ("job_id", "submission_time", "requested_number_of_resources", "starting_time", "finish_time")
#: Names that Batsim 1 to 3 gave to columns.
_OLD = {
    "jobID": "job_id",
    "requested_number_of_processors": "requested_number_of_resources",
    "allocated_processors": "allocated_resources",
}
#: Rows that are lists of texts at the same time.
_BLOCK = 4096
_BROKEN = (UnicodeDecodeError, csv.Error, lzma.LZMAError, gzip.BadGzipFile, zlib.error, EOFError)


def read_csv(path: Path) -> Iterator[list[str]]:
    """Yield the rows of a table, plain or packed, the header first; blank lines are left out.

    Raises:
        InputError: it cannot be read as a table.
    """
    openers = {".xz": lzma.open, ".gz": gzip.open}
    usual = csv.field_size_limit(1 << 30)
    try:
        with openers.get(path.suffix, open)(path, "rb") as raw:  # type: ignore[operator]
            yield from filter(None, csv.reader(io.TextIOWrapper(raw, "utf-8-sig", newline="")))
    except _BROKEN as problem:
        raise InputError(f"cannot be read: {problem}", source=str(path)) from None
    finally:
        csv.field_size_limit(usual)


def _each_line(path: Path, needed: set[str], expected: str, take: Callable[[Mapping[str, str]], None]) -> None:
    """Hand on each line of a table, by column; a table that is not there has none.

    Raises:
        InputError: a column is missing, or `take` raises a KeyError or ValueError for a line.
    """
    lines = read_csv(path) if path.exists() else iter([[*needed]])
    header = next(lines, [])
    if not needed <= set(header):
        shown = ",".join(header)[:80]
        raise InputError(f"found columns {shown!r}, expected {', '.join(sorted(needed))}", source=str(path))
    for number, line in enumerate(lines, start=2):
        try:
            take(dict(zip(header, line, strict=True)))
        except (KeyError, ValueError):
            message = f"found {','.join(line)[:80]!r}, expected {expected}"
            raise InputError(message, source=str(path), place=f"line {number}") from None


def read_numbers(path: Path) -> dict[str, Floats]:
    """Return the columns of a table of numbers by name.

    Raises:
        InputError: it is none.
    """
    header, *lines = read_csv(path)
    try:
        table = np.array(lines, dtype=np.float64).reshape(-1, len(header))
    except ValueError as problem:
        raise InputError(f"cannot be read: {problem}", source=str(path)) from None
    return dict(zip(header, table.T, strict=True))


class Rows:
    """The columns of a jobs file. Times are seconds, float64 [row], NaN where a rejected job has none.

    Attributes:
        header: names of the columns as they stand in the file.
        ids: name of each row's job.
        profiles: name of its profile, without the workload.
        metadata: what the dispatcher noted about it.
        places: its hosts, in Batsim's notation; `hosts`: the same, read.
        state: position of its final state in `STATES`, int8 [row].
        ran: whether it was not rejected, bool [row], as `success`.
        size: units that it asked for, int64 [row].
        left: when its hosts are free. Batsim writes a job that took no time as if it had taken a little.
    """

    def __init__(self, path: Path) -> None:
        """Read the file.

        Raises:
            InputError: it is no jobs file, or a value is not what its column holds.
        """
        self._path = path
        lines = read_csv(path)
        self.header = [_OLD.get(name, name) for name in next(lines, [])]
        missing = [name for name in _REQUIRED if name not in self.header]
        if missing:
            raise InputError(f"has no column {missing[0]}, expected Batsim's jobs.csv", source=str(path))
        blocks = [self._columns(block) for block in iter(lambda: list(islice(lines, _BLOCK)), [])]
        self._settle(
            [list(chain.from_iterable(block.pop(name) for block in blocks)) for name in _TEXTS],
            [np.concatenate([np.zeros(0), *(block[name] for block in blocks)]) for name in _NUMBERS],
        )

    def _columns(self, block: list[list[str]]) -> dict[str, Any]:
        """Return the texts, or else the numbers, of each column of some rows; texts that rows share are kept once."""
        try:
            columns = dict(zip(self.header, zip(*block, strict=True), strict=True))
            texts = {name: columns.get(name, ("",) * len(block)) for name in COLUMNS}
            numbers = {name: np.array([text or "nan" for text in texts[name]], float) for name in _NUMBERS}
            return texts | {name: list(map(sys.intern, texts[name])) for name in _TEXTS[1:]} | numbers
        except ValueError as problem:
            raise InputError(f"a row is malformed: {problem}", source=str(self._path)) from None

    def _settle(self, texts: list[list[str]], values: list[Floats]) -> None:
        """Give the columns their names and types; what older files lack follows from the rest."""
        self.ids, self.workloads, profiles, self.states, self.places, self.metadata = texts
        pairs = zip(profiles, self.workloads, strict=True)
        self.profiles = [name.removeprefix(f"{workload}!") if "!" in name else name for name, workload in pairs]
        self.submission, size, asked, success, self.start, self.execution, self.finish, *more = values
        self.waiting, self.turnaround, self.stretch, self.energy = more
        self.walltime = np.where(np.isnan(asked) | (asked < 0), np.inf, asked)
        if not any(self.states):
            # A file without final states says them otherwise.
            at_walltime = self.finish - self.start >= self.walltime
            cases, chosen = [np.isnan(self.start), success == 1, at_walltime], [REJECTED, SUCCESS, WALLTIME]
            self.states = list(map(str, np.select(cases, chosen, FAILED).tolist()))
        known = dict(zip(STATES, range(len(STATES)), strict=True))
        self.state = np.array([known.get(state, -1) for state in self.states], dtype=np.int8)
        self.ran: NDArray[np.bool_] = self.state != known[REJECTED]
        self._check(size)
        self.success: NDArray[np.bool_] = success == 1
        self.size = size.astype(np.int64)
        self.left = np.where(np.abs(self.finish - self.start - NO_TIME) < 5e-7, self.start, self.finish)
        try:
            self.hosts: HostSets = read_host_sets(self.places)
        except InputError as problem:
            name = self.ids[int(problem.place or 0)]
            raise InputError(problem.message, source=str(self._path), place=f"job {name!r}") from None

    def _check(self, size: Floats) -> None:
        """Refuse rows with which nothing can be worked out."""
        for wrong, expected in (
            (self.state < 0, f"a final state, one of {', '.join(STATES)}"),
            (~(np.isfinite(self.submission) & (self.submission >= 0)), "a submission time, 0 or more"),
            (~((size >= 1) & (size == np.floor(size)) & (size < 2**53)), "a whole number of resources, 1 or more"),
            (self.ran & ~(np.isfinite(self.start) & np.isfinite(self.finish)), "a start and an end"),
        ):
            if wrong.any():
                name = self.ids[int(np.argmax(wrong))]
                raise InputError(f"expected {expected}", source=str(self._path), place=f"job {name!r}")

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def names(self) -> list[str]:
        """``workload!name`` of each row."""
        pairs = zip(self.workloads, self.ids, strict=True)
        return [f"{workload}!{name.removeprefix(f'{workload}!') if '!' in name else name}" for workload, name in pairs]

    @cached_property
    def row_of(self) -> dict[str, int]:
        """Row of each ``workload!name``; of a job that stands there twice, the first."""
        return dict(zip(reversed(self.names), range(len(self) - 1, -1, -1), strict=True))

    def is_state(self, *states: str) -> NDArray[np.bool_]:
        """Return which rows ended in one of some states."""
        return np.isin(self.state, [STATES.index(state) for state in states])


class Lineage(NamedTuple):
    """How the rows belong together.

    Attributes:
        parent: row of the job that each row continues, int64 [row]; -1: none.
        root: row of the first segment of each row's logical job, int64 [row].
        saved: run time of the logical job that a checkpoint had saved before the row, s, float64 [row].
        restart: what it took the row to read that checkpoint, s, float64 [row].
    """

    parent: Ints
    root: Ints
    saved: Floats
    restart: Floats


def read_lineage(folder: Path, rows: Rows) -> Lineage:
    """Read lineage.csv; without it each row is a job of its own.

    Raises:
        InputError: the file is malformed, names a job that is not there or one twice, or has a circle.
    """
    parent, alone = np.full(len(rows), -1, dtype=np.int64), np.arange(len(rows))
    saved, restart = np.zeros((2, len(rows)))

    def take(line: Mapping[str, str]) -> None:
        workload, other = line["workload_name"], line["parent"]
        row = rows.row_of[f"{workload}!{line['job_id']}"]
        if parent[row] >= 0:
            raise ValueError
        parent[row] = rows.row_of[other if "!" in other else f"{workload}!{other}"]
        saved[row], restart[row] = float(line.get("saved", 0)), float(line.get("restart", 0))

    _each_line(folder / LINEAGE, {"job_id", "workload_name", "parent"}, "jobs of the jobs file, each once", take)
    root, above = alone, np.where(parent < 0, alone, parent)
    for _ in range(len(rows).bit_length() + 1):
        # Each round doubles how far up a row has looked.
        root, above = above, above[above]
    if (parent[root] >= 0).any():
        raise InputError("jobs continue each other in a circle", source=str(folder / LINEAGE))
    return Lineage(parent, root, saved, restart)


class Units(NamedTuple):
    """How many units of each row's job are on each of its hosts.

    Attributes:
        slots: int64 [slot], along the hosts of each row in ascending order.
        offsets: where the slots of each row begin, int64 [row + 1].
        listed: (row, hosts that units.csv names) in the order of that file.
    """

    slots: Ints
    offsets: Ints
    listed: list[tuple[int, str | None]]

    @property
    def held(self) -> Ints:
        """Units of each row's job in all, int64 [row]."""
        if not self.listed:
            return np.diff(self.offsets)
        total = np.concatenate(([0], np.cumsum(self.slots)))
        return np.asarray(total[self.offsets[1:]] - total[self.offsets[:-1]])

    def of(self, row: int) -> Ints:
        """Return the units on each host of a row's job, int64 [host of it]."""
        return self.slots[self.offsets[row] : self.offsets[row + 1]]


def read_units(folder: Path, rows: Rows) -> Units:
    """Read units.csv; a job that is not in it has one unit on each host.

    Raises:
        InputError: the file is malformed, or names a job that is not there or has another number of hosts.
    """
    offsets, path = np.concatenate(([0], np.cumsum(rows.hosts.sizes))), folder / UNITS
    if not path.exists():
        # A view of a single number: millions of slots would otherwise be written out for nothing.
        return Units(np.broadcast_to(np.int64(1), (int(offsets[-1]),)), offsets, [])
    units = Units(np.ones(int(offsets[-1]), dtype=np.int64), offsets, [])
    row_of = {name: row for row, name in reversed(list(enumerate(rows.ids)))}

    def take(line: Mapping[str, str]) -> None:
        row, counts = row_of[line["job_id"]], line["units"].split()
        right = all(part.isascii() and part.isdigit() and len(part) <= 9 and int(part) for part in counts)
        if not right or len(counts) != len(units.of(row)):
            raise ValueError
        units.of(row)[:] = [int(part) for part in counts]
        units.listed.append((row, line.get("allocated_resources")))

    _each_line(path, {"job_id", "units"}, "a job of the jobs file and its units on each of its hosts", take)
    return units
