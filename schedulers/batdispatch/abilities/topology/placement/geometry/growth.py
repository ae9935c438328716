"""Convex sets of routers of a torus or mesh that fill no box, grown from seeds: a search that may miss some."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.topology.networks.base import Ints
from batdispatch.abilities.topology.networks.grid import Grid
from batdispatch.abilities.topology.placement.geometry.moment import NetworkDemand, NetworkUsage

#: Routers whose partners are counted, and how many of them, those with the most, sets are grown from.
_LOOKED_AT, _SEEDS = 24, 8
#: Most routers of a grown set. To work out the partners of one takes 0.15 ms on a 24 x 24 x 24 torus.
_LONGEST = 32


class Partners:
    """Which routers each router may be used together with, in one scene: those whose routes both ways are free."""

    def __init__(self, grid: Grid, links: NDArray[np.bool_]) -> None:
        """Take the links that are in use, bool [link]. Time: O(routers x dimensions)."""
        self._grid = grid
        # In arrays of routers by coordinates, the last dimension is numpy's first axis.
        self._shape = grid.dims[::-1]
        count = len(grid.dims)
        #: For each dimension and way, how many free links follow each other from a router on.
        self._runs = [
            [_run(grid, axis, way, grid.beside(axis, way, ~links).reshape(self._shape)) for way in (0, 1)]
            for axis in range(count)
        ]
        #: For each dimension, the steps from each coordinate to each other; negative: downwards.
        self._steps = [grid.steps(axis, *np.ogrid[0:size, 0:size]) for axis, size in enumerate(grid.dims)]

    def of(self, router: int) -> NDArray[np.bool_]:
        """Return the routers that a router may be used together with, itself included, bool [router]."""
        grid, count = self._grid, len(self._grid.dims)
        place = grid.coordinates(router).tolist()
        found = np.ones(self._shape, dtype=np.bool_)
        for axis in range(count):
            # There: the coordinates before this one are the target's already, those after it still the router's own.
            steps = self._steps[axis][place[axis]].reshape(-1, *[1] * axis)
            at = (*reversed(place[axis:]), *[slice(None)] * axis)
            up, down = (runs[at] for runs in self._runs[axis])
            found &= np.where(steps >= 0, up >= steps, down >= -steps)
            # And back: the coordinates before this one are the router's own already.
            steps = self._steps[axis][:, place[axis]]
            at = (*[slice(None)] * (count - axis), *reversed(place[:axis]))
            up, down = (runs[at] for runs in self._runs[axis])
            free = np.where(steps >= 0, up >= steps, down >= -steps)
            found &= free.reshape(*free.shape, *[1] * axis)
        return found.ravel()


def _run(grid: Grid, axis: int, way: int, free: NDArray[np.bool_]) -> Ints:
    """Return how many free links follow each other in one way from each router on, by coordinates."""
    size, at = grid.dims[axis], len(grid.dims) - 1 - axis
    rows = np.moveaxis(free, at, -1)
    if way == 1:
        rows = rows[..., ::-1]
    # A ring is gone through twice, since a run may go on behind its end.
    twice = np.concatenate([rows, rows], axis=-1)
    blocked = np.where(twice, 2 * size, np.arange(2 * size))
    run = np.minimum.accumulate(blocked[..., ::-1], axis=-1)[..., ::-1][..., :size] - np.arange(size)
    if way == 1:
        run = run[..., ::-1]
    return np.ascontiguousarray(np.moveaxis(run, -1, at))


def grown(asked: NetworkDemand, state: NetworkUsage, *, connected: bool) -> Iterator[list[int]]:
    """Yield convex sets of routers with enough room.

    Of `_LOOKED_AT` routers with room, spread evenly, the `_SEEDS` with the most room among their partners are seeds. A
    set begins with a seed and takes, again and again, the next router by distance from the seed that may be used
    together with all so far (and is beside one of these, if they are to be connected; where the job is pinned to I/O
    nodes, seeds are near the first one, and routers near the others are taken first). It is given up when too little
    room is left in what may be added, or after `_LONGEST` routers: who asks for more finds boxes only.

    A set does not depend on the number of units, which only says where to stop. So jobs of all sizes share sets as far
    as these have grown, and who asks for more finds a place only where one who asks for less does.

    Time: O(routers x dimensions) for each router looked at or taken.
    """
    grid = asked.network.topology
    assert isinstance(grid, Grid)
    if asked.units > _LONGEST * int(asked.weights.max(initial=0)):
        return
    partners = state.once("partners", lambda: Partners(grid, state.links))
    if asked.near:
        chains = _chains(asked, partners, asked.near, connected=connected)
    else:
        chains = asked.ground.once(("chains", connected), lambda: _chains(asked, partners, (), connected=connected))
    for chain in chains:
        count = chain.until(asked.units, asked.most)
        if count is not None:
            yield chain.cells[:count]


def _chains(
    asked: NetworkDemand, partners: Partners, near: Sequence[NDArray[np.bool_]], *, connected: bool
) -> list[_Chain]:
    able = (asked.weights > 0 if not near else (asked.weights > 0) & near[0]).nonzero()[0]
    if not len(able):
        return []
    spread = able[np.unique(np.linspace(0, len(able) - 1, _LOOKED_AT).astype(np.int64))]
    room = [-int(asked.weights[partners.of(router)].sum()) for router in spread.tolist()]
    seeds = spread[np.argsort(room, kind="stable")[:_SEEDS]]
    return [_Chain(asked, partners, near, seed, connected=connected) for seed in seeds.tolist()]


class _Chain:
    """A set that grows from one seed.

    Attributes:
        cells: the routers so far.
    """

    def __init__(
        self, asked: NetworkDemand, partners: Partners, near: Sequence[NDArray[np.bool_]], seed: int, *, connected: bool
    ) -> None:
        self.cells: list[int] = []
        self._network, self._weights, self._partners = asked.network, asked.weights, partners
        self._connected = connected
        topology = asked.network.topology
        self._far = topology.router_distances(np.array(seed), np.arange(asked.network.cells))
        self._candidates = asked.weights > 0
        self._border = np.zeros(asked.network.cells, dtype=np.bool_)
        self._missing = list(near)
        #: Room of the first routers, and after how many of them none is missing near an I/O node.
        self._room: list[int] = []
        self._complete = 0 if not near else math.inf
        self._left = 0
        self._add(seed)

    def until(self, units: int, most: int) -> int | None:
        """Return of how many of its first routers the room suffices, or None. **The set grows as far as that.**"""
        while self._room[-1] < units or self._missing:
            if self._room[-1] + self._left < units or len(self.cells) >= _LONGEST:
                return None
            following = self._next()
            if following is None:
                return None
            self._add(following)
        count = max(bisect_left(self._room, units) + 1, int(self._complete))
        return count if count <= most else None

    def _next(self) -> int | None:
        usable = self._candidates
        if self._connected:
            usable = usable & self._border
        elif self._missing:
            usable = usable & self._missing[0]
        able = usable.nonzero()[0]
        return int(able[self._far[able].argmin()]) if len(able) else None

    def _add(self, cell: int) -> None:
        self.cells.append(cell)
        self._room.append(int(self._weights[cell]) + (self._room[-1] if self._room else 0))
        self._candidates = self._candidates & self._partners.of(cell)
        self._candidates[cell] = False
        self._left = int(self._weights[self._candidates].sum())
        starts, ends = self._network.edges
        self._border[ends[starts[cell] : starts[cell + 1]]] = True
        if self._missing:
            self._missing = [near for near in self._missing if not near[cell]]
            self._complete = math.inf if self._missing else len(self.cells)
