"""All hosts on one router."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from batdispatch.abilities.topology.networks.base import Ints, Kind, Topology


class Flat(Topology):
    """All hosts stand on one router, for instance a switch that never limits them.

    There are no links, and dist(i, i') = 0 for any two hosts.
    """

    kind: Kind = "flat"

    def __init__(self, inside: Iterable[bool]) -> None:
        """Put hosts on the one router.

        Args:
            inside: for each host, in order of id, whether it stands on the router.
        """
        router_of = [0 if each else -1 for each in inside]
        super().__init__(router_of, 1, np.zeros((0, 2), dtype=np.int64), np.zeros(0, dtype=np.int64), False)

    def router_distances(self, sources: Ints, targets: Ints) -> Ints:
        """Return zeros, int64 of the shape both broadcast to."""
        return np.zeros(np.broadcast_shapes(sources.shape, targets.shape), dtype=np.int64)

    def _routes(self, sources: Ints, targets: Ints) -> Ints:
        return np.zeros((0, len(sources)), dtype=np.int64)
