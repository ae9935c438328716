"""Hosts that are close to each other: least gamma, the mean distance over all pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from batdispatch.abilities.topology.networks.base import Ints
from batdispatch.abilities.topology.placement.geometry.moment import NetworkDemand

#: Most nodes of the exhaustive search.
STEPS = 50_000
#: Cells from which balls are tried on a machine that is not small, and rounds of improving the best of them.
_SEEDS, _ROUNDS = 24, 4


class ClosestSearch:
    """An exhaustive search for the hosts with the least gamma, by branch and bound over cells."""

    def __init__(self, asked: NetworkDemand, compatible: Sequence[int]) -> None:
        """Prepare.

        Args:
            asked: the job; each of its hosts takes one unit.
            compatible: for each cell, those that may be used together with it, as a mask.
        """
        network = asked.network
        self._units = asked.units
        self._compatible = compatible
        self._room: list[int] = asked.weights.tolist()
        self._cells = [cell for cell, room in enumerate(self._room) if room]
        example = network.example[self._cells]
        distances = network.topology.distances(example, example)
        # Distances need not be symmetric; gamma counts both directions.
        both = (distances + distances.T).tolist()
        self._both = {a: dict(zip(self._cells, row, strict=True)) for a, row in zip(self._cells, both, strict=True)}
        self._steps = STEPS
        self._best: tuple[int, dict[int, int]] | None = None

    @property
    def exhausted(self) -> bool:
        """Whether it ended because of `STEPS`."""
        return self._steps < 0

    def find(self) -> dict[int, int] | None:
        """Return how many hosts of each cell to take, or None."""
        self._search(0, {}, 0, 0)
        return None if self._best is None else self._best[1]

    def _search(self, index: int, taken: dict[int, int], count: int, cost: int) -> None:
        self._steps -= 1
        if self._steps < 0 or (self._best is not None and cost >= self._best[0]):
            return
        if count == self._units:
            self._best = (cost, dict(taken))
            return
        if index == len(self._cells) or count + sum(self._room[cell] for cell in self._cells[index:]) < self._units:
            return
        cell = self._cells[index]
        if all(self._compatible[cell] >> other & 1 for other in taken):
            each = sum(number * self._both[cell][other] for other, number in taken.items())
            for number in range(min(self._room[cell], self._units - count), 0, -1):
                taken[cell] = number
                self._search(index + 1, taken, count + number, cost + number * each)
                del taken[cell]
        self._search(index + 1, taken, count, cost)


def balls(asked: NetworkDemand) -> Iterator[Ints]:
    """Yield orders of the hosts that a job may use, by distance from a cell; then from the middle of the best one.

    The cells are spread evenly over those with room.
    """
    network, hosts = asked.network, asked.hosts
    cells = (asked.weights > 0).nonzero()[0]
    if not len(cells):
        return
    best: tuple[int, Ints] | None = None
    for seed in cells[np.unique(np.linspace(0, len(cells) - 1, _SEEDS).astype(np.int64))].tolist():
        order, cost = _ball(asked, hosts, network.example[seed])
        if best is None or cost < best[0]:
            best = (cost, order)
        yield order
    assert best is not None
    for _ in range(_ROUNDS):
        used = best[1][: asked.units]
        distances = network.topology.distances(used, used).sum(axis=1)
        order, cost = _ball(asked, hosts, int(used[distances.argmin()]))
        if cost >= best[0]:
            return
        best = (cost, order)
        yield order


def _ball(asked: NetworkDemand, hosts: Ints, centre: int) -> tuple[Ints, int]:
    """Return hosts by distance from one of them, and the sum of the distances of those that suffice."""
    distance = asked.network.topology.distances([centre], hosts)[0]
    order = np.asarray(hosts[np.argsort(distance, kind="stable")])
    return order, asked.network.topology.sum_of_distances(order[: asked.units])
