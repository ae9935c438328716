"""The network that joins the hosts: routers, the links between them, distances and routes, as SimGrid routes messages.

A host stands on a router. A route is the sequence of directed links that a message takes from the sender's router to
the receiver's; a distance is the number of these links, so it is 0 between two hosts of one router. The links that join
a host to its own router are left out: no other host uses them. Routes are static: they depend on sender and receiver
and on nothing else, so two jobs whose routes have no link in common never slow down each other's messages.

Routes are those of SimGrid's cluster zones, checked link by link against SimGrid 3.32:

- `Flat`: all hosts stand on one router. Every distance is 0.
- `Grid`: torus and mesh. Dimension-order routing: first all steps in dimension 0, then in dimension 1, and so on.
- `FatTree`: up to the nearest switch that both hosts stand below, and down again, with D-mod-k routing [1].
- `Dragonfly`: the shortest way over chassis and groups [2].

Where it says so, hosts and routers are int64 arrays of ids; ``q`` is a number of hosts, ``r`` of their routers, ``D`` a
number of dimensions and ``k`` the size of one.

References:
    [1] E. Zahavi. D-Mod-K routing providing non-blocking traffic for shift permutations on real life fat trees.
        CCIT report 776, Technion, 2010.
    [2] J. Kim, W. J. Dally, S. Scott, D. Abts. Technology-driven, highly-scalable dragonfly topology. ISCA 2008.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Kind = Literal["flat", "torus", "mesh", "grid", "fat tree", "dragonfly"]
Ints = NDArray[np.int64]

#: Number of pairs that are routed at once, which bounds the memory of an answer about many hosts.
_AT_ONCE = 1 << 18


class Topology(ABC):
    """Routers, directed links, and which host stands where.

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
    _routes_follow_routers: bool = True

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
        """Return the number of links from routers to routers, elementwise; the two arrays broadcast.

        Raises:
            ValueError: one of them is a switch of a fat tree that no host can stand on.
        """

    def distance(self, source: int, target: int) -> int:
        """Return the number of links on the route from one host to another: 0 on one router.

        Raises:
            ValueError: a host is not in this network.
        """
        return int(self.distances([source], [target])[0, 0])

    def distances(self, sources: ArrayLike, targets: ArrayLike) -> Ints:
        """Return the distances from hosts to hosts, int64 [source, target]. Time and memory: their product.

        Raises:
            ValueError: a host is not in this network.
        """
        return self.router_distances(self._router(sources)[:, None], self._router(targets)[None, :])

    def sum_of_distances(self, hosts: ArrayLike) -> int:
        """Return the sum of dist(i, i') over all ordered pairs of hosts: q (q - 1) times their compactness gamma.

        Time: O(q + r^2); on a grid O(q + sum of k^2 over the dimensions). Memory is bounded.

        Raises:
            ValueError: a host is not in this network.
        """
        routers, counts = np.unique(self._router(hosts), return_counts=True)
        rows = max(_AT_ONCE // max(len(routers), 1), 1)
        total = 0
        for start in range(0, len(routers), rows):
            block = slice(start, start + rows)
            total += int(counts[block] @ (self.router_distances(routers[block, None], routers[None, :]) @ counts))
        return total

    # Routes.

    @abstractmethod
    def _routes(self, sources: Ints, targets: Ints) -> Ints:
        """Return the links from hosts to hosts, elementwise: int64 [step, pair], -1 where a route has no such step."""

    def route(self, source: int, target: int) -> tuple[int, ...]:
        """Return the links on the route from one host to another, in the order of travel.

        Hosts and not routers, because a fat tree chooses the way up by the number of the receiving host.

        Raises:
            ValueError: a host is not in this network.
        """
        pair = np.array([source, target], dtype=np.int64)
        self._router(pair)
        steps = self._routes(pair[:1], pair[1:])[:, 0]
        return tuple(steps[steps >= 0].tolist())

    def hops(self, source: int, target: int) -> list[tuple[int, int]]:
        """Return the route from one host to another as (router, router) hops.

        Raises:
            ValueError: a host is not in this network.
        """
        return [(int(start), int(end)) for start, end in self.link_ends[list(self.route(source, target))]]

    def links_within(self, hosts: ArrayLike) -> NDArray[np.bool_]:
        """Return which links the hosts of a set use among themselves, bool [link], a new array.

        L(S) = all links on the routes between any two hosts of S, in both directions of travel. With `shared` links,
        also the opposite direction of each of them. Two hosts of one router use no link.

        Time: O(r^2) routes; on a grid O(D r k), see `Grid`. A fat tree with several cables between two switches needs
        O(q^2), because the sending host's number chooses the cable on the way down.

        Raises:
            ValueError: a host is not in this network.
        """
        used = np.zeros(self.links, dtype=np.bool_)
        self._mark_links(np.unique(np.asarray(hosts, dtype=np.int64)), used)
        if self.shared:
            used |= used[self.opposite]
        return used

    def _mark_links(self, hosts: Ints, used: NDArray[np.bool_]) -> None:
        """Set `used` for each link on the routes between any two of `hosts`, which are all different."""
        routers = self._router(hosts)
        first = np.unique(routers, return_index=True)[1]
        sources = hosts[first] if self._sender_only_by_router else hosts
        targets = hosts[first] if self._routes_follow_routers else hosts
        rows = max(_AT_ONCE // max(len(targets), 1), 1)
        for start in range(0, len(sources), rows):
            block = sources[start : start + rows]
            steps = self._routes(np.repeat(block, len(targets)), np.tile(targets, len(block)))
            used[steps[steps >= 0]] = True

    @property
    def _sender_only_by_router(self) -> bool:
        """Whether the routes to a host are the same from all hosts of a router."""
        return self._routes_follow_routers

    def routers_within(self, hosts: ArrayLike) -> NDArray[np.bool_]:
        """Return the routers of the hosts and all routers on the routes between them, bool [router], a new array.

        Time: as `links_within`.

        Raises:
            ValueError: a host is not in this network.
        """
        touched = np.zeros(self.routers, dtype=np.bool_)
        touched[self._router(hosts)] = True
        touched[self.link_ends[self.links_within(hosts)].ravel()] = True
        return touched

    # Neighbourhood.

    def neighbours(self, router: int) -> Ints:
        """Return the routers that a link leads to from this one, in ascending order: a view, not to be modified."""
        starts, ends = self._adjacency
        return ends[starts[router] : starts[router + 1]]

    @cached_property
    def _adjacency(self) -> tuple[Ints, Ints]:
        """Where each router's neighbours begin, int64 [router + 1], and all neighbours."""
        pairs = np.unique(self.link_ends, axis=0)
        return np.searchsorted(pairs[:, 0], np.arange(self.routers + 1)).astype(np.int64), pairs[:, 1].copy()

    def _router(self, hosts: ArrayLike) -> Ints:
        """Return the routers of hosts; all of them must be in this network."""
        wanted = np.asarray(hosts, dtype=np.int64)
        known = (wanted >= 0) & (wanted < len(self.router_of))
        routers = self.router_of[np.where(known, wanted, 0)] if len(self.router_of) else np.full_like(wanted, -1)
        wrong = ~known | (routers < 0)
        if wrong.any():
            raise ValueError(f"host {int(wanted[wrong].flat[0])} is not in this network")
        return routers


def _opposites(link_ends: Ints, routers: int) -> Ints:
    """Return the link that leads back, for links of which at most one leads from a router to another."""
    codes = link_ends[:, 0] * routers + link_ends[:, 1]
    order = np.argsort(codes)
    back = link_ends[:, 1] * routers + link_ends[:, 0]
    return np.asarray(order[np.searchsorted(codes[order], back)], dtype=np.int64)


class Flat(Topology):
    """All hosts stand on one router, for instance a switch that never limits them: no links, every distance is 0."""

    kind: Kind = "flat"

    def __init__(self, inside: Iterable[bool]) -> None:
        """Build it.

        Args:
            inside: for each host, whether it stands on the router.
        """
        router_of = [0 if each else -1 for each in inside]
        super().__init__(router_of, 1, np.zeros((0, 2), dtype=np.int64), np.zeros(0, dtype=np.int64), False)

    def router_distances(self, sources: Ints, targets: Ints) -> Ints:
        """Return zeros."""
        return np.zeros(np.broadcast_shapes(sources.shape, targets.shape), dtype=np.int64)

    def _routes(self, sources: Ints, targets: Ints) -> Ints:
        return np.zeros((0, len(sources)), dtype=np.int64)


class Grid(Topology):
    """A k-ary grid of any number of dimensions: a torus where it wraps around, a mesh where it does not.

    Router (x, y, z, ...) has the id x + X (y + Y (z + ...)). A message first takes all steps in dimension 0, then all
    in dimension 1, and so on. In a dimension of size k, from coordinate a to b:

    - without wrap-around there is one way, of abs(b - a) steps;
    - with wrap-around it goes up iff 0 < (b - a) mod k <= h(a), else down, with h(a) = k // 2, except that
      h(k / 2) = k / 2 - 1 for even k. This is the shorter way round. For even k a tie of k / 2 steps each way is
      decided upwards, except from k / 2 to 0: in a ring of 4, 0>1>2 and 2>1>0, but 1>2>3 and 3>0>1.

    The rule is SimGrid's: a < b <= a + k // 2, or a > k // 2 and (a + k // 2) mod k >= b.

    `links_within` uses that a route in dimension d runs on the ring that has the target's coordinates in the
    dimensions before d and the source's in those after d. On each ring, from each source's coordinate the farthest
    target in each direction says it all. Time: O(r D k) for r routers, and never more than O(r_s r_t) for each
    dimension, with r_s rows of sources and r_t rows of targets, times k: 3 ms for half of a 24 x 24 x 24 torus.
    """

    def __init__(
        self, router_of: ArrayLike, dims: Sequence[int], *, wrap: bool | Sequence[bool] = True, shared: bool = False
    ) -> None:
        """Build it.

        Args:
            router_of: int64 [host], the id of a host's router, -1 for a host that is not in this network.
            dims: size of each dimension, at least 1.
            wrap: whether the last router of a dimension is joined to its first, for all dimensions or for each.
            shared: whether the two directions of a cable share its bandwidth.

        Raises:
            ValueError: a size is less than 1, `wrap` is of another length than `dims`, or a router does not exist.
        """
        self.dims = tuple(int(size) for size in dims)
        self.wrap = (wrap,) * len(self.dims) if isinstance(wrap, bool) else tuple(wrap)
        if not self.dims or min(self.dims) < 1 or len(self.wrap) != len(self.dims):
            raise ValueError(f"a grid needs sizes of at least 1 and wrap-around for each, not {dims} and {wrap}")
        # In a dimension of 1 there is nothing to wrap around.
        kinds = {wraps for wraps, size in zip(self.wrap, self.dims, strict=True) if size > 1} or set(self.wrap)
        self.kind = "grid" if len(kinds) > 1 else "torus" if True in kinds else "mesh"
        routers = math.prod(self.dims)
        self._strides = [math.prod(self.dims[:axis]) for axis in range(len(self.dims))]
        #: For each dimension int64 [coordinate]: most steps that a message takes upwards, and downwards.
        self._most = [_most_steps(size, wraps) for size, wraps in zip(self.dims, self.wrap, strict=True)]
        ids = np.arange(routers)
        beside = np.full((routers, len(self.dims), 2), -1, dtype=np.int64)
        for axis, (size, stride) in enumerate(zip(self.dims, self._strides, strict=True)):
            place = ids // stride % size
            for way, (most, step) in enumerate(zip(self._most[axis], (1, -1), strict=True)):
                there = ids + ((place + step) % size - place) * stride
                beside[:, axis, way] = np.where(most[place] > 0, there, -1)
        exists = beside >= 0
        #: int64 [router, dimension, up or down], the link that leads there, -1 where there is none.
        self._link = np.where(exists, np.cumsum(exists.ravel()).reshape(exists.shape) - 1, -1)
        ends = np.stack([np.nonzero(exists)[0], beside[exists]], axis=1).astype(np.int64)
        super().__init__(router_of, routers, ends, _opposites(ends, routers), shared)

    def coordinates(self, routers: ArrayLike) -> Ints:
        """Return the coordinates of routers, int64 [..., dimension]."""
        ids = np.asarray(routers, dtype=np.int64)
        places = [ids // stride % size for stride, size in zip(self._strides, self.dims, strict=True)]
        return np.stack(places, axis=-1)

    def _steps(self, axis: int, sources: Ints, targets: Ints) -> Ints:
        """Return the steps from coordinates to coordinates of a dimension, elementwise; negative: downwards."""
        up = (targets - sources) % self.dims[axis]
        return np.where(up <= self._most[axis][0][sources], up, up - self.dims[axis])

    def router_distances(self, sources: Ints, targets: Ints) -> Ints:
        """Return the number of links from routers to routers: the sum over the dimensions, symmetric."""
        total = np.zeros(np.broadcast_shapes(sources.shape, targets.shape), dtype=np.int64)
        for axis, (size, stride) in enumerate(zip(self.dims, self._strides, strict=True)):
            total += np.abs(self._steps(axis, sources // stride % size, targets // stride % size))
        return total

    def sum_of_distances(self, hosts: ArrayLike) -> int:
        """Return the sum of dist(i, i') over all ordered pairs of hosts, dimension by dimension.

        Time: O(q + sum of k^2 over the dimensions), see `Topology.sum_of_distances`.
        """
        routers = self._router(hosts)
        total = 0
        for axis, (size, stride) in enumerate(zip(self.dims, self._strides, strict=True)):
            places, counts = np.unique(routers // stride % size, return_counts=True)
            rows = max(_AT_ONCE // max(len(places), 1), 1)
            for start in range(0, len(places), rows):
                block = slice(start, start + rows)
                steps = np.abs(self._steps(axis, places[block, None], places[None, :]))
                total += int(counts[block] @ (steps @ counts))
        return total

    def route(self, source: int, target: int) -> tuple[int, ...]:
        """Return the links on the route from one host to another, in the order of travel."""
        at, there = (int(router) for router in self._router([source, target]))
        route = []
        for axis, (size, stride) in enumerate(zip(self.dims, self._strides, strict=True)):
            place = at // stride % size
            up = (there // stride - place) % size
            steps = up if up <= self._most[axis][0][place] else up - size
            for _ in range(abs(steps)):
                link = int(self._link[at, axis, 0 if steps > 0 else 1])
                route.append(link)
                at = int(self.link_ends[link, 1])
        return tuple(route)

    def _routes(self, sources: Ints, targets: Ints) -> Ints:
        listed = [self.route(a, b) for a, b in zip(sources.tolist(), targets.tolist(), strict=True)]
        table = np.full((max(map(len, listed), default=0), len(listed)), -1, dtype=np.int64)
        for column, route in enumerate(listed):
            table[: len(route), column] = route
        return table

    def _mark_links(self, hosts: Ints, used: NDArray[np.bool_]) -> None:
        routers = self._router(hosts)
        for axis, (size, stride) in enumerate(zip(self.dims, self._strides, strict=True)):
            place = routers // stride % size
            # A ring is named by its coordinates after this dimension and before it.
            after, source_row = np.unique(routers // (stride * size), return_inverse=True)
            before, target_row = np.unique(routers % stride, return_inverse=True)
            sources = np.zeros((len(after), size), dtype=np.bool_)
            sources[source_row, place] = True
            targets = np.zeros((len(before), size), dtype=np.bool_)
            targets[target_row, place] = True
            first = after[:, None, None] * (stride * size) + before[None, :, None]
            ring = first + np.arange(size) * stride
            up, down = self._most[axis]
            for way, covered in enumerate(
                (
                    _covered(sources, targets, up),
                    # Downwards is upwards in the mirror.
                    _covered(sources[:, ::-1], targets[:, ::-1], down[::-1])[:, :, ::-1],
                )
            ):
                used[self._link[ring[covered], axis, way]] = True


def _most_steps(size: int, wraps: bool) -> tuple[Ints, Ints]:
    """Return the most steps upwards and downwards from each coordinate of a dimension, int64 [coordinate] both."""
    place = np.arange(size, dtype=np.int64)
    if not wraps:
        return size - 1 - place, place
    up = np.full(size, size // 2, dtype=np.int64)
    if size % 2 == 0:
        up[size // 2] -= 1
    up = np.minimum(up, size - 1)
    return up, size - 1 - up


def _covered(sources: NDArray[np.bool_], targets: NDArray[np.bool_], most: Ints) -> NDArray[np.bool_]:
    """Return which links of rings are used upwards, bool [source row, target row, coordinate that a link starts at].

    Args:
        sources: bool [source row, coordinate].
        targets: bool [target row, coordinate].
        most: int64 [coordinate], the most steps upwards from there.
    """
    size = len(most)
    place = np.arange(size)
    # The last target at or below a place, where places go on after the end of the ring.
    twice = np.where(np.concatenate([targets, targets], axis=1), np.arange(2 * size), -1)
    last = np.maximum.accumulate(twice, axis=1)
    reach = np.maximum(last[:, place + most] - place, 0)
    changes = np.zeros((len(sources), len(targets), 2 * size + 1), dtype=np.int32)
    changes[:, :, :size] += sources[:, None, :]
    row, start = np.nonzero(sources)
    column = np.arange(len(targets))
    np.subtract.at(changes, (row[:, None], column[None, :], start[:, None] + reach[:, start].T), 1)
    used = np.cumsum(changes, axis=2) > 0
    return np.asarray(used[:, :, :size] | used[:, :, size : 2 * size])


class FatTree(Topology):
    """A parallel-ports generalised fat tree (PGFT) with D-mod-k routing.

    Level 0 are the hosts, level L the uppermost switches. A switch of level l + 1 has ``down[l]`` children, a node of
    level l has ``up[l]`` parents, and ``cables[l]`` cables lead to each of them. The router of a host is its switch on
    level 1. Where hosts have several (``up[0]`` > 1), each host is a router of its own instead, and the links to its
    switches count.

    dist(i, i') = 2 (m - f), where m is the lowest level of a switch that both stand below, and f the level of routers
    with hosts: 1, or 0 where each host is a router of its own.

    On the way up from a node of level l to the host at place t, the port is
    t // (prod of up[i] for i < l) mod (up[l] cables[l]); the ports of one parent are ``up[l]`` apart. (There are
    versions of SimGrid that divide by up[i] cables[i]. The two differ where several cables lead to a switch below the
    top.) Going down, SimGrid takes cable s mod ``cables`` for a sender at place s. After a first step down it takes,
    of the cables to the next switch, the first whose port has a higher number than the port just left, if there is
    one. Only the choice between parallel cables depends on that.

    Routers are numbered level by level from below, in the order of SimGrid's positions.
    """

    kind: Kind = "fat tree"

    def __init__(
        self,
        place_of: ArrayLike,
        down: Sequence[int],
        up: Sequence[int],
        cables: Sequence[int],
        *,
        shared: bool = False,
    ) -> None:
        """Build it.

        Args:
            place_of: int64 [host], a host's place among the leaves (0..prod(down)-1), -1 for a host that is not there.
            down: children of a switch, for each level from below.
            up: parents of a host or switch below each level.
            cables: parallel cables between a child and a parent.
            shared: whether the two directions of a cable share its bandwidth.

        Raises:
            ValueError: the three differ in length, a number is less than 1, or a place does not exist.
        """
        self.down, self.up, self.cables = tuple(down), tuple(up), tuple(cables)
        levels = len(self.down)
        if not levels or {len(self.up), len(self.cables)} != {levels} or min(*down, *up, *cables) < 1:
            raise ValueError(f"a fat tree needs three equally long lists of numbers from 1, not {down}, {up}, {cables}")
        self._place: Ints = np.array(place_of, dtype=np.int64)
        if (self._place < -1).any() or (self._place >= math.prod(down)).any():
            raise ValueError(f"the places of hosts must be numbers from -1 to {math.prod(down) - 1}")
        #: Level of the routers that hosts stand on.
        self._first = 0 if self.up[0] > 1 else 1
        #: For each level: nodes there with the same children's labels, and hosts below one of its nodes.
        self._copies = [math.prod(self.up[:level]) for level in range(levels + 1)]
        self._below = [math.prod(self.down[:level]) for level in range(levels + 1)]
        self._ports = [parents * count for parents, count in zip(self.up, self.cables, strict=True)]
        nodes = [self._copies[level] * math.prod(self.down[level:]) for level in range(levels + 1)]
        self._leaves = nodes[self._first]
        first_node = dict(zip(range(self._first, levels + 1), np.cumsum([0, *nodes[self._first :]]), strict=False))
        #: For each level: the number of the first cable to the level above.
        self._cable: dict[int, int] = {}
        ends: list[Ints] = [np.zeros((0, 2), dtype=np.int64)]
        count = 0
        for level in range(self._first, levels):
            self._cable[level] = count
            child, port = np.divmod(np.arange(nodes[level] * self._ports[level]), self._ports[level])
            parent = first_node[level + 1] + self._parent(level, child, port)
            child = first_node[level] + child
            ends.append(np.stack([child, parent, parent, child], axis=1).reshape(-1, 2))
            count += len(child)
        router_of = np.where(self._place < 0, -1, self._place // self._below[self._first])
        total = int(first_node[levels]) + nodes[levels]
        # A cable's way up is an even link, its way down the odd one after it.
        super().__init__(router_of, total, np.concatenate(ends), np.arange(2 * count) ^ 1, shared)
        self._routes_follow_routers = self._first == 0

    def _parent(self, level: int, child: Ints, port: Ints) -> Ints:
        """Return the position on the next level of the switch behind a port of a node."""
        copies = self._copies[level]
        low, high = child % copies, child // (copies * self.down[level])
        return np.asarray(low + copies * (port % self.up[level] + self.up[level] * high))

    @property
    def _sender_only_by_router(self) -> bool:
        return all(count == 1 for count in self.cables[self._first :])

    def router_distances(self, sources: Ints, targets: Ints) -> Ints:
        """Return the number of links from routers to routers that hosts can stand on, symmetric."""
        if (np.asarray(sources) >= self._leaves).any() or (np.asarray(targets) >= self._leaves).any():
            raise ValueError("distances in a fat tree are between routers that hosts stand on")
        total = np.zeros(np.broadcast_shapes(sources.shape, targets.shape), dtype=np.int64)
        for level in range(self._first, len(self.down)):
            hosts = self._below[level] // self._below[self._first]
            total += 2 * (sources // hosts != targets // hosts)
        return total

    def _routes(self, sources: Ints, targets: Ints) -> Ints:
        start, end = self._place[sources], self._place[targets]
        levels = range(len(self.down))
        steps: list[Ints] = []
        at = start
        climbing = start != end
        #: The level where the route turns.
        top = np.zeros_like(start)
        divisor = 1
        for level in levels:
            if level:
                climbing = climbing & (at // self._copies[level] != end // self._below[level])
            port = end // divisor % self._ports[level]
            divisor *= self.up[level]
            if level >= self._first:
                cable = self._cable[level] + at * self._ports[level] + port
                steps.append(np.where(climbing, 2 * cable, -1))
            at = np.where(climbing, self._parent(level, at, port), at)
            top = np.where(climbing, level + 1, top)
        left = np.full_like(start, -1)
        for level in reversed(levels):
            falling = top > level
            copies, children, count = self._copies[level], self.down[level], self.cables[level]
            digit = end // self._below[level] % children
            label = at // copies % self.up[level]
            child = at % copies + copies * (digit + children * (at // (copies * self.up[level])))
            later = np.maximum(-((digit - left - 1) // children), 0)
            choice = np.where((left >= 0) & (later < count), later, start % count)
            if level >= self._first:
                cable = self._cable[level] + child * self._ports[level] + label + choice * self.up[level]
                steps.append(np.where(falling, 2 * cable + 1, -1))
            left = np.where(falling, digit + choice * children, left)
            at = np.where(falling, child, at)
        return np.stack(steps) if steps else np.zeros((0, len(start)), dtype=np.int64)


class Dragonfly(Topology):
    """Groups of chassis of routers, with SimGrid's minimal routing.

    Routers of a chassis are joined pairwise ("green" links), so are the routers of the same number in the chassis of a
    group ("black") and the groups ("blue"): group g is joined to group g' by router g' of its first chassis. Router
    (g, c, n) has the id (g C + c) R + n for C chassis in a group and R routers in a chassis. Parallel cables of a
    dragonfly are one link with more bandwidth in SimGrid.

    To another group g', a message goes to router g' of its chassis, to the same router in the first chassis, over the
    blue link to router g of the first chassis there, then to the target's number and to its chassis; steps that lead
    nowhere are left out. At most 5 links.

    Inside a group SimGrid takes the green link to the target's number in the sender's chassis, if the number differs,
    and goes on **as if it stood in the first chassis** (in all versions known). So from a chassis c other than the
    first, to another number: into the first chassis the black link is left out; back into chassis c itself the black
    link from the first chassis is used although the message is there already. Simulated messages use these links,
    and so does this class: `hops` are then not connected, and distances are not symmetric.
    """

    kind: Kind = "dragonfly"

    def __init__(self, router_of: ArrayLike, groups: int, chassis: int, routers: int, *, shared: bool = False) -> None:
        """Build it.

        Args:
            router_of: int64 [host], the id of a host's router, -1 for a host that is not in this network.
            groups: number of groups, at most `routers`.
            chassis: chassis in a group.
            routers: routers in a chassis.
            shared: whether the two directions of a cable share its bandwidth.

        Raises:
            ValueError: a number is less than 1, or there are more groups than routers in a chassis.
        """
        if min(groups, chassis, routers) < 1 or groups > routers:
            raise ValueError(
                f"a dragonfly needs numbers from 1 and at most as many groups as routers in a chassis, not {groups} "
                f"groups of {chassis} chassis of {routers} routers"
            )
        self.groups, self.chassis, self.routers_per_chassis = groups, chassis, routers
        group, row, number = (each.ravel() for each in np.indices((groups, chassis, routers)))
        green = self._pairs(np.arange(groups * chassis * routers), routers - 1)
        ends = [np.stack([green[0], green[0] // routers * routers + _skip(number[green[0]], green[1])], axis=1)]
        black = self._pairs(np.arange(groups * chassis * routers), chassis - 1)
        there = (group[black[0]] * chassis + _skip(row[black[0]], black[1])) * routers + number[black[0]]
        ends.append(np.stack([black[0], there], axis=1))
        blue = self._pairs(np.arange(groups), groups - 1)
        other = _skip(blue[0], blue[1])
        ends.append(np.stack([blue[0] * chassis * routers + other, other * chassis * routers + blue[0]], axis=1))
        #: The number of the first black link, and of the first blue one.
        self._black, self._blue = len(ends[0]), len(ends[0]) + len(ends[1])
        total = groups * chassis * routers
        joined = np.concatenate(ends).astype(np.int64)
        super().__init__(router_of, total, joined, _opposites(joined, total), shared)

    @staticmethod
    def _pairs(items: Ints, others: int) -> tuple[Ints, Ints]:
        return np.repeat(items, others), np.tile(np.arange(others), len(items))

    def _green_link(self, group: Ints, chassis: Ints, start: Ints, end: Ints) -> Ints:
        router = (group * self.chassis + chassis) * self.routers_per_chassis + start
        return router * (self.routers_per_chassis - 1) + end - (end > start)

    def _black_link(self, group: Ints, start: Ints, end: Ints, number: Ints) -> Ints:
        router = (group * self.chassis + start) * self.routers_per_chassis + number
        return self._black + router * (self.chassis - 1) + end - (end > start)

    def _router_routes(self, sources: Ints, targets: Ints) -> Ints:
        """Return the links from routers to routers, elementwise: int64 [5, ...], -1 for a step that is left out."""
        size = self.chassis * self.routers_per_chassis
        group, there = sources // size, targets // size
        chassis, its_chassis = (each // self.routers_per_chassis % self.chassis for each in (sources, targets))
        number, its_number = sources % self.routers_per_chassis, targets % self.routers_per_chassis
        first = np.zeros_like(chassis)
        leaves = group != there
        steps = [
            np.where(leaves & (number != there), self._green_link(group, chassis, number, there), -1),
            np.where(leaves & (chassis != 0), self._black_link(group, chassis, first, there), -1),
            np.where(leaves, self._blue + group * (self.groups - 1) + there - (there > group), -1),
        ]
        chassis = np.where(leaves, first, chassis)
        number = np.where(leaves, group, number)
        moves = number != its_number
        steps.append(np.where(moves, self._green_link(there, chassis, number, its_number), -1))
        # As SimGrid does, whatever chassis the message stands in.
        chassis = np.where(moves, first, chassis)
        steps.append(np.where(chassis != its_chassis, self._black_link(there, chassis, its_chassis, its_number), -1))
        table = np.stack(steps)
        table[:, sources == targets] = -1
        return table

    def router_distances(self, sources: Ints, targets: Ints) -> Ints:
        """Return the number of links from routers to routers: 0 to 5."""
        pairs = np.broadcast_arrays(np.asarray(sources), np.asarray(targets))
        return np.asarray((self._router_routes(*pairs) >= 0).sum(axis=0), dtype=np.int64)

    def _routes(self, sources: Ints, targets: Ints) -> Ints:
        return self._router_routes(self.router_of[sources], self.router_of[targets])


def _skip(own: Ints, other: Ints) -> Ints:
    """Return the `other`-th number that is not `own`."""
    return other + (other >= own)
