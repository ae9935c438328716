"""Sweeps over time that find hosts which carry more than they can."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.hostsets import Intervals
from batdispatch.results.usage import Slots

Floats = NDArray[np.float64]


def exclusive_conflicts(
    intervals: Intervals, start: Floats, finish: Floats, tolerance: float
) -> Iterator[tuple[int, int, int, float]]:
    """Yield ``(row, row that still holds it, host, time)`` where a job starts on a host that another one holds.

    Jobs are taken in order of their start; a host remembers until when it is held. An interval of hosts costs one
    numpy operation, so time grows with the number of intervals, not of hosts: 300,000 jobs take seconds.

    Args:
        intervals: hosts of each row's job.
        start: seconds, float64 [row]; NaN for a job that did not run.
        finish: seconds, float64 [row].
        tolerance: seconds by which a job may start before the other's end.
    """
    size = int(intervals.last.max(initial=-1)) + 1
    until = np.full(size, -np.inf)
    holder = np.full(size, -1, dtype=np.int64)
    # A job that takes no time goes first among those that start together: it is gone before the others begin.
    order = np.lexsort((finish, start))
    for row, first, last in intervals.by_rows(order[: int(np.isfinite(start).sum())]):
        begin, end = float(start[row]), float(finish[row])
        hosts = slice(first, last + 1)
        held = until[hosts]
        latest = float(held.max())
        if latest > begin + tolerance:
            host = first + int(np.argmax(held))
            # A host that the job's own allocation names twice is another rule's affair.
            if holder[host] != row:
                yield row, int(holder[host]), host, begin
        # Where it overlaps, the later end counts, so that one long job is reported against each that it disturbs.
        if latest < end:
            held[:] = end
            holder[hosts] = row
        else:
            longer = held < end
            held[longer] = end
            holder[hosts][longer] = row


def shared_conflicts(
    slots: Slots, capacity: NDArray[np.int64], start: Floats, finish: Floats, tolerance: float
) -> Iterator[tuple[int, int, int, int, float]]:
    """Yield ``(row, host, resource, amount in use, time)`` where a job's start overloads a host.

    All hosts are swept at once: changes sorted by host and time, summed up, and compared with the capacity.

    Args:
        slots: what each row's job holds on each host.
        capacity: int64 [host, resource].
        start: seconds, float64 [row]; NaN for a job that did not run.
        finish: seconds, float64 [row].
        tolerance: seconds by which a job may start before the other's end.
    """
    ran = np.isfinite(start[slots.row]) & (slots.host < len(capacity))
    row, host, amount = slots.row[ran], slots.host[ran], slots.amount[ran]
    count = len(row)
    # An end is moved earlier by the tolerance, but not before its own start.
    ends = np.maximum(finish[row] - tolerance, start[row])
    time = np.concatenate((ends, start[row]))
    is_start = np.repeat([0, 1], count)
    # A job that takes no time at this resolution never competes with anything: its start comes before its end, and
    # nothing else may be counted between the two, so it is left out.
    instant = np.tile(ends <= start[row], 2)
    hosts = np.tile(host, 2)
    keep = ~instant
    order = np.flatnonzero(keep)[np.lexsort((is_start[keep], time[keep], hosts[keep]))]
    change = np.concatenate((-amount, amount))[order]
    used = np.cumsum(change, axis=0)
    ordered_hosts = hosts[order]
    # Every slot adds and removes the same, so the running sum is 0 again where the next host begins.
    over = (used > capacity[ordered_hosts]) & (is_start[order] == 1)[:, None]
    for index, axis in np.argwhere(over).tolist():
        slot = int(order[index]) % count
        yield int(row[slot]), int(host[slot]), axis, int(used[index, axis]), float(time[order[index]])
