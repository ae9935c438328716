"""Fat trees with D-mod-k routing."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from batdispatch.abilities.topology.networks.base import Ints, Kind, Topology


class FatTree(Topology):
    """A parallel-ports generalised fat tree (PGFT) with D-mod-k routing [1].

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

    Routers are numbered level by level from below, in the order of SimGrid's positions. A route takes O(levels) time.

    References:
        [1] E. Zahavi. D-Mod-K routing providing non-blocking traffic for shift permutations on real life fat trees.
            CCIT report 776, Technion, 2010.
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
        """Build the tree and put hosts on its leaves. Time: O(links).

        Args:
            place_of: int64 [host], a host's place among the leaves (0..prod(down)-1), -1 for a host that is not there.
            down: children of a switch, for each level from below.
            up: parents of a host or switch, for each level from below.
            cables: parallel cables between a child and a parent, for each level from below.
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
        self.routes_follow_routers = self._first == 0

    def switches(self) -> list[Ints]:
        """Return which switches each host is below, for each level; switches above the same hosts count as one."""
        below = [np.where(self._place < 0, -1, self._place // hosts) for hosts in self._below[1:]]
        # The uppermost switches are above all hosts.
        return [*below[:-1], np.zeros_like(self._place)]

    def _parent(self, level: int, child: Ints, port: Ints) -> Ints:
        """Return the position on the next level of the switch behind a port of a node."""
        copies = self._copies[level]
        low, high = child % copies, child // (copies * self.down[level])
        return np.asarray(low + copies * (port % self.up[level] + self.up[level] * high))

    @property
    def _sender_only_by_router(self) -> bool:
        return all(count == 1 for count in self.cables[self._first :])

    def router_distances(self, sources: Ints, targets: Ints) -> Ints:
        """Return the number of links from routers to routers that hosts can stand on: 2 (m - f), symmetric."""
        if (np.asarray(sources) >= self._leaves).any() or (np.asarray(targets) >= self._leaves).any():
            raise ValueError("distances in a fat tree are between routers that hosts stand on")
        total = np.zeros(np.broadcast_shapes(sources.shape, targets.shape), dtype=np.int64)
        for level in range(self._first, len(self.down)):
            hosts = self._below[level] // self._below[self._first]
            total += 2 * (sources // hosts != targets // hosts)
        return total

    def sum_of_distances(self, hosts: ArrayLike) -> int:
        """Return the sum of dist(i, i') over all ordered pairs of hosts, level by level.

        On each level the q^2 - sum of n^2 pairs below different switches need two links more, with n hosts below each.
        Time: O(q log q) for each level.
        """
        routers = self.routers_of(hosts)
        total = 0
        for level in range(self._first, len(self.down)):
            below = self._below[level] // self._below[self._first]
            counts = np.unique(routers // below, return_counts=True)[1]
            total += 2 * (len(routers) ** 2 - int(counts @ counts))
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
