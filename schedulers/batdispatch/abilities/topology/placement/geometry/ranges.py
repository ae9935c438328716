"""Ranges of hosts on a line: exact at any size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from batdispatch.abilities.topology.networks.base import Ints
from batdispatch.core.hosts import hostsets


def ranges(room: Ints, units: int, least: int, most: int, *, wrap: bool, longer: bool) -> Iterator[tuple[int, int]]:
    """Yield (first position, length) of the ranges of a line with enough room, short ones first, then low ones.

    Each host of a range has room. Time: O(n log n) for n hosts; with `longer` O(n l log n) for ranges of up to l hosts.

    Args:
        room: units that each host can take, in the order of the line, int64 [position].
        units: that a range must take.
        least: fewest hosts of a range.
        most: most hosts of a range.
        wrap: whether a range may go on at the beginning of the line.
        longer: whether ranges are wanted that have more hosts than they need.
    """
    count = len(room)
    if not count:
        return
    line = np.concatenate([room, room]) if wrap else room
    empty = np.append((line == 0).nonzero()[0], len(line))
    starts = np.arange(count)
    bound = np.minimum(empty[empty.searchsorted(starts)], starts + min(most, count))
    filled = np.concatenate(([0], np.minimum(line, units).cumsum()))
    ends = np.maximum(filled.searchsorted(filled[starts] + units), starts + least)
    fits = ends <= bound
    starts, lengths, longest = starts[fits], (ends - starts)[fits], (bound - starts)[fits]
    if longer:
        more = longest - lengths + 1
        starts, lengths = np.repeat(starts, more), hostsets.ranges(lengths, more)
    for index in np.lexsort((starts, lengths)).tolist():
        yield int(starts[index]), int(lengths[index])
