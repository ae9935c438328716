"""What every topology is and answers: routers, directed links, distances and routes.

References:
    [1] R. Bleuse. Apprehending heterogeneity at (very) large scale. PhD thesis, Université Grenoble Alpes, 2017.
        (Compactness, proximity and the links within an allocation are defined there.)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from batdispatch.core.machine.machine import Machine

Kind = Literal["flat", "torus", "mesh", "grid", "fat tree", "dragonfly"]
Ints = NDArray[np.int64]

#: Number of pairs that are routed at once, which bounds the memory of an answer about many hosts.
AT_ONCE = 1 << 18


class Topology(ABC):
    """Routers, directed links, and which host stands where.

    A subclass builds the links, and defines `router_distances` and `_routes`. Everything else follows from these:

        dist(i, i') = number of links of route(i, i')
        L(S) = union of route(i, i') over all ordered pairs (i, i') of hosts of S

    Nothing of a topology changes once it is made.

    A link has a direction: the two directions of a cable are two links and do not slow down each other (SimGrid's
    ``SPLITDUPLEX``, the default of its clusters). With `shared`, the two directions of a cable share its bandwidth
    (``SHARED``), and whoever uses one direction uses both.

    Attributes:
        kind: torus, mesh, fat tree, dragonfly or flat; grid: a torus in some dimensions and a mesh in others.
        dims: size of each dimension of a grid; () for the other kinds.
        wrap: for each dimension, whether its last router is joined to its first one.
        routers: number of routers. They have the ids 0..routers-1.
        router_of: int64 [host], the router that a host stands on, -1 for a host that is not in this network.
        link_ends: int64 [link, 2], the routers that a directed link leads from and to. Links have the ids 0, 1, 2, ...
        opposite: int64 [link], the link that leads the other way over the same cable.
        shared: whether the two directions of a cable share its bandwidth.
    """

    kind: Kind
    dims: tuple[int, ...] = ()
    wrap: tuple[bool, ...] = ()
    #: Whether all hosts of a router have the same routes.
    routes_follow_routers: bool = True

    def __init__(self, router_of: ArrayLike, routers: int, link_ends: Ints, opposite: Ints, shared: bool) -> None:
        self.router_of: Ints = np.array(router_of, dtype=np.int64)
        if self.router_of.ndim != 1 or (self.router_of < -1).any() or (self.router_of >= routers).any():
            raise ValueError(f"the routers of hosts must be a list of numbers from -1 to {routers - 1}")
        self.routers = routers
        self.link_ends = link_ends
        self.opposite = opposite
        self.shared = shared

    @property
    def links(self) -> int:
        """Number of directed links between routers."""
        return len(self.link_ends)

    @cached_property
    def hosts_per_router(self) -> int:
        """Largest number of hosts on one router."""
        inside = self.router_of[self.router_of >= 0]
        return int(np.bincount(inside).max()) if inside.size else 0

    # Distances.

    @abstractmethod
    def router_distances(self, sources: Ints, targets: Ints) -> Ints:
        """Return the number of links from routers to routers, elementwise: int64, of the shape both broadcast to.

        Args:
            sources: routers, int64 of any shape.
            targets: routers, int64 of a shape that broadcasts with it.

        Raises:
            ValueError: one of them is a switch of a fat tree that no host can stand on.
        """

    def distance(self, source: int, target: int) -> int:
        """Return dist(source, target), the number of links on the route from one host to another: 0 on one router.

        Raises:
            ValueError: a host is not in this network.
        """
        return int(self.distances([source], [target])[0, 0])

    def distances(self, sources: ArrayLike, targets: ArrayLike) -> Ints:
        """Return the distances from hosts to hosts, int64 [source, target].

        Time: O(s t) for s sources and t targets, times D on a grid and times the number of levels in a fat tree.
        Memory: O(s t).

        Args:
            sources: hosts, int64 [source].
            targets: hosts, int64 [target].

        Raises:
            ValueError: a host is not in this network.
        """
        return self.router_distances(self.routers_of(sources)[:, None], self.routers_of(targets)[None, :])

    def sum_of_distances(self, hosts: ArrayLike) -> int:
        """Return the sum of dist(i, i') over all ordered pairs of hosts: q (q - 1) times their compactness gamma [1].

        gamma(S) = 1 / (q (q - 1)) sum of dist(i, i') over i, i' in S

        Time: O(q log q + r^2); on a grid O(q log q + sum of k^2 over the dimensions). Memory: O(q), and of the r^2
        distances at most `AT_ONCE` at a time.

        Args:
            hosts: int64 [host]; one that is named twice counts twice.

        Raises:
            ValueError: a host is not in this network.
        """
        routers, counts = np.unique(self.routers_of(hosts), return_counts=True)
        rows = max(AT_ONCE // max(len(routers), 1), 1)
        total = 0
        for start in range(0, len(routers), rows):
            block = slice(start, start + rows)
            total += int(counts[block] @ (self.router_distances(routers[block, None], routers[None, :]) @ counts))
        return total

    def sums_of_distances(self, hosts: Ints, bounds: Ints) -> Ints:
        """Return `sum_of_distances` of each of many sets of hosts, int64 [set].

        On a grid this takes a few microseconds for each set and tens of nanoseconds for each host.

        Args:
            hosts: the hosts of all sets, one set behind the other, int64 [slot].
            bounds: the hosts of set s are ``hosts[bounds[s]:bounds[s + 1]]``, int64 [set + 1].

        Raises:
            ValueError: a host is not in this network.
        """
        return np.array([self.sum_of_distances(each) for each in _parts(hosts, bounds)], dtype=np.int64)

    # Routes.

    @abstractmethod
    def _routes(self, sources: Ints, targets: Ints) -> Ints:
        """Return the links from hosts to hosts, elementwise: int64 [step, pair], -1 where a route has no such step."""

    def route(self, source: int, target: int) -> tuple[int, ...]:
        """Return the links on the route from one host to another, in the order of travel. Time: O(its length).

        The ends are hosts and not routers, because a fat tree chooses the way up by the number of the receiving host.

        Raises:
            ValueError: a host is not in this network.
        """
        pair = np.array([source, target], dtype=np.int64)
        self.routers_of(pair)
        steps = self._routes(pair[:1], pair[1:])[:, 0]
        return tuple(steps[steps >= 0].tolist())

    def hops(self, source: int, target: int) -> list[tuple[int, int]]:
        """Return the route from one host to another as (router, router) pairs, a pair for each link.

        Raises:
            ValueError: a host is not in this network.
        """
        return [(int(start), int(end)) for start, end in self.link_ends[list(self.route(source, target))]]

    def links_within(self, hosts: ArrayLike) -> NDArray[np.bool_]:
        """Return which links the hosts of a set use among themselves, bool [link], a new array.

        L(S) = all links on the routes between any two hosts of S, in both directions of travel [1]. With `shared`
        links, also the opposite direction of each of them. Two hosts of one router use no link.

        Time: O(r^2) routes for a dragonfly, O(q r) for a fat tree, where the number of the receiving host chooses the
        way, and O(q^2) where several cables join two of its switches, because the number of the sending host then
        chooses the cable on the way down. On a grid O(r D k), see `Grid`.

        Args:
            hosts: int64 [host], in any order.

        Raises:
            ValueError: a host is not in this network.
        """
        used = np.zeros(self.links, dtype=np.bool_)
        self._mark_links(np.unique(np.asarray(hosts, dtype=np.int64)), used)
        if self.shared:
            used |= used[self.opposite]
        return used

    def links_within_each(self, hosts: Ints, bounds: Ints) -> tuple[Ints, Ints]:
        """Return the links of `links_within` for each of many sets of hosts.

        On a grid of at most 63 routers a dimension this takes some ten microseconds for each small set; sets that are
        asked about together should have no more than some 100,000 hosts, since memory follows their number.

        Args:
            hosts: the hosts of all sets, one set behind the other, int64 [slot]; those of a set are all different.
            bounds: the hosts of set s are ``hosts[bounds[s]:bounds[s + 1]]``, int64 [set + 1].

        Returns:
            (links, bounds): the links of all sets, those of a set all different, int64; and where each set's begin and
            end, as for the hosts, int64 [set + 1].

        Raises:
            ValueError: a host is not in this network.
        """
        found = [np.flatnonzero(self.links_within(each)) for each in _parts(hosts, bounds)]
        counts = [0, *(len(each) for each in found)]
        links = np.concatenate(found) if found else np.zeros(0, dtype=np.int64)
        return links.astype(np.int64), np.cumsum(counts, dtype=np.int64)

    def _mark_links(self, hosts: Ints, used: NDArray[np.bool_]) -> None:
        """Set `used` for each link on the routes between any two of `hosts`, which are all different."""
        routers = self.routers_of(hosts)
        first = np.unique(routers, return_index=True)[1]
        sources = hosts[first] if self._sender_only_by_router else hosts
        targets = hosts[first] if self.routes_follow_routers else hosts
        rows = max(AT_ONCE // max(len(targets), 1), 1)
        for start in range(0, len(sources), rows):
            block = sources[start : start + rows]
            steps = self._routes(np.repeat(block, len(targets)), np.tile(targets, len(block)))
            used[steps[steps >= 0]] = True

    @property
    def _sender_only_by_router(self) -> bool:
        """Whether the routes to a host are the same from all hosts of a router."""
        return self.routes_follow_routers

    def routers_within(self, hosts: ArrayLike) -> NDArray[np.bool_]:
        """Return the routers of the hosts and all routers on the routes between them, bool [router], a new array.

        Time: as `links_within`.

        Args:
            hosts: int64 [host], in any order.

        Raises:
            ValueError: a host is not in this network.
        """
        touched = np.zeros(self.routers, dtype=np.bool_)
        touched[self.routers_of(hosts)] = True
        touched[self.link_ends[self.links_within(hosts)].ravel()] = True
        return touched

    # Neighbourhood.

    def neighbours(self, router: int) -> Ints:
        """Return the routers that a link leads to from this one, int64 in ascending order: a view, not to be modified.

        Time: O(1), after O(links log links) for the first call.
        """
        starts, ends = self._adjacency
        return ends[starts[router] : starts[router + 1]]

    @cached_property
    def _adjacency(self) -> tuple[Ints, Ints]:
        """Where each router's neighbours begin, int64 [router + 1], and all neighbours, int64 [pair of neighbours]."""
        pairs = np.unique(self.link_ends, axis=0)
        return np.searchsorted(pairs[:, 0], np.arange(self.routers + 1)).astype(np.int64), pairs[:, 1].copy()

    def switches(self) -> list[Ints]:
        """Return which switch each host is below, for each level from the lowest: [int64 [host], ...].

        Two hosts have the same number where they are below the same switch; a level's groups lie within those of the
        next one. The lowest switch of a host is its router, the uppermost is above all hosts, and stands for the whole
        network where this has no such switch. A host that is not in this network is below the uppermost one only.
        """
        whole = np.zeros_like(self.router_of)
        return [self.router_of, whole] if self.routers > 1 else [whole]

    def routers_of(self, hosts: ArrayLike) -> Ints:
        """Return the routers of hosts, int64 of the shape of `hosts`.

        Args:
            hosts: int64 of any shape.

        Raises:
            ValueError: a host is not in this network.
        """
        wanted = np.asarray(hosts, dtype=np.int64)
        known = (wanted >= 0) & (wanted < len(self.router_of))
        routers = self.router_of[np.where(known, wanted, 0)] if len(self.router_of) else np.full_like(wanted, -1)
        wrong = ~known | (routers < 0)
        if wrong.any():
            raise ValueError(f"host {int(wanted[wrong].flat[0])} is not in this network")
        return routers


def _parts(hosts: Ints, bounds: Ints) -> Iterator[Ints]:
    """Yield the hosts of each set."""
    return (hosts[start:end] for start, end in pairwise(bounds.tolist()))


def distinct_values(values: Ints) -> Ints:
    """Return the different values in ascending order, as `numpy.unique`, which takes longer where runs are in order."""
    found = np.sort(values, kind="stable")
    return found[np.concatenate(([True], found[1:] != found[:-1]))] if len(found) else found


def opposites(link_ends: Ints, routers: int) -> Ints:
    """Return the link that leads back, int64 [link], where at most one link leads from a router to another.

    Time: O(links log links).

    Args:
        link_ends: int64 [link, 2], the routers that each link leads from and to; of each link there is one back.
        routers: number of routers.
    """
    codes = link_ends[:, 0] * routers + link_ends[:, 1]
    order = np.argsort(codes)
    back = link_ends[:, 1] * routers + link_ends[:, 0]
    return np.asarray(order[np.searchsorted(codes[order], back)], dtype=np.int64)


def topology_of(machine: Machine) -> Topology | None:
    """Return the network of a machine if it is a topology of ours; None: it has none, or one of another package."""
    network = machine.topology
    return network if isinstance(network, Topology) else None
