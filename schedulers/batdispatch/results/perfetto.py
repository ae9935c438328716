"""Runs as a trace that Perfetto and chrome://tracing show: each host a track, each job a slice on every host it held.

The form is the Trace Event Format's JSON (N. Duca, D. Sinclair: Trace Event Format, 2016), with times in microseconds.
A run is a process; hosts are its threads; the queue and the busy hosts are counters. Slices of a thread must not
overlap, so where jobs share a host, it has as many threads as it had jobs at a time.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from batdispatch.core.errors import InputError
from batdispatch.core.job import FINAL_STATES
from batdispatch.inputs.files import replacing
from batdispatch.results.runs import Run

#: Most slices of a file: Perfetto takes a while to open more.
MAX_SLICES = 3_000_000
_ENCODER = msgspec.json.Encoder()
#: Threads of one host follow each other.
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
    with replacing(path) as file:
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
    columns = run.columns
    rows = np.flatnonzero(columns.ran)
    rows = rows[np.argsort(columns.starting_time[rows], kind="stable")]
    jobs = columns.take(rows)
    bounds = jobs.hosts.bounds()
    #: Host -> (end, lane) of its lanes, the one that ends first on top.
    lanes: dict[int, list[tuple[float, int]]] = {}
    for row in range(len(jobs)):
        start, finish = float(jobs.starting_time[row]), float(jobs.finish_time[row])
        told = {
            "submitted": float(jobs.submission_time[row]),
            "waited": float(jobs.waiting_time[row]),
            "asked for": int(jobs.requested_number_of_resources[row]),
            "ended": FINAL_STATES[jobs.final_state[row]].value,
        }
        if np.isfinite(jobs.requested_time[row]):
            told["walltime"] = float(jobs.requested_time[row])
        for place in range(bounds[row], bounds[row + 1]):
            for host in range(int(jobs.hosts.first[place]), int(jobs.hosts.last[place]) + 1):
                free = lanes.setdefault(host, [])
                if free and free[0][0] <= start:
                    lane = heapq.heappop(free)[1]
                else:
                    lane = len(free)
                    thread = host * _LANES + lane
                    name = f"host {host}" if lane == 0 else f"host {host}, beside"
                    yield {"ph": "M", "pid": process, "tid": thread, "name": "thread_name", "args": {"name": name}}
                    about = {"sort_index": thread}
                    yield {"ph": "M", "pid": process, "tid": thread, "name": "thread_sort_index", "args": about}
                heapq.heappush(free, (finish, lane))
                yield {
                    "ph": "X",
                    "pid": process,
                    "tid": host * _LANES + lane,
                    "name": str(jobs.job_id[row]),
                    "ts": _micro(start),
                    "dur": _micro(finish) - _micro(start),
                    "args": told,
                }


def _micro(seconds: float) -> int:
    return round(float(seconds) * 1e6)
