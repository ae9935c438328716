"""Sets of cells of which each two may be used together: an exhaustive search, for small machines.

A set is convex (`links`) if no route between two of its hosts uses a link that another job uses. That is a condition on
pairs, so convex sets are the cliques of a graph: its vertices are the cells with room, an edge joins two cells whose
routes to each other are nobody else's. The search is a branch and bound for cliques with weights, after [1] and [2].

References:
    [1] R. Carraghan, P. M. Pardalos. An exact algorithm for the maximum clique problem. Operations Research Letters
        9(6), 1990, pp. 375-382.
    [2] E. Tomita, T. Seki. An efficient branch-and-bound algorithm for finding a maximum clique. DMTCS 2003, LNCS 2731,
        pp. 278-289. (Bounds by colouring.)
"""

from __future__ import annotations

from collections.abc import Sequence

from batdispatch.abilities.topology.placement.geometry.moment import NetworkDemand, NetworkUsage
from batdispatch.abilities.topology.placement.geometry.network import Network
from batdispatch.core.hosts import hostset
from batdispatch.core.hosts.hostset import mask_of_flags

#: Most nodes of a search; more are seldom needed on 64 cells, and a decision has to end.
STEPS = 50_000


class CliqueSearch:
    """One search.

    Attributes:
        exhausted: whether it ended because of `STEPS`, so that finding nothing proves nothing.
    """

    def __init__(self, asked: NetworkDemand, compatible: Sequence[int], *, connected: bool) -> None:
        """Prepare.

        Args:
            asked: the job.
            compatible: for each cell, those that may be used together with it, as a mask.
            connected: whether the cells must be connected.
        """
        self.exhausted = False
        self._steps = STEPS
        self._asked = asked
        self._weights: list[int] = asked.weights.tolist()
        self._compatible = compatible
        self._near = [mask_of_flags(near) for near in asked.near]
        self._beside = beside_masks(asked.network) if connected else None

    def find(self) -> list[int] | None:
        """Return the cells of a set with enough room, all of which are to be used, or None."""
        candidates = mask_of_flags(self._asked.weights > 0)
        if self._beside is None:
            return self._anywhere([], 0, 0, candidates)
        return self._connected([], 0, 0, candidates, candidates)

    def _done(self, chosen: int, weight: int) -> bool:
        return weight >= self._asked.units and all(chosen & near for near in self._near)

    def _hopeless(self, count: int, chosen: int, candidates: int) -> bool:
        self._steps -= 1
        if self._steps < 0:
            self.exhausted = True
        within = chosen | candidates
        return self.exhausted or count >= self._asked.most or not all(within & near for near in self._near)

    def _anywhere(self, cells: list[int], chosen: int, weight: int, candidates: int) -> list[int] | None:
        """Return a set that extends `cells` by candidates, which may all be used together with these."""
        if self._done(chosen, weight):
            return cells
        if self._hopeless(len(cells), chosen, candidates):
            return None
        order, bounds = self._coloured(candidates)
        while order:
            cell, bound = order.pop(), bounds.pop()
            if weight + bound < self._asked.units:
                return None
            found = self._anywhere(
                [*cells, cell],
                chosen | 1 << cell,
                weight + self._weights[cell],
                candidates & self._compatible[cell],
            )
            if found is not None:
                return found
            candidates &= ~(1 << cell)
        return None

    def _coloured(self, candidates: int) -> tuple[list[int], list[int]]:
        """Return candidates, and for each the most weight that a clique of it and those before it has."""
        order: list[int] = []
        bounds: list[int] = []
        total = 0
        while candidates:
            free, heaviest = candidates, 0
            while free:
                cell = (free & -free).bit_length() - 1
                # Cells of one colour cannot be used together: at most one of them is.
                free &= ~(self._compatible[cell] | 1 << cell)
                candidates &= ~(1 << cell)
                heaviest = max(heaviest, self._weights[cell])
                order.append(cell)
                bounds.append(total + heaviest)
            total += heaviest
        return order, bounds

    def _connected(self, cells: list[int], chosen: int, weight: int, candidates: int, border: int) -> list[int] | None:
        """Return a connected set that extends `cells`; `border`: the candidates beside these."""
        if self._done(chosen, weight):
            return cells
        if self._hopeless(len(cells), chosen, candidates):
            return None
        if weight + sum(self._weights[cell] for cell in hostset.ids(candidates)) < self._asked.units:
            return None
        assert self._beside is not None
        while border & candidates:
            cell = (border & candidates & -(border & candidates)).bit_length() - 1
            candidates &= ~(1 << cell)
            reached = self._beside[cell] if not cells else border | self._beside[cell]
            found = self._connected(
                [*cells, cell],
                chosen | 1 << cell,
                weight + self._weights[cell],
                candidates & self._compatible[cell],
                reached,
            )
            if found is not None or self.exhausted:
                return found
        return None


def compatible(network: Network, state: NetworkUsage) -> list[int]:
    """Return for each cell those that may be used together with it, as masks; for small machines."""
    used = state.link_mask
    return [
        sum(1 << other for other, links in enumerate(row) if other != cell and not links & used)
        for cell, row in enumerate(network.pair_links)
    ]


def any_two(network: Network) -> list[int]:
    """Return masks that let all cells be used together."""
    everyone = (1 << network.cells) - 1
    return [everyone & ~(1 << cell) for cell in range(network.cells)]


def beside_masks(network: Network) -> list[int]:
    """Return the cells beside each cell, as masks."""
    starts, ends = network.edges
    return [
        sum(1 << other for other in ends[starts[cell] : starts[cell + 1]].tolist()) for cell in range(network.cells)
    ]
