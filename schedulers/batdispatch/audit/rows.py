"""The rows of a jobs file as columns, with units.csv and lineage.csv, which say what the rows mean."""

from __future__ import annotations

import csv
import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.audit.hosts import Floats, HostSets, Ints, read_host_sets
from batdispatch.audit.words import FAILED, LINEAGE, NO_TIME, REJECTED, STATES, SUCCESS, UNITS, WALLTIME
from batdispatch.core.errors import InputError

#: Batsim 4's columns, in its order.
COLUMNS = [
    "job_id",
    "workload_name",
    "profile",
    "submission_time",
    "requested_number_of_resources",
    "requested_time",
    "success",
    "final_state",
    "starting_time",
    "execution_time",
    "finish_time",
    "waiting_time",
    "turnaround_time",
    "stretch",
    "allocated_resources",
    "consumed_energy",
    "metadata",
]
_TEXTS = ("job_id", "workload_name", "profile", "final_state", "allocated_resources", "metadata")
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
            yield from filter(None, csv.reader(_text(raw)))
    except _BROKEN as problem:
        raise InputError(f"cannot be read: {problem}", source=str(path)) from None
    finally:
        csv.field_size_limit(usual)


def _text(raw: IO[bytes]) -> io.TextIOWrapper:
    return io.TextIOWrapper(raw, "utf-8-sig", newline="")


def read_table(path: Path) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a table.

    Raises:
        InputError: it cannot be read as a table, or has no header.
    """
    lines = list(read_csv(path))
    if not lines:
        raise InputError("is empty", source=str(path))
    return lines[0], lines[1:]


class Rows:
    """The columns of a jobs file. Times are seconds, float64 [row], NaN where a rejected job has none.

    Attributes:
        header: names of the columns as they stand in the file.
        ids: name of each row's job.
        workloads: name of its workload.
        profiles: name of its profile, without the workload.
        metadata: what the dispatcher noted about it.
        places: its hosts, in Batsim's notation.
        hosts: the same, read.
        states: its final state.
        state: position of that in `STATES`, int8 [row].
        ran: whether it was not rejected, bool [row].
        success: bool [row].
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
        texts: dict[str, list[str]] = {name: [] for name in COLUMNS if name in _TEXTS}
        numbers: dict[str, list[Floats]] = {name: [] for name in COLUMNS if name not in _TEXTS}
        shared: dict[str, str] = {}
        while block := list(islice(lines, _BLOCK)):
            self._take(block, texts, numbers, shared)
        values = {name: np.concatenate(parts or [np.zeros(0)]) for name, parts in numbers.items()}
        self._settle(texts, values)

    def _take(
        self,
        block: list[list[str]],
        texts: dict[str, list[str]],
        numbers: dict[str, list[Floats]],
        shared: dict[str, str],
    ) -> None:
        """Add some rows to the columns; texts that many rows share are kept once."""
        try:
            columns = dict(zip(self.header, zip(*block, strict=True), strict=True))
            for name, column in texts.items():
                found = columns.get(name, ("",) * len(block))
                column += found if name == "job_id" else [shared.setdefault(text, text) for text in found]
            for name, parts in numbers.items():
                given = columns.get(name, ("",) * len(block))
                parts.append(np.array([text or "nan" for text in given], dtype=np.float64))
        except ValueError as problem:
            raise InputError(f"a row is malformed: {problem}", source=str(self._path)) from None

    def _settle(self, texts: dict[str, list[str]], values: dict[str, Floats]) -> None:
        """Give the columns their names and types; what older files lack follows from the rest."""
        self.ids, self.workloads = texts["job_id"], texts["workload_name"]
        pairs = zip(texts["profile"], self.workloads, strict=True)
        self.profiles = [name.removeprefix(f"{workload}!") if "!" in name else name for name, workload in pairs]
        self.metadata, self.places = texts["metadata"], texts["allocated_resources"]
        self.submission, self.start, self.finish = (
            values[name] for name in ("submission_time", "starting_time", "finish_time")
        )
        asked = values["requested_time"]
        self.walltime = np.where(np.isnan(asked) | (asked < 0), np.inf, asked)
        self.states = texts["final_state"]
        if not any(self.states):
            self.states = self._concluded(values["success"])
        self._check(values)
        self.state = np.array([STATES.index(state) for state in self.states], dtype=np.int8)
        self.ran = self.state != STATES.index(REJECTED)
        self.success = values["success"] == 1
        self.size = values["requested_number_of_resources"].astype(np.int64)
        self.left = np.where(np.abs(self.finish - self.start - NO_TIME) < 5e-7, self.start, self.finish)
        self.energy = values["consumed_energy"]
        self.execution, self.waiting, self.turnaround, self.stretch = (
            values[name] for name in ("execution_time", "waiting_time", "turnaround_time", "stretch")
        )
        try:
            self.hosts: HostSets = read_host_sets(self.places)
        except InputError as problem:
            name = self.ids[int(problem.place or 0)]
            raise InputError(problem.message, source=str(self._path), place=f"job {name!r}") from None

    def _concluded(self, success: Floats) -> list[str]:
        """Return the final states that a file without them means."""
        at_walltime = self.finish - self.start >= self.walltime
        chosen = np.select([np.isnan(self.start), success == 1, at_walltime], [REJECTED, SUCCESS, WALLTIME], FAILED)
        return list(map(str, chosen.tolist()))

    def _check(self, values: dict[str, Floats]) -> None:
        """Refuse rows with which nothing can be worked out."""
        size = values["requested_number_of_resources"]
        rejected = np.array([state == REJECTED for state in self.states], dtype=bool)
        known = np.array([state in STATES for state in self.states], dtype=bool)
        for wrong, expected in (
            (~known, f"a final state, one of {', '.join(STATES)}"),
            (~(np.isfinite(self.submission) & (self.submission >= 0)), "a submission time, 0 or more"),
            (~((size >= 1) & (size == np.floor(size)) & (size < 2**53)), "a whole number of resources, 1 or more"),
            (~rejected & ~(np.isfinite(self.start) & np.isfinite(self.finish)), "a start and an end"),
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

    @property
    def joined(self) -> bool:
        """Whether any row continues another."""
        return bool((self.parent >= 0).any())


def read_lineage(folder: Path, rows: Rows) -> Lineage:
    """Read lineage.csv; without it each row is a job of its own.

    Raises:
        InputError: the file is malformed, names a job that is not there or one twice, or has a circle.
    """
    parent, alone = np.full(len(rows), -1, dtype=np.int64), np.arange(len(rows))
    times = np.zeros((2, len(rows)))
    path = folder / LINEAGE
    if not path.exists():
        return Lineage(parent, alone, *times)
    header, lines = read_table(path)
    if header not in (usual := ["job_id", "workload_name", "parent"], [*usual, "saved", "restart"]):
        raise InputError(f"found columns {','.join(header)[:80]!r}", source=str(path), place="line 1")
    for number, line in enumerate(lines, start=2):
        try:
            name, workload, other, *resumed = line
            row = rows.row_of[f"{workload}!{name}"]
            if parent[row] >= 0 or len(line) != len(header):
                raise ValueError
            parent[row] = rows.row_of[other if "!" in other else f"{workload}!{other}"]
            times[: len(resumed), row] = [float(text) for text in resumed]
        except (KeyError, ValueError):
            message = f"found {','.join(line)[:80]!r}, expected jobs of the jobs file, each once"
            raise InputError(message, source=str(path), place=f"line {number}") from None
    root = alone
    above = np.where(parent < 0, alone, parent)
    for _ in range(len(rows).bit_length() + 1):
        # Each round doubles how far up a row has looked.
        root, above = above, above[above]
        if (root == above).all():
            break
    if (parent[root] >= 0).any():
        raise InputError("jobs continue each other in a circle", source=str(path))
    return Lineage(parent, root, *times)


class Units(NamedTuple):
    """How many units of each row's job are on each of its hosts.

    Attributes:
        slots: int64 [slot], along the hosts of each row in ascending order.
        offsets: where the slots of each row begin, int64 [row + 1].
        listed: (name of a job, hosts that units.csv names) in the order of that file.
    """

    slots: Ints
    offsets: Ints
    listed: list[tuple[str, str | None]]

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
    sizes = rows.hosts.sizes
    offsets, path = np.concatenate(([0], np.cumsum(sizes))), folder / UNITS
    if not path.exists():
        # A view of a single number: millions of slots would otherwise be written out for nothing.
        return Units(np.broadcast_to(np.int64(1), (int(offsets[-1]),)), offsets, [])
    units = Units(np.ones(int(offsets[-1]), dtype=np.int64), offsets, [])
    header, lines = read_table(path)
    if not {"job_id", "units"} <= set(header):
        raise InputError(f"found columns {header[:10]}, expected job_id, allocated_resources, units", source=str(path))
    row_of = {name: row for row, name in reversed(list(enumerate(rows.ids)))}
    for number, line in enumerate(lines, start=2):
        fields = dict(zip(header, line, strict=False))
        row, counts = row_of.get(fields.get("job_id", ""), -1), fields.get("units", "").split()
        right = all(part.isascii() and part.isdigit() and len(part) <= 9 and int(part) for part in counts)
        if row < 0 or not right or len(counts) != sizes[row] or len(line) != len(header):
            message = (
                f"found {','.join(line)[:80]!r}, expected a job of the jobs file and its units on each of its hosts"
            )
            raise InputError(message, source=str(path), place=f"line {number}")
        units.of(row)[:] = [int(part) for part in counts]
        units.listed.append((fields["job_id"], fields.get("allocated_resources")))
    return units
