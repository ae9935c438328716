"""The jobs file of a run, read as columns: Batsim 4's, Batsim 5's, the embedded engine's, or an older Batsim's."""

from __future__ import annotations

import csv
import gzip
import io
import lzma
import math
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import FINAL_STATES, JobState
from batdispatch.core.jobs.job_table import COLUMNS, SCHEMA, Floats, Form, JobTable, Texts
from batdispatch.results.cells import Cells, cells_of, kept_once

#: Largest jobs file read, in bytes after decompression: one row per job, so far beyond 10 million jobs.
MAX_BYTES = 2 << 30
#: Bytes that are taken apart together: what is in between stays in the processor's cache.
BYTES = 1 << 20
#: Rows that are lists of texts at the same time: with sixty times as many, reading takes twice as long.
BLOCK = 256

_NUMBERS = tuple(column.name for column in SCHEMA if column.form.is_number)
_REQUIRED = tuple(column.name for column in SCHEMA if column.is_required)
#: Columns of texts that each row has one of its own.
_OWN_TEXTS = tuple(column.name for column in SCHEMA if column.form is Form.TEXT)
#: Names that Batsim 1 to 3 gave to today's columns.
_OLD_NAMES = {
    "jobID": "job_id",
    "requested_number_of_processors": "requested_number_of_resources",
    "allocated_processors": "allocated_resources",
}
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.ASCII | re.IGNORECASE)
_TEXT = np.dtypes.StringDType()
_STATES = {state.value: position for position, state in enumerate(FINAL_STATES)}
_UNKNOWN = -1
#: Follows the last line: a quote that was never closed swallows it.
_END = "\0end\n"


def read_columns(path: Path) -> JobTable:
    """Read a jobs file, plain or compressed (``.xz``, ``.gz``).

    Profiles are named without their workload, as Batsim 4 does. In files that lack the column `final_state`, it follows
    from success and the times; times that follow from others are computed where they are missing.

    Time: some 2.5 CPU-seconds per million rows as Batsim writes them; 6 where quotes and line ends differ, or where
    nothing was built in C.
    Memory: some 200 bytes per row.

    Raises:
        InputError: the file is no jobs file, a column is missing or a value is not what its column holds; the message
            says the line. Whether the values agree with each other is for the audit.
    """
    # Columns are made for as many rows as there may be, and filled: to put parts together takes twice the memory.
    most = _count_lines(path)
    count = 0
    with _reading(path) as (header, blocks):
        numbers = {name: np.empty(most) for name in header if name in _NUMBERS}
        texts = {name: np.empty(most, dtype=_type(name)) for name in header if name in COLUMNS and name not in numbers}
        shared: dict[str, str] = {}
        for block in blocks:
            part = slice(count, count + len(block))
            try:
                found = block.numbers(_numbers)
            except ValueError:
                _explain(path, header)
                raise InputError("a row is malformed", source=str(path)) from None
            for index, column in enumerate(numbers.values()):
                column[part] = found[:, index]
            for name, told in texts.items():
                place = header.index(name)
                told[part] = block.texts(place) if name in _OWN_TEXTS else block.shared_texts(place, shared)
            count += len(block)
    return _complete(
        {name: column[:count] for name, column in numbers.items()},
        {name: told[:count] for name, told in texts.items()},
        path,
    )


def _type(name: str) -> np.dtype[Any]:
    """Return the type of a column of texts."""
    return _TEXT if name in _OWN_TEXTS else np.dtype(np.object_)


def _count_lines(path: Path) -> int:
    """Return the number of lines of a jobs file, or more, since a line may end in two ways.

    Raises:
        InputError: the file cannot be read as such.
    """
    with _opened(path) as file:
        parts = iter(partial(file.read, 1 << 20), b"")
        return 1 + sum(part.count(b"\n") + part.count(b"\r") for part in parts)


def _open(path: Path) -> IO[bytes]:
    if path.suffix == ".xz":
        return cast("IO[bytes]", lzma.open(path, "rb"))
    if path.suffix == ".gz":
        return cast("IO[bytes]", gzip.open(path, "rb"))
    return path.open("rb")


class _Bounded(io.RawIOBase):
    """A file of at most `MAX_BYTES`."""

    def __init__(self, file: IO[bytes], path: Path) -> None:
        self._file = file
        self._path = path
        self._seen = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        self._seen += len(data)
        if self._seen > MAX_BYTES:
            raise InputError(f"larger than {MAX_BYTES} bytes, which no jobs file is", source=str(self._path))
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def _opened(path: Path) -> Iterator[io.BufferedReader]:
    """Open a jobs file, and say what is wrong with it where it cannot be decompressed or is no text.

    Raises:
        InputError: the file cannot be read as such.
    """
    try:
        with _open(path) as file:
            yield io.BufferedReader(_Bounded(file, path), 1 << 20)
    except (lzma.LZMAError, gzip.BadGzipFile, zlib.error, EOFError) as problem:
        raise InputError(f"cannot be decompressed: {problem}", source=str(path)) from None
    except UnicodeDecodeError as problem:
        raise InputError(f"not UTF-8 text: {problem.reason}", source=str(path)) from None


class _Odd:
    """Rows as the csv module reads them."""

    def __init__(self, rows: list[list[str]], columns: int, numbers: list[int]) -> None:
        self._wrong = any(len(row) != columns for row in rows)
        self._rows, self._numbers = rows, numbers

    def __len__(self) -> int:
        return len(self._rows)

    def numbers(self, read: Callable[[Sequence[str]], Floats]) -> Floats:
        """Return the numbers, float64 [row, column of numbers], NaN for empty fields; see `Cells.numbers`.

        Raises:
            ValueError: as `read`, or a row has too few or too many fields.
        """
        if self._wrong:
            raise ValueError
        return np.stack([read(self.texts(column)) for column in self._numbers], axis=1)

    def texts(self, column: int) -> list[str]:
        """Return the texts in a column."""
        return [row[column] for row in self._rows]

    def shared_texts(self, column: int, known: dict[str, str]) -> list[str]:
        """Return the texts in a column, as `Cells.shared_texts` does."""
        return kept_once(self.texts(column), known)


@contextmanager
def _reading(path: Path) -> Iterator[tuple[list[str], Iterator[Cells | _Odd]]]:
    """Open a jobs file; give its header, and its rows in blocks.

    Raises:
        InputError: the file cannot be read as such, or its header lacks what is needed.
    """
    with _opened(path) as stream:
        first, *others = stream.readline().splitlines() or [b""]
        header = _header(first.decode("utf-8-sig"), path)
        # Where lines end in another way, more than the first one may have been read.
        yield header, _odd_blocks(path, header, 1) if others else _blocks(path, stream, header)


def _blocks(path: Path, stream: IO[bytes], header: list[str]) -> Iterator[Cells | _Odd]:
    """Yield the rows below the header, from the first block on that is not plain those of the csv module."""
    line, rest, over = 1, b"", False
    words = [place for place, name in enumerate(header) if name in COLUMNS and name not in _NUMBERS]
    while not over:
        # A line that is longer than a block asks for ever more of the file at once.
        data = stream.read(max(BYTES, len(rest)))
        over = not data
        block = rest + data
        if over and block:
            block += b"\n"
        cut = block.rfind(b"\n") + 1
        block, rest = block[:cut], block[cut:]
        if not block:
            continue
        cells = cells_of(block, len(header), _number_places(header), words)
        if cells is None:
            yield from _odd_blocks(path, header, line)
            return
        yield cells
        line += len(cells)


def _number_places(header: list[str]) -> list[int]:
    """Return where the columns of numbers are."""
    return [place for place, name in enumerate(header) if name in _NUMBERS]


def _odd_blocks(path: Path, header: list[str], line: int) -> Iterator[_Odd]:
    """Yield the rows below a line that ends a row of a plain file, as the csv module reads them."""
    rows = _rows(path, line)
    while block := [row for _, row in islice(rows, BLOCK)]:
        yield _Odd(block, len(header), _number_places(header))


def _rows(path: Path, below: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows below a line that ends a row, as the csv module reads them, each with the line that it ends in.

    Raises:
        InputError: they are no rows, or the last one does not end.
    """
    over = False

    def lines(text: io.TextIOWrapper) -> Iterator[str]:
        nonlocal over
        yield from text
        over = True
        yield _END

    # csv refuses longer fields; the hosts of a job on a large machine may take more.
    usual = csv.field_size_limit(MAX_BYTES)
    try:
        with _opened(path) as file:
            text = io.TextIOWrapper(file, "utf-8-sig", newline="")
            for _ in range(below):
                text.readline()
            reader = csv.reader(lines(text))
            for row in reader:
                line = below + reader.line_num
                if over and row != [_END.rstrip()]:
                    raise InputError("ends inside a quoted field", source=str(path), place=f"line {line - 1}")
                if not over and _is_row(row):
                    yield line, row
    except csv.Error as problem:
        raise InputError(str(problem), source=str(path), place=f"line {below + reader.line_num}") from None
    finally:
        csv.field_size_limit(usual)


def _is_row(row: list[str]) -> bool:
    """Return whether a line of the file is more than blank."""
    return len(row) > 1 or bool(row and row[0].strip())


def _header(first: str, path: Path) -> list[str]:
    if not first:
        raise InputError(
            "empty; a jobs file starts with a line of column names (Batsim leaves it empty when it stops on an error)",
            source=str(path),
        )
    header = [_OLD_NAMES.get(name, name) for name in first.split(",")]
    missing = [name for name in _REQUIRED if name not in header]
    if missing:
        raise InputError(
            f"column {missing[0]} is missing, found {first[:200]!r}; expected Batsim's jobs.csv",
            source=str(path),
            place="line 1",
        )
    if len(set(header)) != len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise InputError(f"column {twice} is there twice", source=str(path), place="line 1")
    return header


def _numbers(texts: Sequence[str]) -> Floats:
    """Return numbers, NaN for empty texts.

    Raises:
        ValueError: a text is no number, or one as only Python writes it.
    """
    try:
        values = np.array(list(map(float, texts)))
    except ValueError:
        values = np.array([float(text) if text else math.nan for text in texts])
    everything = "".join(texts)
    if "_" in everything or not everything.isascii():
        raise ValueError
    if any(texts[row] for row in np.flatnonzero(np.isnan(values)).tolist()):
        raise ValueError
    return values


def _explain(path: Path, header: Sequence[str]) -> None:
    """Raise for the first row with a wrong number of fields or a text where a number belongs."""
    for line, row in _rows(path, 1):
        if len(row) != len(header):
            raise InputError(
                f"{len(row)} fields, expected {len(header)}",
                source=str(path),
                place=f"line {line}, job {row[0][:80]!r}",
            )
        for name, value in zip(header, row, strict=True):
            if name in _NUMBERS and value and not _NUMBER.fullmatch(value.strip()):
                raise InputError(
                    f"{name}: {value[:80]!r} is not a number",
                    source=str(path),
                    place=f"line {line}, job {row[header.index('job_id')][:80]!r}",
                )


def _complete(values: dict[str, Floats], texts: dict[str, Texts], path: Path) -> JobTable:
    """Check each column's values, fill in the columns that older files lack, and settle the types."""
    count = len(texts["job_id"])
    for name in COLUMNS:
        if name in _NUMBERS:
            values.setdefault(name, np.full(count, np.nan))
        else:
            texts.setdefault(name, np.full(count, "", dtype=_type(name)))
    success, asked = values["success"], values["requested_time"]
    start, finish, submission = values["starting_time"], values["finish_time"], values["submission_time"]
    size = values["requested_number_of_resources"]
    asked = np.where(np.isnan(asked), -1.0, asked)
    if any(texts["final_state"]):
        state = np.array([_STATES.get(text, _UNKNOWN) for text in texts["final_state"]], dtype=np.int8)
    else:
        state = _concluded(start, finish, asked, success)
    rejected = state == _STATES[JobState.REJECTED]

    def check(wrong: NDArray[np.bool_], column: str, expected: str) -> None:
        if wrong.any():
            row = int(np.argmax(wrong))
            line = next((line for i, (line, _) in enumerate(_rows(path, 1)) if i == row), row + 2)
            found = texts[column][row] if column in texts else float(values[column][row])
            raise InputError(
                f"{column}: found {str(found)[:80]!r}, expected {expected}",
                source=str(path),
                place=f"line {line}, job {texts['job_id'][row][:80]!r}",
            )

    check(texts["job_id"] == "", "job_id", "a job's id")
    check(state == _UNKNOWN, "final_state", "one of " + ", ".join(FINAL_STATES))
    check(~np.isin(success, (0.0, 1.0)) & ~(rejected & np.isnan(success)), "success", "0 or 1")
    check(~(np.isfinite(submission) & (submission >= 0)), "submission_time", "seconds, 0 or more")
    whole = (size >= 1) & (size == np.floor(size)) & (size < 2**53)
    check(~whole, "requested_number_of_resources", "a whole number, 1 or more")
    check((asked < 0) & (asked != -1), "requested_time", "seconds, or -1 for none")
    for name in ("starting_time", "finish_time"):
        check(~rejected & ~np.isfinite(values[name]), name, "seconds, since the job was not rejected")
    derived: dict[str, Callable[[], Floats]] = {
        "execution_time": lambda: finish - start,
        "waiting_time": lambda: start - submission,
        "turnaround_time": lambda: finish - submission,
        "stretch": lambda: (finish - submission) / (finish - start),
    }
    for name, derive in derived.items():
        if np.isnan(values[name]).all():
            with np.errstate(invalid="ignore", divide="ignore"):
                values[name] = derive()
    profiles = texts["profile"]
    if any("!" in text for text in set(profiles)):
        # Batsim 5 writes workload!profile.
        pairs = zip(profiles, texts["workload_name"], strict=True)
        profiles = np.array([name.removeprefix(f"{workload}!") for name, workload in pairs], dtype=np.object_)
    settled: dict[str, Any] = {
        "profile": profiles,
        "requested_number_of_resources": size.astype(np.int64),
        "requested_time": np.where(asked < 0, math.inf, asked),
        "success": success == 1,
        "final_state": state,
    }
    return JobTable(**{**values, **texts, **settled})


def _concluded(start: Floats, finish: Floats, asked: Floats, success: Floats) -> NDArray[np.int8]:
    """Return the final states that a file without them means."""
    at_walltime = (asked > 0) & (finish - start >= asked)
    states = (JobState.REJECTED, JobState.COMPLETED_SUCCESSFULLY, JobState.COMPLETED_WALLTIME_REACHED)
    found = np.select(
        [np.isnan(start), success == 1, at_walltime],
        [_STATES[state] for state in states],
        _STATES[JobState.COMPLETED_FAILED],
    )
    return found.astype(np.int8)
