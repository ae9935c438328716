"""Ranges: where on a line of nodes a job may go.

A range is made of neighbouring positions on the line. The ranges of one job are listed by their starts, and none of
them lies within another.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Ranges(NamedTuple):
    """All ranges of a job, in order; range r is made of the positions starts[r], ..., stops[r] - 1.

    Attributes:
        starts: int64 [range], ascending.
        stops: int64 [range], ascending.
    """

    starts: Ints
    stops: Ints

    @property
    def anchored(self) -> bool:
        """Whether all ranges touch one gap between neighbouring positions: each begins, ends or lies across it.

        The ranges of a job that is pinned to an I/O node touch the gap of this node. The guarantee of the rounding
        needs no more than that.
        """
        return bool(self.starts[-1] <= self.stops[0])

    def within(self, allowed: NDArray[np.bool_]) -> Ranges:
        """Return the ranges whose positions are all allowed, bool [position]."""
        keep = self.all_of(allowed)
        return self if keep.all() else Ranges(self.starts[keep], self.stops[keep])

    def all_of(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which ranges consist of chosen positions only, bool [range]; `chosen` is bool [position]."""
        before = np.concatenate([[0], np.cumsum(~chosen)])
        return np.asarray(before[self.starts] == before[self.stops])

    def largest(self, values: Floats) -> Floats:
        """Return the largest value in each range, float64 [range]. Time: O(n log q) for ranges of q out of n places.

        Args:
            values: float64 [position].
        """
        low, high = int(self.starts[0]), int(self.stops[-1])
        lengths = self.stops - self.starts
        # Two ranges of 2^level places cover a range.
        levels = np.frexp(lengths.astype(np.float64))[1] - 1
        found = np.empty(len(lengths), dtype=np.float64)
        table = values[low:high]
        for level in range(int(levels.max()) + 1):
            if level:
                half = 1 << (level - 1)
                table = np.maximum(table[:-half], table[half:])
            here = levels == level
            if here.any():
                first = self.starts[here] - low
                last = self.stops[here] - low - (1 << level)
                found[here] = np.maximum(table[first], table[last])
        return found


def loads(nodes: int, starts: Ints, stops: Ints, durations: Floats) -> Floats:
    """Return how long each of `nodes` positions is used by jobs on given ranges, s, float64 [position].

    Args:
        nodes: number of positions.
        starts: int64 [job].
        stops: int64 [job].
        durations: s, float64 [job].
    """
    edges = np.zeros(nodes + 1, dtype=np.float64)
    np.add.at(edges, starts, durations)
    np.subtract.at(edges, stops, durations)
    # What sums of floats leave where nobody is, must not look like a load.
    used = np.zeros(nodes + 1, dtype=np.int64)
    np.add.at(used, starts, 1)
    np.subtract.at(used, stops, 1)
    return np.where(np.cumsum(used)[:nodes] > 0, np.maximum(np.cumsum(edges)[:nodes], 0.0), 0.0)
