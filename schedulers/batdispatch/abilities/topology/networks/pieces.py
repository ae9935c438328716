"""The connected pieces that a set of hosts falls into."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from batdispatch.abilities.topology.networks.base import Ints, Topology


class Pieces:
    """Finds the connected pieces of sets of hosts of one network.

    Two hosts are in one piece if they stand on one router, or if links lead from one to the other over routers that
    hold a host of the set. A switch that no host of the machine stands on holds no job, so it joins whatever it is
    linked to: in a fat tree all hosts are one piece.

    The pieces are found by hooking and pointer jumping on arrays [1]: each root is hooked to the lowest root beside it,
    trees are flattened, and only links between different trees go on to the next round. Time: O(links log routers),
    2 ms for half of a 24 x 24 x 24 torus.

    References:
        [1] Y. Shiloach, U. Vishkin. An O(log n) parallel connectivity algorithm. Journal of Algorithms 3(1), 1982,
            pp. 57-67.
    """

    def __init__(self, topology: Topology) -> None:
        """Gather the cables of a network. Time: O(links log links)."""
        self._topology = topology
        ends = np.unique(np.sort(topology.link_ends, axis=1), axis=0)
        self._one, self._other = ends[:, 0].copy(), ends[:, 1].copy()
        #: bool [router]: whether no host stands there.
        self._empty = np.ones(topology.routers, dtype=np.bool_)
        self._empty[topology.router_of[topology.router_of >= 0]] = False

    def of(self, hosts: ArrayLike) -> Ints:
        """Return the piece of each host, int64 [host]: a number that hosts of one piece have in common.

        Args:
            hosts: int64 [host], in any order.

        Raises:
            ValueError: a host is not in this network.
        """
        routers = self._topology.routers_of(hosts)
        inside = self._empty.copy()
        inside[routers] = True
        joined = inside[self._one] & inside[self._other]
        one, other = self._one[joined], self._other[joined]
        root = np.arange(self._topology.routers)
        while len(one):
            low, high = np.minimum(root[one], root[other]), np.maximum(root[one], root[other])
            apart = low < high
            one, other = one[apart], other[apart]
            np.minimum.at(root, high[apart], low[apart])
            above = root[root]
            while not np.array_equal(above, root):
                root, above = above, above[above]
        return np.asarray(root[routers], dtype=np.int64)

    def sizes(self, hosts: ArrayLike) -> Ints:
        """Return how many of the hosts each piece has, int64 [piece], largest first; arguments as for `of`."""
        return np.sort(np.unique(self.of(hosts), return_counts=True)[1])[::-1].astype(np.int64)
