"""How many jobs use the links of a network over time."""

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
class LinkLoad:
    """The links of a network from each moment at which something changes up to the next one.

    A job uses the links on the routes between its hosts, whether or not it sends anything: no traffic is counted.

    Attributes:
        moments: seconds, float64 [moment], ascending.
        used: directed links that a job uses, int64 [moment].
        shared: those of them that two jobs or more use, int64 [moment].
        busiest: jobs on the link that most jobs use, int64 [moment].
    """

    moments: Floats
    used: Ints
    shared: Ints
    busiest: Ints


def link_load(
    allocations: Allocations,
    topology: Topology,
    routers: Ints,
    start: Floats,
    finish: Floats,
    most_links: int | None = None,
) -> LinkLoad | None:
    """Return how many jobs use the links over time; None if that takes too long. Arguments: see `follow_links`."""
    changes = follow_links(allocations, topology, routers, start, finish, most_links)
    if changes is None:
        return None
    users = np.zeros(topology.links, dtype=np.int64)
    #: How many links so many jobs use.
    links = np.zeros(16, dtype=np.int64)
    links[0] = topology.links
    moments: list[float] = []
    rows: list[tuple[int, int, int]] = []
    for time, begins, _, used in changes:
        before = users[used]
        after = before + (1 if begins else -1)
        users[used] = after
        if int(after.max(initial=0)) >= len(links):
            links = np.concatenate([links, np.zeros_like(links)])
        links += np.bincount(after, minlength=len(links)) - np.bincount(before, minlength=len(links))
        state = topology.links - int(links[0]), int(links[2:].sum()), int(np.flatnonzero(links)[-1])
        if moments and moments[-1] == time:
            rows[-1] = state
        else:
            moments.append(time)
            rows.append(state)
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return LinkLoad(np.array(moments), table[:, 0], table[:, 1], table[:, 2])
