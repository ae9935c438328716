"""Tori and meshes with dimension-order routing."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from batdispatch.abilities.topology.networks.base import AT_ONCE, Ints, Topology, distinct_values, opposites
from batdispatch.core.hosts.hostsets import ranges


class Grid(Topology):
    """A k-ary grid of any number of dimensions: a torus where it wraps around, a mesh where it does not.

    Router (x, y, z, ...) has the id x + X (y + Y (z + ...)) for sizes X, Y, Z, ... A message first takes all steps in
    dimension 0, then all in dimension 1, and so on [1]. In a dimension of size k, from coordinate a to b:

    - without wrap-around there is one way, of abs(b - a) steps;
    - with wrap-around it goes up iff 0 < (b - a) mod k <= h(a), else down, with h(a) = k // 2, except that
      h(k / 2) = k / 2 - 1 for even k. This is the shorter way round. For even k a tie of k / 2 steps each way is
      decided upwards, except from k / 2 to 0: in a ring of 4, 0>1>2 and 2>1>0, but 1>2>3 and 3>0>1.

    The rule is SimGrid's: a < b <= a + k // 2, or a > k // 2 and (a + k // 2) mod k >= b.

    dist(i, i') = sum over the dimensions of abs(b - a), or with wrap-around of min((b - a) mod k, (a - b) mod k)

    `links_within` uses that a route in dimension d runs on the ring that has the target's coordinates in the
    dimensions before d and the source's in those after d. On such a ring a source uses, in each direction, the links up
    to the farthest target there, and no others. Time: O(r_s r_t k) for each dimension, where the hosts have r_s
    different coordinates after it and r_t before it: O(r D k) for hosts that fill a box. Half of a 24 x 24 x 24 torus
    takes 3 ms.

    References:
        [1] W. J. Dally, C. L. Seitz. Deadlock-free message routing in multiprocessor interconnection networks. IEEE
            Transactions on Computers, C-36(5), 1987, pp. 547-553.
    """

    def __init__(
        self, router_of: ArrayLike, dims: Sequence[int], *, wrap: bool | Sequence[bool] = True, shared: bool = False
    ) -> None:
        """Build the grid and put hosts on its routers. Time: O(routers x D).

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
        super().__init__(router_of, routers, ends, opposites(ends, routers), shared)

    def coordinates(self, routers: ArrayLike) -> Ints:
        """Return the coordinates of routers, int64 [..., dimension].

        The coordinate in dimension d is (id // product of the sizes before d) mod (size of d). Time: O(r D).

        Args:
            routers: int64 [...].
        """
        ids = np.asarray(routers, dtype=np.int64)
        places = [ids // stride % size for stride, size in zip(self._strides, self.dims, strict=True)]
        return np.stack(places, axis=-1)

    def beside(self, axis: int, way: int, links: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return from which routers a link of a set leads to the next router of a dimension, bool [router].

        Args:
            axis: the dimension.
            way: 0: upwards, 1: downwards.
            links: bool [link].
        """
        link = self._link[:, axis, way]
        return np.asarray((link >= 0) & links[link]) if len(links) else np.zeros(len(link), dtype=np.bool_)

    def steps(self, axis: int, sources: Ints, targets: Ints) -> Ints:
        """Return the steps from coordinates to coordinates of a dimension, elementwise; negative: downwards."""
        up = (targets - sources) % self.dims[axis]
        return np.where(up <= self._most[axis][0][sources], up, up - self.dims[axis])

    def router_distances(self, sources: Ints, targets: Ints) -> Ints:
        """Return the number of links from routers to routers: the sum over the dimensions, symmetric."""
        total = np.zeros(np.broadcast_shapes(sources.shape, targets.shape), dtype=np.int64)
        for axis, (size, stride) in enumerate(zip(self.dims, self._strides, strict=True)):
            total += np.abs(self.steps(axis, sources // stride % size, targets // stride % size))
        return total

    def sum_of_distances(self, hosts: ArrayLike) -> int:
        """Return the sum of dist(i, i') over all ordered pairs of hosts, dimension by dimension.

        Time: O(D q log q + sum of k^2 over the dimensions), see `Topology.sum_of_distances`.
        """
        routers = self.routers_of(hosts)
        total = 0
        for axis, (size, stride) in enumerate(zip(self.dims, self._strides, strict=True)):
            places, counts = np.unique(routers // stride % size, return_counts=True)
            rows = max(AT_ONCE // max(len(places), 1), 1)
            for start in range(0, len(places), rows):
                block = slice(start, start + rows)
                steps = np.abs(self.steps(axis, places[block, None], places[None, :]))
                total += int(counts[block] @ (steps @ counts))
        return total

    def sums_of_distances(self, hosts: Ints, bounds: Ints) -> Ints:
        """Return `sum_of_distances` of each of many sets of hosts, see `Topology.sums_of_distances`.

        With n_d [set, coordinate] hosts at each coordinate of dimension d, and A_d [coordinate, coordinate] the steps
        between two, this is the sum over the dimensions of the diagonal of n_d A_d n_d'.
        """
        if max(self.dims) > MOST_AT_ONCE:
            return super().sums_of_distances(hosts, bounds)
        routers = self.routers_of(hosts)
        sets = len(bounds) - 1
        owner = np.repeat(np.arange(sets), np.diff(bounds))
        total = np.zeros(sets)
        for axis, (size, stride) in enumerate(zip(self.dims, self._strides, strict=True)):
            counts = np.bincount(owner * size + routers // stride % size, minlength=sets * size).reshape(sets, size)
            place = np.arange(size)
            steps = np.abs(self.steps(axis, place[:, None], place[None, :])).astype(np.float64)
            # Whole numbers below 2^53 are exact in floating point.
            total += ((counts @ steps) * counts).sum(axis=1)
        return np.rint(total).astype(np.int64)

    def route(self, source: int, target: int) -> tuple[int, ...]:
        """Return the links on the route from one host to another, in the order of travel."""
        at, there = (int(router) for router in self.routers_of([source, target]))
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
        routers = self.routers_of(hosts)
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

    def links_within_each(self, hosts: Ints, bounds: Ints) -> tuple[Ints, Ints]:
        """Return the links of `links_within` for each of many sets of hosts, see `Topology.links_within_each`.

        The sources, the targets and the used links of a ring are words of 64 bits, and all rings of all sets are
        looked at together, for each number of steps.
        """
        if max(self.dims) > MOST_AT_ONCE:
            return super().links_within_each(hosts, bounds)
        owner = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        # Each router of a set once.
        owner, routers = np.divmod(distinct_values(owner * self.routers + self.routers_of(hosts)), self.routers)
        links, sets = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        for axis, (size, stride) in enumerate(zip(self.dims, self._strides, strict=True)):
            place = routers // stride % size
            above = self.routers // (stride * size)
            # A set has a row of sources for each of its coordinates after this dimension, and a row of targets for each
            # before it; each pair of these is a ring.
            sources = _Rows(owner * above + routers // (stride * size), place, size)
            targets = _Rows(owner * stride + routers % stride, place, size)
            first, behind = (
                np.searchsorted(targets.key // stride, sources.key // above, side=side) for side in ("left", "right")
            )
            counts = behind - first
            source = np.repeat(np.arange(len(sources.key)), counts)
            target = ranges(first, counts)
            ring_set = sources.key[source] // above
            ring = sources.key[source] % above * (stride * size) + targets.key[target] % stride
            for way, most in enumerate(self._most[axis]):
                # Downwards is upwards in the mirror.
                mirrored = bool(way)
                used = _used(
                    sources.words(mirrored=mirrored)[source],
                    targets.words(mirrored=mirrored)[target],
                    most[::-1] if mirrored else most,
                )
                some = np.flatnonzero(used)
                bits = np.unpackbits(used[some].view(np.uint8).reshape(-1, 8), axis=1, bitorder="little", count=size)
                at, coordinate = np.divmod(np.flatnonzero(bits), size)
                coordinate = size - 1 - coordinate if mirrored else coordinate
                links.append(self._link[:, axis, way].take(ring[some][at] + coordinate * stride))
                sets.append(ring_set[some][at])
        found, owner = np.concatenate(links), np.concatenate(sets)
        if self.shared:
            both = np.concatenate([owner * self.links + found, owner * self.links + self.opposite[found]])
            owner, found = np.divmod(distinct_values(both), max(self.links, 1))
        if len(bounds) == 2:
            return found, np.array([0, len(found)])
        order = np.argsort(owner, kind="stable")
        return found[order], np.searchsorted(owner[order], np.arange(len(bounds))).astype(np.int64)


class _Rows:
    """Coordinates in rows, each once.

    Attributes:
        key: of each row, int64 [row], ascending.
        first: where the coordinates of each row begin, int64 [row].
        count: how many they are, int64 [row].
        place: the coordinates, ascending in each row, int64 [coordinate].
    """

    def __init__(self, key: Ints, place: Ints, size: int) -> None:
        self._size = size
        row, self.place = np.divmod(distinct_values(key * size + place), size)
        self.first = np.flatnonzero(np.diff(row, prepend=-1))
        self.key = row[self.first]
        self.count = np.diff(self.first, append=len(row))

    def words(self, *, mirrored: bool) -> NDArray[np.uint64]:
        """Return the coordinates of each row as bits, uint64 [row]; mirrored: counted from the last one."""
        place = self._size - 1 - self.place if mirrored else self.place
        if not len(place):
            return np.zeros(0, dtype=np.uint64)
        return np.asarray(np.bitwise_or.reduceat(_ONE << place.astype(np.uint64), self.first))


_ONE = np.uint64(1)
Words = NDArray[np.uint64]
#: Largest dimension whose rings are words, so that many sets of hosts are looked at together.
MOST_AT_ONCE = 63


def _used(sources: Words, targets: Words, most: Ints) -> Words:
    """Return the links of rings that lead upwards from sources to targets, bit c: the link that starts at coordinate c.

    Let R_t be the sources with a target at least t steps upwards. Link c is used iff c - t + 1 is in R_t for some t.

    Args:
        sources: bit c is set where a source is at coordinate c, uint64 [ring].
        targets: likewise, uint64 [ring].
        most: the most steps upwards from each coordinate, int64 [coordinate].
    """
    size = len(most)
    whole = (1 << size) - 1
    far, used = np.zeros_like(sources), np.zeros_like(sources)
    bits = _ONE << np.arange(size, dtype=np.uint64)
    for steps in range(int(most.max()), 0, -1):
        within = bits[most >= steps].sum()
        ahead = (targets >> np.uint64(steps)) | (targets << np.uint64(size - steps))
        far |= ahead & sources & within
        used |= (far << np.uint64(steps - 1)) | (far >> np.uint64(size - steps + 1))
    return np.asarray(used & np.uint64(whole))


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
