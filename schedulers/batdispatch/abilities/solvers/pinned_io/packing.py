"""Start times for jobs on given ranges, from a list: each job as early as those before it leave it room."""

from __future__ import annotations

import numpy as np

from batdispatch.abilities.solvers.pinned_io.ranges import Floats, Ints

#: Share of its duration by which a job's place may be too short: sums of floats are off by less.
_ROUNDING = 1e-9


def pack(held: Floats, starts: Ints, stops: Ints, durations: Floats, order: Ints) -> Floats:
    """Return the earliest start of each job beside those before it in an order, s, float64 [job].

    A job may go into a hole that is left before jobs that came earlier in the order. So if `order` is that of the
    starts of some schedule, no job starts later than in that schedule.

    Time: O(n k) for n jobs, each of which meets k others; the n^2 comparisons are vector operations.

    Args:
        held: for how long each node is taken already, s, float64 [node].
        starts, stops: the range of each job, int64 [job].
        durations: s, float64 [job].
        order: int64 [job].
    """
    count = len(durations)
    times = np.zeros(count, dtype=np.float64)
    # Of the jobs that have their times, in the order of the list.
    lows, highs = starts[order], stops[order]
    begins, ends = np.empty(count, dtype=np.float64), np.empty(count, dtype=np.float64)
    for place, (job, low, high) in enumerate(zip(order.tolist(), lows.tolist(), highs.tolist(), strict=True)):
        soonest = held[low:high].max()
        met = (lows[:place] < high) & (highs[:place] > low) & (ends[:place] > soonest)
        met_begins, met_ends = begins[:place][met], ends[:place][met]
        by_begin = met_begins.argsort(kind="stable")
        opens = np.maximum.accumulate(np.concatenate([[soonest], met_ends[by_begin]]))
        closes = np.append(met_begins[by_begin], np.inf)
        duration = float(durations[job])
        hole = int((closes - opens >= duration * (1 - _ROUNDING)).argmax())
        times[job] = begins[place] = opens[hole]
        ends[place] = opens[hole] + duration
    return times
