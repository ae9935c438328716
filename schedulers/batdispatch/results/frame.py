"""The jobs file of a run as a typed pandas frame."""

from __future__ import annotations

import csv
import gzip
import io
import lzma
import math
import re
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from batdispatch.core.errors import InputError
from batdispatch.core.job import JobState

#: Largest jobs file read, in bytes after decompression: one row a job, so far beyond 10 million jobs.
MAX_BYTES = 2 << 30

_NUMBERS = (
    "submission_time",
    "requested_number_of_resources",
    "requested_time",
    "success",
    "starting_time",
    "execution_time",
    "finish_time",
    "waiting_time",
    "turnaround_time",
    "stretch",
    "consumed_energy",
)
#: Columns without which nothing can be computed; the others are filled in.
_REQUIRED = (
    "job_id",
    "submission_time",
    "requested_number_of_resources",
    "success",
    "starting_time",
    "finish_time",
    "allocated_resources",
)
#: Names that Batsim 1 to 3 gave to today's columns.
_OLD_NAMES = {
    "jobID": "job_id",
    "requested_number_of_processors": "requested_number_of_resources",
    "allocated_processors": "allocated_resources",
}
#: The columns of the frame, in order.
COLUMNS = (
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
)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.ASCII | re.IGNORECASE)
_FINAL = tuple(state.value for state in JobState if state.is_final)


def read_jobs(path: Path) -> pd.DataFrame:
    """Read the jobs.csv of Batsim 4, Batsim 5, the embedded engine, or an older Batsim (``.xz`` and ``.gz`` too).

    Profiles are named without their workload, as Batsim 4 does.

    Returns:
        One row a job in the order of the file, with `COLUMNS`: text for ids, names, allocations (Batsim's notation)
        and metadata; seconds as float64, NaN where a rejected job has none; requested_time is infinite where no
        walltime was asked for; requested_number_of_resources int64; success bool; final_state one of Batsim's names
        (in files that lack the column it follows from success and the times).

    Raises:
        InputError: the file is no jobs file, a column is missing or a value is not what its column holds; the message
            says the line. Whether the values agree with each other is for the audit.
    """
    text = _read_text(path)
    header = _header(text, path)
    try:
        with warnings.catch_warnings():
            # Of rows that are too long it only warns; the count below finds them.
            warnings.simplefilter("ignore")
            frame = pd.read_csv(
                io.StringIO(text),
                dtype={name: ("float64" if name in _NUMBERS else "str") for name in header},
                names=header,
                skiprows=1,
                keep_default_na=False,
                na_values={name: [""] for name in header if name in _NUMBERS},
                index_col=False,
            )
    except (ValueError, OverflowError) as problem:
        # pandas says which value it stumbled over but not always where.
        _check_rows(text, header, path)
        raise InputError(str(problem).strip(), source=str(path)) from None
    if text.count(",") != (len(header) - 1) * (len(frame) + 1):
        # A short row, or a comma inside quotes: pandas fills short rows up without a word.
        _check_rows(text, header, path)
    return _complete(frame, text, path)


def _open(path: Path) -> IO[bytes]:
    if path.suffix == ".xz":
        return cast("IO[bytes]", lzma.open(path, "rb"))
    if path.suffix == ".gz":
        return cast("IO[bytes]", gzip.open(path, "rb"))
    return path.open("rb")


def _read_text(path: Path) -> str:
    try:
        with _open(path) as file:
            data = file.read(MAX_BYTES + 1)
    except (lzma.LZMAError, gzip.BadGzipFile, zlib.error, EOFError) as problem:
        raise InputError(f"cannot be decompressed: {problem}", source=str(path)) from None
    if len(data) > MAX_BYTES:
        raise InputError(f"larger than {MAX_BYTES} bytes, which no jobs file is", source=str(path))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise InputError(f"not UTF-8 text: {problem.reason} at byte {problem.start}", source=str(path)) from None


def _header(text: str, path: Path) -> list[str]:
    first = text[: text.find("\n") if "\n" in text else len(text)].rstrip("\r")
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


def _rows(text: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield ``(line, fields)`` of the rows below the header, as pandas counts rows."""
    reader = csv.reader(io.StringIO(text))
    try:
        next(reader)
        for row in reader:
            if row:
                yield reader.line_num, row
    except csv.Error as problem:
        raise InputError(str(problem), source=str(path), place=f"line {reader.line_num}") from None


def _check_rows(text: str, header: list[str], path: Path) -> None:
    """Raise for the first row with a wrong number of fields or a text where a number belongs."""
    for line, row in _rows(text, path):
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


def _complete(frame: pd.DataFrame, text: str, path: Path) -> pd.DataFrame:
    """Check each column's values, fill in the columns that older files lack, and settle the types."""
    count = len(frame)
    for name in COLUMNS:
        if name not in frame:
            frame[name] = np.full(count, np.nan) if name in _NUMBERS else pd.Series([""] * count, dtype="str")
    success = frame["success"].to_numpy()
    start, finish = frame["starting_time"].to_numpy(), frame["finish_time"].to_numpy()
    submission = frame["submission_time"].to_numpy()
    size = frame["requested_number_of_resources"].to_numpy()
    asked = np.where(np.isnan(frame["requested_time"].to_numpy()), -1.0, frame["requested_time"].to_numpy())
    state = frame["final_state"].astype("str")
    if (state == "").all():
        at_walltime = (asked > 0) & (finish - start >= asked)
        state = pd.Series(
            np.select(
                [np.isnan(start), success == 1, at_walltime],
                [JobState.REJECTED, JobState.COMPLETED_SUCCESSFULLY, JobState.COMPLETED_WALLTIME_REACHED],
                JobState.COMPLETED_FAILED,
            ),
            dtype="str",
        )
    rejected = (state == JobState.REJECTED).to_numpy()

    def check(wrong: NDArray[np.bool_], column: str, expected: str) -> None:
        if wrong.any():
            row = int(np.argmax(wrong))
            line = next((line for i, (line, _) in enumerate(_rows(text, path)) if i == row), row + 2)
            found = frame[column].iloc[row]
            raise InputError(
                f"{column}: found {str(found)[:80]!r}, expected {expected}",
                source=str(path),
                place=f"line {line}, job {str(frame['job_id'].iloc[row])[:80]!r}",
            )

    check((frame["job_id"] == "").to_numpy(), "job_id", "a job's id")
    check(~state.isin(_FINAL).to_numpy(), "final_state", "one of " + ", ".join(_FINAL))
    check(~np.isin(success, (0.0, 1.0)) & ~(rejected & np.isnan(success)), "success", "0 or 1")
    check(~(np.isfinite(submission) & (submission >= 0)), "submission_time", "seconds, 0 or more")
    whole = (size >= 1) & (size == np.floor(size)) & (size < 2**53)
    check(~whole, "requested_number_of_resources", "a whole number, 1 or more")
    check((asked < 0) & (asked != -1), "requested_time", "seconds, or -1 for none")
    for name, values in (("starting_time", start), ("finish_time", finish)):
        check(~rejected & ~np.isfinite(values), name, "seconds, since the job was not rejected")
    with np.errstate(invalid="ignore", divide="ignore"):
        derived = {
            "execution_time": finish - start,
            "waiting_time": start - submission,
            "turnaround_time": finish - submission,
            "stretch": (finish - submission) / (finish - start),
        }
    for name, values in derived.items():
        if frame[name].isna().all():
            frame[name] = values
    frame["requested_time"] = np.where(asked < 0, math.inf, asked)
    frame["requested_number_of_resources"] = size.astype(np.int64)
    if frame["profile"].str.contains("!", regex=False).any():
        # Batsim 5 writes workload!profile.
        names = zip(frame["profile"], frame["workload_name"], strict=True)
        frame["profile"] = pd.Series([name.removeprefix(f"{workload}!") for name, workload in names], dtype="str")
    frame["success"] = success == 1
    frame["final_state"] = pd.Categorical(state, categories=list(_FINAL))
    return frame[list(COLUMNS)]
