"""Windows on a line of nodes that hold a job: the node sets from which bids are chosen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from batdispatch.abilities.solvers.auction.intervals import Ints, NodeLine
from batdispatch.abilities.solvers.auction.problem import JobDemand


class Windows(NamedTuple):
    """Windows on a line, each from its first place up to and without its end.

    Attributes:
        first: int64 [window].
        end: int64 [window].
    """

    first: Ints
    end: Ints

    def where(self, chosen: Ints) -> Windows:
        """Return some of the windows, by index or by mask."""
        return Windows(self.first[chosen], self.end[chosen])


def windows_from(line: NodeLine, asking: JobDemand, firsts: Ints) -> Windows:
    """Return the shortest windows from some places on that hold a job. Time: O(f log n) for f places."""
    units = np.searchsorted(line.held, line.held[firsts] + asking.units)
    return _possible(line, asking, Windows(firsts, np.maximum(units, firsts + asking.least)))


def windows_to(line: NodeLine, asking: JobDemand, ends: Ints) -> Windows:
    """Return the shortest windows up to some places that hold a job. Time: O(e log n) for e places."""
    units = np.searchsorted(line.held, line.held[ends] - asking.units, side="right") - 1
    return _possible(line, asking, Windows(np.minimum(units, ends - asking.least), ends))


def _possible(line: NodeLine, asking: JobDemand, windows: Windows) -> Windows:
    first, end = windows
    inside = (first >= 0) & (end <= len(line)) & (end - first <= asking.most)
    return windows.where(np.flatnonzero(inside))


def aligned_windows(line: NodeLine, asking: JobDemand, firsts: Ints, ends: Ints) -> Windows:
    """Return windows that hold a job and lie at an end of one of the given stretches of the line.

    These are the shortest ones and, where the job leaves its number of nodes open, those twice, four times, ... as
    long, up to the whole stretch or to the most nodes that the job may use: a job that shares its nodes needs more.

    Args:
        line: the line.
        asking: the job.
        firsts: first places of the stretches, ascending.
        ends: the places behind their last ones.
    """
    found = []
    left = windows_from(line, asking, firsts)
    stretch = np.searchsorted(firsts, left.first)
    inside = np.flatnonzero(left.end <= ends[stretch])
    left, stop = left.where(inside), ends[stretch[inside]]
    right = windows_to(line, asking, ends)
    stretch = np.searchsorted(ends, right.end)
    inside = np.flatnonzero(right.first >= firsts[stretch])
    right, begin = right.where(inside), firsts[stretch[inside]]
    # Every node that is used carries a unit.
    longest = min(asking.most, asking.units)
    while len(left.first) or len(right.first):
        found += [left, right]
        if asking.least == asking.most:
            break
        longer = np.minimum(np.minimum(left.first + 2 * (left.end - left.first), stop), left.first + longest)
        grown = np.flatnonzero(longer > left.end)
        left, stop = Windows(left.first[grown], longer[grown]), stop[grown]
        longer = np.maximum(np.maximum(right.end - 2 * (right.end - right.first), begin), right.end - longest)
        grown = np.flatnonzero(longer < right.first)
        right, begin = Windows(longer[grown], right.end[grown]), begin[grown]
    return join_windows(found)


def join_windows(several: list[Windows]) -> Windows:
    """Return all windows, each once, in the order in which they come first."""
    if not several:
        return Windows(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    both = np.stack([np.concatenate(ends) for ends in zip(*several, strict=True)])
    once = np.sort(np.unique(both, axis=1, return_index=True)[1])
    return Windows(both[0, once], both[1, once])
