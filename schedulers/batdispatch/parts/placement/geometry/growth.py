"""Convex sets of routers of a torus or mesh that fill no box, grown from seeds: a search that may miss some."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.topology.base import Ints
from batdispatch.core.topology.grid import Grid
from batdispatch.parts.placement.geometry.moment import Asked, State
from batdispatch.parts.placement.geometry.network import Network

#: Routers whose partners are worked out in one search (about 0.15 ms each on a 24 x 24 x 24 torus).
STEPS = 96
#: Routers from which sets are grown.
_SEEDS = 24


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


def grown(asked: Asked, partners: Partners, *, connected: bool) -> Iterator[list[int]]:
    """Yield convex sets of routers with enough room.

    A set begins with one router and takes, again and again, the next router by distance from the first one that may be
    used together with all so far (and, if wanted, is beside one of them; and first those near I/O nodes). It is given
    up when too little room is left in what may still be added. Time: at most `STEPS` times O(routers x dimensions).

    Args:
        asked: the job.
        partners: of the scene.
        connected: whether the routers must be connected.
    """
    network, weights = asked.network, asked.weights
    present = weights > 0
    among = present if not asked.near else present & asked.near[0]
    seeds = among.nonzero()[0]
    if not len(seeds):
        return
    steps = STEPS
    starts, ends = network.edges
    for seed in seeds[np.unique(np.linspace(0, len(seeds) - 1, _SEEDS).astype(np.int64))].tolist():
        far = network.topology.router_distances(np.array(seed), np.arange(network.cells))
        chosen: list[int] = []
        room, candidates, border = 0, present.copy(), np.zeros_like(present)
        following = seed
        missing = list(asked.near)
        while steps > 0:
            steps -= 1
            chosen.append(following)
            room += int(weights[following])
            candidates &= partners.of(following)
            candidates[following] = False
            border[ends[starts[following] : starts[following + 1]]] = True
            missing = [near for near in missing if not near[following]]
            if room >= asked.units and not missing:
                yield chosen
                break
            if room + int(weights[candidates].sum()) < asked.units or len(chosen) == asked.most:
                break
            usable = candidates & border if connected else candidates
            if missing and not connected:
                usable = usable & missing[0]
            able = usable.nonzero()[0]
            if not len(able):
                break
            following = int(able[far[able].argmin()])


def partners_of(network: Network, state: State) -> Partners:
    """Return the partners of all routers in a scene, of a grid."""
    assert isinstance(network.topology, Grid)
    return Partners(network.topology, state.links)
