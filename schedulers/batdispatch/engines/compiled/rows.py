"""Rows of jobs.csv as bytes, as `batdispatch.engines.outputs` writes them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.engines.compiled.jit import kernel, part
from batdispatch.engines.compiled.rounding import millionths
from batdispatch.engines.compiled.state import Counts, Floats, Ints

#: Most bytes of a row beside its names and hosts: twelve numbers of up to 27 characters.
ROW = 512
#: Most bytes of a run of hosts.
RUN = 24

Bytes = NDArray[np.uint8]
_ZERO, _POINT, _COMMA, _DASH, _SPACE = ord("0"), ord("."), ord(","), ord("-"), ord(" ")


class Texts(NamedTuple):
    """Texts one behind the other: text i is ``data[at[i]:at[i + 1]]``."""

    data: Bytes
    at: Ints


class Table(NamedTuple):
    """The rows of jobs.csv, in order of completion. Times in seconds."""

    #: Rank of each row's job.
    job: Ints
    names: Texts
    profile_of: Ints
    profiles: Texts
    submission: Floats
    units: Ints
    #: -1: none.
    walltime: Floats
    #: By row: the state, as an index into `states`; the first one is success, the last one means rejected.
    state: Ints
    states: Texts
    #: By rank, as the columns below.
    start: Floats
    end: Floats
    run: Floats
    wait: Floats
    turnaround: Floats
    stretch: Floats
    #: Runs of hosts, see `batdispatch.engines.compiled.simulate.Schedule`.
    at: Ints
    runs: Counts
    first: Counts
    last: Counts
    workload: Bytes
    #: What stands behind the hosts, and what a rejected job has instead of times and hosts: to the end of the row.
    tail: Bytes
    no_times: Bytes


@part
def _text(out: Bytes, at: int, data: Bytes, begin: int, end: int) -> int:
    for index in range(begin, end):
        out[at] = data[index]
        at += 1
    return at


@part
def _comma(out: Bytes, at: int) -> int:
    out[at] = _COMMA
    return at + 1


@part
def _whole(out: Bytes, at: int, number: int) -> int:
    digits = 1
    rest = number // 10
    while rest:
        digits += 1
        rest //= 10
    for index in range(at + digits - 1, at - 1, -1):
        out[index] = _ZERO + number % 10
        number //= 10
    return at + digits


@part
def write_seconds(out: Bytes, at: int, x: float) -> int:
    """Write a number as ``%.6f`` does, and a comma."""
    if x < 0:
        out[at] = _DASH
        at += 1
        x = -x
    whole = np.floor(x)
    fraction = millionths(x - whole)
    if fraction >= 1e6:
        whole += 1.0
        fraction -= 1e6
    at = _whole(out, at, np.int64(whole))
    out[at] = _POINT
    rest = np.int64(fraction)
    for index in range(at + 6, at, -1):
        out[index] = _ZERO + rest % 10
        rest //= 10
    out[at + 7] = _COMMA
    return at + 8


@kernel
def write_rows(table: Table, row: int, out: Bytes) -> tuple[int, int]:
    """Write rows from one on for as long as there is room; return the next row and the number of bytes written."""
    at = 0
    while row < len(table.job):
        job = table.job[row]
        name, profile, state = table.names.at[job], table.profile_of[job], table.state[row]
        name_end = table.names.at[job + 1]
        profile_at, profile_end = table.profiles.at[profile], table.profiles.at[profile + 1]
        needed = ROW + RUN * table.runs[job] + name_end - name + profile_end - profile_at
        if at + needed > len(out):
            break
        at = _comma(out, _text(out, at, table.names.data, name, name_end))
        at = _comma(out, _text(out, at, table.workload, 0, len(table.workload)))
        at = _comma(out, _text(out, at, table.profiles.data, profile_at, profile_end))
        at = write_seconds(out, at, table.submission[job])
        at = _comma(out, _whole(out, at, table.units[job]))
        at = write_seconds(out, at, table.walltime[job])
        at = _comma(out, _whole(out, at, 1 if state == 0 else 0))
        at = _comma(out, _text(out, at, table.states.data, table.states.at[state], table.states.at[state + 1]))
        if state == len(table.states.at) - 2:
            at = _text(out, at, table.no_times, 0, len(table.no_times))
        else:
            for column in (table.start, table.run, table.end, table.wait, table.turnaround, table.stretch):
                at = write_seconds(out, at, column[job])
            for index in range(table.at[job], table.at[job] + table.runs[job]):
                if index > table.at[job]:
                    out[at] = _SPACE
                    at += 1
                at = _whole(out, at, table.first[index])
                if table.last[index] > table.first[index]:
                    out[at] = _DASH
                    at = _whole(out, at + 1, table.last[index])
            at = _text(out, _comma(out, at), table.tail, 0, len(table.tail))
        row += 1
    return row, at
