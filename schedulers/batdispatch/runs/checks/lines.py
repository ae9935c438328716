"""The files of a run line by line, without what a clock or the engine says of itself, and where two of them differ."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import msgspec

from batdispatch.audit.findings import Violation, is_amount, short
from batdispatch.inputs.files import MAX_BYTES, read_all
from batdispatch.parts.solving.account import MEASURED_FIELDS
from batdispatch.results.decisions import PLANS

KIND = "decision"
SCHEDULE = "schedule.csv"
#: Columns of schedule.csv that say what simulated, and how long that took.
_OF_THE_ENGINE = ("batsim_version", "scheduling_time", "simulation_time")
_ENDINGS = ("", ".xz", ".gz")


def find(folder: Path, name: str) -> Path | None:
    """Return a file of a run, plain or packed; None: it is not there."""
    return next((path for ending in _ENDINGS if (path := folder / f"{name}{ending}").is_file()), None)


def lines_of(path: Path, name: str) -> list[str]:
    """Return the lines of a file of a run, which may be packed, without what a clock or the engine says of itself."""
    text = read_all(path, limit=MAX_BYTES)[0].decode(errors="replace")
    if name == SCHEDULE:
        rows = csv.DictReader(io.StringIO(text))
        return [f"{key}={value}" for row in rows for key, value in row.items() if key not in _OF_THE_ENGINE]
    lines = text.splitlines(keepends=True)
    return [without_times(line) for line in lines] if name == PLANS else lines


def without_times(line: str | bytes) -> str:
    """Return a line of solver.jsonl without the times that a clock measured; none of these is below 0."""
    try:
        facts = msgspec.json.decode(line, type=dict[str, Any])
    except msgspec.MsgspecError:
        return str(line)
    kept = {key: value for key, value in facts.items() if key not in MEASURED_FIELDS or not is_amount(value)}
    return msgspec.json.encode(kept).decode()


def first_difference(name: str, one: Iterable[str], other: Iterable[str], how: str) -> Iterator[Violation]:
    """Yield the first line of a file that differs.

    Args:
        name: of the file.
        one: its lines in the run's folder.
        other: its lines when the run was made again.
        how: that was made again, for the message.
    """
    for number, (line, again) in enumerate(zip_longest(one, other, fillvalue="nothing"), start=1):
        if line != again:
            job = line.partition(",")[0] if name == "jobs.csv" else ""
            found, due = (short(text.rstrip("\n"), 160) for text in (line, again))
            yield Violation(KIND, f"{name}, line {number}, is {found}; {how} again, it is {due}", job=job)
            return
