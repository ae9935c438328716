"""How good an allocation is in a network: compactness, proximity to I/O nodes, locality, and links shared with others.

Each function measures one allocation. Placements may choose by these numbers. Reports measure all allocations of a run
at once (results/network) by the same formulas, and a test holds the two against each other.

References:
    [1] R. Bleuse. Apprehending heterogeneity at (very) large scale. PhD thesis, Université Grenoble Alpes, 2017.
        (Extrinsic measures of an allocation: compactness gamma and proximity rho.)
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from batdispatch.abilities.topology.networks.base import Ints, Topology


def compactness(topology: Topology, hosts: ArrayLike) -> float:
    """Return gamma of an allocation, in links: the mean distance from one of its hosts to another; 0 for one host [1].

    gamma(S) = 1 / (q (q - 1)) sum of dist(i, i') over all ordered pairs of hosts of S, with q hosts in S

    Time: that of `Topology.sum_of_distances`.

    Args:
        topology: the network.
        hosts: int64 [host], at least one, all different.

    Raises:
        ValueError: there is no host, or one is not in this network.
    """
    count = np.size(hosts)
    if not count:
        raise ValueError("an allocation of no hosts has no compactness")
    total = topology.sum_of_distances(hosts)
    return total / (count * (count - 1)) if count > 1 else 0.0


def proximity(topology: Topology, hosts: ArrayLike, io_hosts: ArrayLike) -> float:
    """Return rho of an allocation, in links per compute host: how far its I/O nodes are, the farthest one counting [1].

    rho(S, T) = max over i in T of (1/q) (min over i' in S of dist(i, i') + max over i' in S of dist(i, i'))

    The sum in brackets is divided by the number q of compute hosts, as in the source; so rho compares allocations of
    one size, and falls with the size.

    Time: O(q t) distances for t I/O nodes.

    Args:
        topology: the network.
        hosts: the compute hosts S, int64 [host], at least one, all different.
        io_hosts: the I/O nodes T that the job asks for, int64 [host], at least one.

    Raises:
        ValueError: one of the two is empty, or a host is not in this network.
    """
    count = np.size(hosts)
    if not count or not np.size(io_hosts):
        raise ValueError("proximity is between at least one compute host and at least one I/O node")
    away = topology.distances(np.ravel(io_hosts), np.ravel(hosts))
    return float((away.min(axis=1) + away.max(axis=1)).max() / count)


def fewest_routers(topology: Topology, hosts: ArrayLike) -> Ints:
    """Return the least number of routers that so many of some hosts stand on, int64 [number of hosts, from 0].

    The routers with most of these hosts come first. Time: O(q log q).

    Args:
        topology: the network.
        hosts: int64 [host], those that may be chosen, such as all compute hosts; all different.

    Raises:
        ValueError: a host is not in this network.
    """
    counts = np.sort(np.bincount(topology.routers_of(hosts)))[::-1]
    held = np.cumsum(counts)
    return np.concatenate(([0], 1 + np.searchsorted(held, np.arange(1, np.size(hosts) + 1)))).astype(np.int64)


def locality(topology: Topology, hosts: ArrayLike, fewest: Ints) -> float:
    """Return the locality factor of an allocation: routers used / least possible number of routers, at least 1.

    In a fat tree the router of a host is its lowest switch.

    Args:
        topology: the network.
        hosts: int64 [host], at least one, all different.
        fewest: `fewest_routers` of all hosts that could have been chosen.

    Raises:
        ValueError: there is no host, there are more than could have been chosen, or one is not in this network.
    """
    count = np.size(hosts)
    if not 0 < count < len(fewest):
        raise ValueError(f"an allocation has from 1 to {len(fewest) - 1} hosts, not {count}")
    return len(np.unique(topology.routers_of(hosts))) / int(fewest[count])


def links_shared(topology: Topology, hosts: ArrayLike, others: Iterable[ArrayLike]) -> NDArray[np.bool_]:
    """Return which directed links an allocation has in common with others, bool [link], a new array.

    shared(S) = L(S) and the union of L(S') over the others S', with L of `Topology.links_within`

    S is convex in the present state iff no link is shared with the allocation of any running job [1].

    Args:
        topology: the network.
        hosts: S, int64 [host].
        others: the allocations S', int64 [host] each.

    Raises:
        ValueError: a host is not in this network.
    """
    used = np.zeros(topology.links, dtype=np.bool_)
    for other in others:
        used |= topology.links_within(other)
    return topology.links_within(hosts) & used
