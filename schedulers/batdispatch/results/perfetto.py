"""Runs as a trace that Perfetto and chrome://tracing show: each host a track, each job a slice on every host it held.

The form is the Trace Event Format's JSON (N. Duca, D. Sinclair: Trace Event Format, 2016), with times in microseconds.
A run is a process; hosts are its threads; the queue and the busy hosts are counters. Slices of a thread must not
overlap, so where jobs share a host, it has as many threads as it had jobs at a time. An arrow (a flow) leads from each
segment of a logical job to the one that continues it.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import FINAL_STATES
from batdispatch.inputs.files import replace_file
from batdispatch.results.runs import Run

#: Most slices of a file: Perfetto takes a while to open more.
MAX_SLICES = 3_000_000
_ENCODER = msgspec.json.Encoder()
#: Threads of one host follow each other; the first host's are numbered from here on, since viewers take a thread
#: with the number of its process for that process's main thread.
_LANES = 1000


def write_perfetto(runs: Sequence[Run], path: Path) -> int:
    """Write runs as a trace, compressed if the name ends in .gz, and return the number of slices.

    The same runs give the same bytes.

    Raises:
        InputError: there would be more than `MAX_SLICES`.
    """
    slices = sum(int(run.columns.take(run.columns.ran).hosts.sizes.sum()) for run in runs)
    if slices > MAX_SLICES:
        raise InputError(
            f"a trace has a slice for each host of each job, {slices:,} here, expected at most {MAX_SLICES:,}: "
            "take fewer runs, or a part of the log (generate slice)"
        )
    with replace_file(path) as file:
        file.write(b'{"displayTimeUnit":"ms","traceEvents":[')
        before = b"\n"
        for number, run in enumerate(runs, start=1):
            for event in _events(run, number):
                file.write(before + _ENCODER.encode(event))
                before = b",\n"
        file.write(b"\n]}\n")
    return slices


def _events(run: Run, process: int) -> Iterator[dict[str, Any]]:
    yield {"ph": "M", "pid": process, "name": "process_name", "args": {"name": run.label}}
    yield {"ph": "M", "pid": process, "name": "process_sort_index", "args": {"sort_index": process}}
    sample = run.sample
    #: Moment, and how it changes the number of waiting jobs and that of busy hosts.
    moments: list[tuple[float, int, int]] = []
    for begin, end in zip(*sample.waits, strict=True):
        moments += [(begin, 1, 0), (end, -1, 0)]
    for begin, end, held in zip(sample.segment_start, sample.segment_finish, sample.held, strict=True):
        moments += [(begin, 0, int(held)), (end, 0, -int(held))]
    yield from _counters(moments, process)
    yield from _slices(run, process)


def _counters(moments: list[tuple[float, int, int]], process: int) -> Iterator[dict[str, Any]]:
    """Yield the levels after each moment at which one of them changed."""
    moments.sort()
    queue = busy = 0
    for place, (moment, waiting, held) in enumerate(moments):
        queue, busy = queue + waiting, busy + held
        if place + 1 < len(moments) and moments[place + 1][0] == moment:
            continue
        for name, level in (("waiting jobs", queue), ("busy hosts", busy)):
            yield {"ph": "C", "pid": process, "name": name, "ts": _micro(moment), "args": {"value": level}}


def _slices(run: Run, process: int) -> Iterator[dict[str, Any]]:
    columns, lineage = run.columns, run.lineage
    rows = np.flatnonzero(columns.ran)
    rows = rows[np.lexsort((lineage.depth[rows], columns.starting_time[rows]))]
    jobs = columns.take(rows)
    bounds = jobs.hosts.bounds()
    segments = lineage.segments[lineage.job]
    #: Row of a segment -> rows of those that continue it.
    continued: dict[int, list[int]] = {}
    for row in rows[lineage.parent[rows] >= 0].tolist():
        continued.setdefault(int(lineage.parent[row]), []).append(row)
    #: Rows to which arrows lead that have begun.
    led_to: set[int] = set()
    #: Host -> (end, lane) of its lanes, the one that ends first on top.
    lanes: dict[int, list[tuple[float, int]]] = {}
    for place_of_job, row in enumerate(rows.tolist()):
        start, finish = float(jobs.starting_time[place_of_job]), float(jobs.finish_time[place_of_job])
        told: dict[str, Any] = {
            "submitted": float(jobs.submission_time[place_of_job]),
            "waited": float(jobs.waiting_time[place_of_job]),
            "asked for": int(jobs.requested_number_of_resources[place_of_job]),
            "ended": FINAL_STATES[jobs.final_state[place_of_job]].value,
        }
        if np.isfinite(jobs.requested_time[place_of_job]):
            told["walltime"] = float(jobs.requested_time[place_of_job])
        if segments[row] > 1:
            told["segment"] = f"{lineage.depth[row] + 1} of {segments[row]}"
        lowest = -1
        for place in range(bounds[place_of_job], bounds[place_of_job + 1]):
            for host in range(int(jobs.hosts.first[place]), int(jobs.hosts.last[place]) + 1):
                free = lanes.setdefault(host, [])
                new = not free or free[0][0] > start
                lane = len(free) if new else heapq.heappop(free)[1]
                heapq.heappush(free, (finish, lane))
                thread = (host + 1) * _LANES + lane
                lowest = thread if lowest < 0 else min(lowest, thread)
                if new:
                    yield from _thread(process, thread, f"host {host}" if lane == 0 else f"host {host}, beside")
                yield {
                    "ph": "X",
                    "pid": process,
                    "tid": thread,
                    "name": str(jobs.job_id[place_of_job]),
                    "ts": _micro(start),
                    "dur": _micro(finish) - _micro(start),
                    "args": told,
                }
        if lowest < 0:
            continue
        if row in led_to:
            # The arrow ends at the slice around this moment, not at the next one.
            yield {**_flow("f", process, lowest, _micro(start), row), "bp": "e"}
        for child in continued.get(row, ()):
            # It begins within the slice, in its last microsecond.
            yield _flow("s", process, lowest, max(_micro(start), _micro(finish) - 1), child)
            led_to.add(child)


def _thread(process: int, thread: int, name: str) -> Iterator[dict[str, Any]]:
    about = {"ph": "M", "pid": process, "tid": thread}
    yield {**about, "name": "thread_name", "args": {"name": name}}
    yield {**about, "name": "thread_sort_index", "args": {"sort_index": thread}}


def _flow(phase: str, process: int, thread: int, moment: int, child: int) -> dict[str, Any]:
    """Return an end of the arrow to a segment, by its row; viewers join what has the same id, name and category."""
    about = {"ph": phase, "cat": "lineage", "name": "continues", "id": process * 2**32 + child}
    return {**about, "pid": process, "tid": thread, "ts": moment}


def _micro(seconds: float) -> int:
    return round(float(seconds) * 1e6)
