"""The links that the rows of a run use while they run, start by start and end by end."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.topology.networks import Grid, Topology
from batdispatch.abilities.topology.results.allocations import Allocations

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Most routes that are followed one by one, as on fat trees and dragonflies: half a minute's.
MOST_ROUTES = 100_000_000
#: Most links of all rows together that are followed: about a minute's.
MOST_LINKS = 1_000_000_000
#: Rows whose links say how many all rows have together.
_SAMPLE = 256


def follow_links(
    allocations: Allocations,
    topology: Topology,
    routers: Ints,
    start: Floats,
    finish: Floats,
    most_links: int | None = None,
) -> Iterator[tuple[float, bool, int, NDArray[np.int32]]] | None:
    """Return an iterator over (seconds, whether it starts, row, its links) of all starts and ends in order of time.

    None if more than `MOST_ROUTES` routes or `most_links` links have to be followed; links are counted for some rows in
    equal distances, and exactly if there are few. Rows that use no link are left out. Of one time, ends come first.

    Args:
        allocations: of the rows.
        topology: the network.
        routers: of each allocation, how many routers it uses: those of one router use no link.
        start: seconds, float64 [row]; NaN for a row that did not run.
        finish: seconds, float64 [row].
        most_links: of all rows together; None: `MOST_LINKS`.
    """
    moving = np.flatnonzero((allocations.of_row >= 0) & (finish - start > 0))
    moving = moving[routers[allocations.of_row[moving]] > 1]
    order = moving[np.argsort(start[moving], kind="stable")]
    each = allocations.of_row[order]
    if not isinstance(topology, Grid) and int((allocations.sizes[each] * routers[each]).sum()) > MOST_ROUTES:
        return None
    some = each[:: max(len(each) // _SAMPLE, 1)]
    found = sum(len(used) for used in _links_in_order(allocations, topology, some))
    if found * len(each) > (MOST_LINKS if most_links is None else most_links) * len(some):
        return None
    return _changes(order, _links_in_order(allocations, topology, each), start, finish)


def _changes(
    order: Ints, ahead: Iterator[NDArray[np.int32]], start: Floats, finish: Floats
) -> Iterator[tuple[float, bool, int, NDArray[np.int32]]]:
    running: dict[int, NDArray[np.int32]] = {}
    # Nothing lasts no time, so each row has started when it ends.
    times = np.concatenate([start[order], finish[order]])
    begins = np.repeat([True, False], len(order))
    events = np.lexsort((begins, times))
    for time, begin, row in zip(
        times[events].tolist(), begins[events].tolist(), np.concatenate([order, order])[events].tolist(), strict=True
    ):
        if begin:
            running[row] = used = next(ahead)
        else:
            used = running.pop(row)
        yield time, begin, row, used


def _links_in_order(allocations: Allocations, topology: Topology, which: Ints) -> Iterator[NDArray[np.int32]]:
    """Yield the links of allocations in an order, found for a block of them at a time."""
    for _, hosts, bounds in allocations.blocks(which):
        links, ends = topology.links_within_each(hosts, bounds)
        for low, high in pairwise(ends.tolist()):
            # A copy, too: a row that runs for long would keep all links of the block.
            yield links[low:high].astype(np.int32)
