"""Phase 2: start times for jobs on given ranges of a line of nodes, by pillars (Gergov's method [1, 2]).

This is dynamic storage allocation: the range of a job is the time for which a block of memory lives, the job's
duration is the size of the block, and its start time is the block's address. The *load* of a node is the sum of the
durations of the jobs on it; no schedule is shorter than the largest load.

First the jobs get tentative times, at which some overlap. At the beginning each node is a *pillar* of height 0. A job
*contains* a pillar that stands in its range. Take a lowest pillar x, and do one of two things:

- *dock*: if an undocked job contains x and no other pillar, its tentative start is the height of x, which grows by the
  job's duration;
- *remove*: else every undocked job that contains x contains another pillar too, and x goes.

Invariants:

1. Each job is docked on exactly one pillar. (It contains one at the beginning, and the last one is never removed.)
2. Jobs of one pillar do not overlap. Jobs of two pillars overlap only if the two were direct neighbours at some moment.
   Let j be docked on x, and later k on y. Ranges that overlap, with one pillar in each, have no pillar between x and y
   when k is docked; if x was removed before, then y is as high as all of x, and k begins after j's end.
3. The height of a pillar is at most the load of its node: all jobs docked on x are on node x. So all tentative ends are
   at most the largest load.

When a pillar is removed, it has at most two neighbours; all others that ever were its neighbours are gone. So in the
opposite order of removal each pillar can be given one of three colours that its neighbours do not have, and jobs of
one colour never overlap. The three colours are scheduled one after the other:

    makespan <= 3 x largest load

Then conflicts are resolved: the jobs are packed from a list, each one as early as the jobs before it in the list leave
it room (`packing`), so that none is left. The list of the schedule above is `by colour`; as no job starts later than
there, the guarantee stays. Other lists are tried too, and the shortest schedule is kept: `tentative`, by tentative
times; `longest` and `widest`, by durations and by ranges. Each schedule is also packed anew from its mirror image,
which takes as long and often lets more jobs start early. The other lists and the mirror images are ours.

Time: O(n m) and O(n^2) in vector operations for n jobs on m nodes.

References:
    [1] J. Gergov. Algorithms for compile-time memory optimization. SODA 1999, pp. 907-908.
    [2] R. Bleuse. Apprehending heterogeneity at (very) large scale. PhD thesis, Université Grenoble Alpes, 2017.
        (Slides of the defence: "Phase 2, scheduling: Gergov's algorithm", with the invariants. That the ratio of 3 is
        asymptotically tight is stated there; the family that shows it is not, and nothing is claimed here.)
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from batdispatch.abilities.solvers.pinned_io.packing import pack
from batdispatch.abilities.solvers.pinned_io.ranges import Floats, Ints, loads

#: Colours are enough: each pillar has at most two neighbours when it is removed.
_COLOURS = 3


class TentativeTimes(NamedTuple):
    """Tentative times of jobs.

    Attributes:
        starts: s, float64 [job].
        pillars: the node of the pillar that each job is docked on, int64 [job].
        colours: 0, 1 or 2; jobs of one colour do not overlap, int64 [job].
    """

    starts: Floats
    pillars: Ints
    colours: Ints


class PillarSchedule(NamedTuple):
    """Start times of jobs, without overlaps.

    Attributes:
        starts: s, float64 [job].
        makespan: when the last job ends, s.
        stacked: the length of the three colours one after the other, s: at most three times the largest load.
        method: which list gave the schedule: `by colour`, `tentative`, `longest` or `widest`, perhaps `mirrored`.
    """

    starts: Floats
    makespan: float
    stacked: float
    method: str


def dock(nodes: int, starts: Ints, stops: Ints, durations: Floats) -> TentativeTimes:
    """Return tentative times for jobs on ranges. If several jobs could be docked, the first one is.

    Args:
        nodes: number of nodes.
        starts, stops: the range of each job, int64 [job].
        durations: s, float64 [job].
    """
    jobs = len(durations)
    # The first and the last pillar that each job contains.
    first, last = starts.copy(), stops - 1
    before, after = list(range(-1, nodes - 1)), list(range(1, nodes + 1))
    ready: list[list[int]] = [[] for _ in range(nodes)]
    for job in np.flatnonzero(first == last).tolist():
        ready[first[job]].append(job)
    tentative = np.zeros(jobs, dtype=np.float64)
    pillars = np.zeros(jobs, dtype=np.int64)
    removed: list[int] = []
    heights = [(0.0, node) for node in range(nodes)]
    while heights:
        height, here = heapq.heappop(heights)
        if ready[here]:
            job = heapq.heappop(ready[here])
            tentative[job], pillars[job] = height, here
            heapq.heappush(heights, (height + float(durations[job]), here))
            continue
        left, right = before[here], after[here]
        removed.append(here)
        if left >= 0:
            after[left] = right
        if right < nodes:
            before[right] = left
        # Jobs that contain only this pillar are docked already.
        leftmost = np.flatnonzero((first == here) & (last != here))
        rightmost = np.flatnonzero((last == here) & (first != here))
        first[leftmost], last[rightmost] = right, left
        for side, moved in ((right, leftmost), (left, rightmost)):
            for job in moved[first[moved] == last[moved]].tolist():
                heapq.heappush(ready[side], job)
    # `before` and `after` still tell the neighbours that a pillar had when it was removed.
    colours = np.full(nodes + 1, -1, dtype=np.int64)
    for here in reversed(removed):
        taken = {int(colours[before[here]]) if before[here] >= 0 else -1, int(colours[after[here]])}
        colours[here] = next(colour for colour in range(_COLOURS) if colour not in taken)
    return TentativeTimes(tentative, pillars, colours[pillars])


def schedule(held: Floats, starts: Ints, stops: Ints, durations: Floats) -> PillarSchedule:
    """Return start times for jobs on ranges: those of the least makespan found, and among equal ones of the least sum.

    Guarantee: makespan <= max held + 3 x largest load, where the load is that of the jobs.

    Args:
        held: for how long each node is taken already, s, float64 [node].
        starts, stops: the range of each job, int64 [job].
        durations: s, float64 [job].
    """
    tentative = dock(len(held), starts, stops, durations)
    stacked = np.zeros(len(durations), dtype=np.float64)
    height = 0.0
    for colour in range(_COLOURS):
        members = tentative.colours == colour
        if members.any():
            stacked[members] = tentative.starts[members] + height
            height = float((stacked[members] + durations[members]).max())
    lists = {
        "by colour": stacked,
        "tentative": tentative.starts,
        "longest": -durations,
        "widest": starts - stops,
    }
    nobody = np.zeros_like(held)
    best: tuple[float, float] | None = None
    for name, keys in lists.items():
        order = np.argsort(keys, kind="stable")
        times = pack(nobody, starts, stops, durations, order)
        mirrored = np.argsort(-(times + durations), kind="stable")
        for method, listed in ((name, order), (f"{name} mirrored", mirrored)):
            packed = pack(held, starts, stops, durations, listed)
            found = float((packed + durations).max(initial=0.0)), float(packed.sum())
            if best is None or found < best:
                best, kept = found, PillarSchedule(packed, found[0], height, method)
    return kept


def largest_load(nodes: int, starts: Ints, stops: Ints, durations: Floats) -> float:
    """Return the largest sum of durations on one node, s: no schedule is shorter."""
    return float(loads(nodes, starts, stops, durations).max(initial=0.0))
