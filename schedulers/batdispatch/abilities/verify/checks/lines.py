"""The files of a run line by line, without what a clock or the engine says of itself, and where two of them differ."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Any

import msgspec

from batdispatch.abilities.verify.audit.findings import Violation, is_amount, short
from batdispatch.inputs.files import MAX_BYTES, read_all
from batdispatch.results.decisions import CLOCKED_FIELDS, PLANS, TIMES
from batdispatch.results.run_files import RECORDING

KIND = "decision"
SCHEDULE = "schedule.csv"
#: Columns of schedule.csv that say what simulated, and how long that took.
_OF_THE_ENGINE = ("batsim_version", "scheduling_time", "simulation_time")


def lines_of(path: Path, name: str) -> Iterable[str]:
    """Return the lines of a file of a run, which may be packed, without what a clock or the engine says of itself."""
    if name == RECORDING:
        # The longest of all files, which is never packed.
        return _lines_in(path)
    text = read_all(path, limit=MAX_BYTES)[0].decode(errors="replace")
    lines = text.splitlines(keepends=True)
    if name == SCHEDULE:
        # What is no table differs anyway.
        with suppress(csv.Error):
            rows = csv.DictReader(lines)
            return [f"{key}={value}" for row in rows for key, value in row.items() if key not in _OF_THE_ENGINE]
    if name == TIMES:
        return [line.partition(",")[0] for line in lines]
    return [without_times(line) for line in lines] if name == PLANS else lines


def _lines_in(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        yield from map(_frame, file)


def moments_in(path: Path) -> Iterator[str]:
    """Yield the times of the messages in a recording of our own, but the last, as decision_times.csv writes them."""
    begin = b'{"dir": "batsim->sched", "raw": "{\\"now\\":'
    with path.open("rb") as file:
        told = (line[len(begin) :] for line in file if line.startswith(begin))
        yield from (text[: text.index(b",")].decode() for text, _ in pairwise(told))


def _frame(line: bytes) -> str:
    """Return a line of a recording in one way of writing it, without the path that the workload was read from."""
    try:
        sent = msgspec.json.decode(line, type=dict[str, str])
        frame = msgspec.json.decode(sent["raw"])
        for event in frame["events"]:
            if event["type"] == "SIMULATION_BEGINS":
                event["data"]["workloads"] = list(event["data"]["workloads"])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, LookupError, TypeError):
        return line.decode(errors="replace")
    return msgspec.json.encode({**sent, "raw": frame}, order="sorted").decode()


def without_times(line: str | bytes) -> str:
    """Return a line of solver.jsonl without the times that a clock measured; none of these is below 0."""
    try:
        facts = msgspec.json.decode(line, type=dict[str, Any])
    except msgspec.MsgspecError:
        return str(line)
    kept = {key: value for key, value in facts.items() if key not in CLOCKED_FIELDS or not is_amount(value)}
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
            # Of a long line, what stands around the place where the two part.
            differ = (at for at, pair in enumerate(zip(line, again, strict=False)) if pair[0] != pair[1])
            begin = max(0, next(differ, min(len(line), len(again))) - 80)
            found, due = (short(text[begin:].rstrip("\n"), 160) for text in (line, again))
            yield Violation(KIND, f"{name}, line {number}, is {found}; {how} again, it is {due}", job=job)
            return
