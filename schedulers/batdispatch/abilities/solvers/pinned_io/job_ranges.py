"""Phase 1: dedicate a range of nodes to each job, so that no node has too much to do.

The linear program of `shares` says which share of each kind of jobs goes to which range. The jobs of a kind are laid
end to end, in the order given, over the shares in the order of their starts: an optimum of the program in which most
jobs have a single range. Then each job goes to the first start at which its shares sum up to at least 1/2 [1].

Guarantee, for jobs whose ranges all touch one gap of the line (`Ranges.anchored`, which every pinned job is):

    largest load <= 2 Lambda <= 2 x least largest load

A node left of the gap that is in the chosen range is in all ranges of the job that start earlier, since these reach
the gap, and a node right of the gap is in all that start later. So each chosen node carried at least half of the job.

Jobs that may go anywhere have no such gap. In order of their work, the largest first, each goes to the range with the
least load. The bound takes them into account, spread as evenly as can be; there is no guarantee for them.

At the end, each job moves once to the range where the others leave the least load, if this is less than where it is
(`level`). The largest load never grows by that; the step is ours.

References:
    [1] R. Bleuse. Apprehending heterogeneity at (very) large scale. PhD thesis, Université Grenoble Alpes, 2017.
        (Slides of the defence: "Phase 1, dedicating nodes: rounding" and "2-approximation".)
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from batdispatch.abilities.solvers.pinned_io.ranges import Floats, Ints, Ranges, loads
from batdispatch.abilities.solvers.pinned_io.shares import LineLoad, Shares, best_shares
from batdispatch.abilities.solvers.solving import Limits


class Dedication(msgspec.Struct, kw_only=True):
    """Ranges for jobs.

    Attributes:
        starts, stops: the range of each job, int64 [job].
        load: how long each node is taken, with what was held before, s, float64 [node].
        shares: what the linear program said.
    """

    starts: Ints
    stops: Ints
    load: Floats
    shares: Shares


def dedicate(
    held: Floats, ranges: Sequence[Ranges], durations: Floats, limits: Limits, *, level: bool = True
) -> Dedication:
    """Return a range for each job.

    Time: that of `best_shares`, and O(n log q) for each of the jobs on n nodes to level them.

    Args:
        held: for how long each node is taken already, s, float64 [node].
        ranges: of each job, at least one; jobs that may share one object do so.
        durations: s, finite, float64 [job].
        limits: of the linear program.
        level: whether to move each job once to where there is less load.
    """
    nodes, jobs = len(held), len(ranges)
    kinds, free = _kinds(ranges)
    loading = LineLoad(
        held,
        [ranges[members[0]] for members in kinds],
        np.array([durations[members].sum() for members in kinds], dtype=np.float64),
        float(sum(durations[job] * float((ranges[job].stops - ranges[job].starts).min()) for job in free)),
    )
    shares = best_shares(loading, limits)
    picked = np.zeros(jobs, dtype=np.int64)
    load = held.copy()
    later = sorted(free, key=lambda job: (-durations[job] * float(ranges[job].stops[0] - ranges[job].starts[0]), job))
    if shares.columns:
        for members, columns, amounts in zip(kinds, shares.columns, shares.amounts, strict=True):
            picked[members] = columns[half(amounts, durations[members])]
    else:
        # The program was stopped before it had a solution.
        later = [*(job for members in kinds for job in members.tolist()), *later]
    starts, stops = _ends(ranges, picked)
    placed = np.ones(jobs, dtype=np.bool_)
    placed[later] = False
    load += loads(nodes, starts[placed], stops[placed], durations[placed])
    for job in later:
        index = int(ranges[job].largest(load).argmin())
        starts[job], stops[job] = ranges[job].starts[index], ranges[job].stops[index]
        load[starts[job] : stops[job]] += durations[job]
    if level:
        _level(load, ranges, durations, starts, stops)
        load = held + loads(nodes, starts, stops, durations)
    return Dedication(starts=starts, stops=stops, load=load, shares=shares)


def half(amounts: Floats, durations: Floats) -> Ints:
    """Return where each job of a kind is rounded to: the first share by which half of the job is done, int64 [job].

    Args:
        amounts: shares of the kind's work, s, in the order of their ranges, float64 [share].
        durations: of the jobs, s, in the order in which they are laid over the shares, float64 [job].
    """
    ends = np.cumsum(durations)
    reached = np.cumsum(amounts)
    reached *= ends[-1] / reached[-1]
    # An end that is meant to be equal may be off by a rounding.
    middles = (ends - durations / 2) * (1 - 1e-12)
    return np.minimum(np.searchsorted(reached, middles), len(amounts) - 1).astype(np.int64)


def _kinds(ranges: Sequence[Ranges]) -> tuple[list[Ints], list[int]]:
    """Return the jobs of each kind, in order, and the jobs that are not anchored."""
    known: dict[int, int] = {}
    by_ends: dict[tuple[bytes, bytes], int] = {}
    members: list[list[int]] = []
    free: list[int] = []
    for job, those in enumerate(ranges):
        kind = known.get(id(those))
        if kind is None:
            kind = -1
            if those.anchored:
                kind = by_ends.setdefault((those.starts.tobytes(), those.stops.tobytes()), len(members))
                if kind == len(members):
                    members.append([])
            known[id(those)] = kind
        (free if kind < 0 else members[kind]).append(job)
    return [np.array(jobs, dtype=np.int64) for jobs in members], free


def _ends(ranges: Sequence[Ranges], picked: Ints) -> tuple[Ints, Ints]:
    starts = [int(those.starts[index]) for those, index in zip(ranges, picked, strict=True)]
    stops = [int(those.stops[index]) for those, index in zip(ranges, picked, strict=True)]
    return np.array(starts, dtype=np.int64), np.array(stops, dtype=np.int64)


def _level(load: Floats, ranges: Sequence[Ranges], durations: Floats, starts: Ints, stops: Ints) -> None:
    """Move each job once to the range where the others leave the least load. **This changes all but the ranges.**"""
    for job in range(len(ranges)):
        those = ranges[job]
        if len(those.starts) == 1:
            continue
        start, stop, duration = int(starts[job]), int(stops[job]), float(durations[job])
        load[start:stop] -= duration
        largest = those.largest(load)
        best = int(largest.argmin())
        # The difference is more than what sums of floats may be off by.
        if largest[best] < load[start:stop].max() * (1 - 1e-9):
            start, stop = int(those.starts[best]), int(those.stops[best])
            starts[job], stops[job] = start, stop
        load[start:stop] += duration
