"""Which links of a running job other jobs use at the same time, followed exactly through all starts and ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.topology.networks import Topology
from batdispatch.abilities.topology.results.allocations import Allocations
from batdispatch.abilities.topology.results.links import follow_links

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Sharing:
    """What rows share with others while they run.

    Attributes:
        links: |L|, the directed links on the routes within the row's allocation, int64 [row].
        shared: share of them that another job uses at the same moment, averaged over the row's run time, float64 [row];
            0 where the row uses no link, NaN where it runs for no time or has no allocation in the network.
        busy: share of the row's run time in which at least one of them is shared, float64 [row], as `shared`.
    """

    links: Ints
    shared: Floats
    busy: Floats


def sharing(
    allocations: Allocations, topology: Topology, routers: Ints, start: Floats, finish: Floats
) -> Sharing | None:
    """Return what each row shares with the others that run at the same time; None if that takes too long.

    `follow_links` says when that is.

    For each link the number of running rows that use it is kept, and the sum of their numbers: where that leaves one
    user, the sum names it. So a start or an end costs time in proportion to the links of the row that starts or ends,
    and to the number of rows that run, and is exact.

    Args:
        allocations: of the rows.
        topology: the network.
        routers: of each allocation, how many routers it uses: those of one router use no link.
        start: seconds, float64 [row]; NaN for a row that did not run.
        finish: seconds, float64 [row].
    """
    rows = len(start)
    run = finish - start
    known = (allocations.of_row >= 0) & (run > 0)
    links = np.zeros(rows, dtype=np.int64)
    shared = np.where(known, 0.0, np.nan)
    busy = shared.copy()
    changes = follow_links(allocations, topology, routers, start, finish)
    if changes is None:
        return None
    users = np.zeros(topology.links, dtype=np.int32)
    #: Sum of the numbers of the users.
    names = np.zeros(topology.links, dtype=np.int64)
    #: A row that runs has a number below the most that ever run at once, plus 1.
    free_numbers: list[int] = []
    most = 1
    area, time_shared, common = np.zeros(16), np.zeros(16), np.zeros(16, dtype=np.int64)
    numbers: dict[int, int] = {}
    now = 0.0
    for time, begins, row, used in changes:
        if time > now:
            area[:most] += common[:most] * (time - now)
            time_shared[:most] += (common[:most] > 0) * (time - now)
            now = time
        if begins:
            number = free_numbers.pop() if free_numbers else most
            if number == most:
                most += 1
                if most > len(area):
                    area, time_shared, common = (
                        np.concatenate([each, np.zeros_like(each)]) for each in (area, time_shared, common)
                    )
            numbers[row] = number
            links[row] = len(used)
            before = users[used]
            alone = names[used[before == 1]]
            if len(alone):
                common[:most] += np.bincount(alone, minlength=most)
            area[number] = time_shared[number] = 0.0
            common[number] = np.count_nonzero(before)
            users[used] = before + 1
            names[used] += number
        else:
            number = numbers.pop(row)
            shared[row] = area[number] / (run[row] * max(len(used), 1))
            busy[row] = time_shared[number] / run[row]
            after = users[used] - 1
            users[used] = after
            names[used] -= number
            alone = names[used[after == 1]]
            if len(alone):
                common[:most] -= np.bincount(alone, minlength=most)
            free_numbers.append(number)
    # Sums of lengths of time may exceed the run time by their rounding.
    return Sharing(links, np.minimum(shared, 1.0), np.minimum(busy, 1.0))
