"""What segments hold of each resource of the nodes that they are on: parts of equal nodes that follow each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from batdispatch.abilities.explorer.streams import LARGEST, Whole
from batdispatch.results.usage import Slots


@dataclass(frozen=True)
class Parts:
    """The nodes of some segments, those of a segment one behind the other.

    Attributes:
        count: how many parts a segment has, int64 [segment].
        first: lowest node of each part, int64 [part].
        more: how many nodes follow it in the part, int64 [part].
        amount: what the segment holds on each node of the part, int64 [part, resource].
    """

    count: Whole
    first: Whole
    more: Whole
    amount: Whole


def parts_of(slots: Slots, rows: Whole) -> Parts:
    """Return the parts of segments, which are rows of a jobs file in the order of a page."""
    place = np.full(max(int(slots.row.max(initial=-1)), int(rows.max(initial=-1))) + 1, -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    where = place[slots.row]
    order = np.lexsort((slots.host, where))
    order = order[np.searchsorted(where[order], 0) :]
    segment, host, amount = where[order], slots.host[order], slots.amount[order]
    begins = np.ones(len(order), dtype=bool)
    begins[1:] = (segment[1:] != segment[:-1]) | (host[1:] != host[:-1] + 1) | (amount[1:] != amount[:-1]).any(axis=1)
    heads = np.flatnonzero(begins)
    more = np.diff(np.append(heads, len(order))) - 1
    return Parts(np.bincount(segment[heads], minlength=len(rows)), host[heads], more, amount[heads])


def scales(totals: Sequence[int]) -> Whole:
    """Return a divisor for the amounts of each resource, so that sums over the machine are exact in JavaScript."""
    return np.array([1 << max(0, int(total).bit_length() - LARGEST.bit_length()) for total in totals], dtype=np.int64)
