"""Where the hosts of a network stand on a map: planes of routers, and the hosts of a router beside each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.topology.networks import Grid, Topology

Ints = NDArray[np.int64]

#: Routers in a row of a line, which is written like text.
LINE = 64
#: Names of the dimensions of a grid, by which people call them.
_AXES = "xyzwvu"


@dataclass(frozen=True)
class Layout:
    """The map of a network.

    Attributes:
        planes: what each plane shows, such as ``z = 3``; empty where there is one.
        plane: the plane that each host is on, int64 [host], -1 for a host that is not in the network.
        column: its place from the left, in parts of a router, int64 [host].
        row: its place from below, in parts of a router, int64 [host].
        wide: routers from left to right.
        high: routers from bottom to top.
        across: parts of a router from left to right, one for each host.
        up: parts of a router from bottom to top.
        axes: what leads to the right and upwards, for a caption; empty for neither.
    """

    planes: Sequence[str]
    plane: Ints
    column: Ints
    row: Ints
    wide: int
    high: int
    across: int
    up: int
    axes: str

    @property
    def shape(self) -> tuple[int, int, int]:
        """Number of planes, and of parts of routers upwards and to the right."""
        return len(self.planes), self.high * self.up, self.wide * self.across


def layout_of(topology: Topology) -> Layout:
    """Return the map of a network.

    A grid has x to the right, y upwards, and a plane for each coordinate in the other dimensions. A line is written in
    rows from the top. In other networks a plane shows the routers below one switch of the second level from above, or
    of one group, in order of their numbers.
    """
    router = np.maximum(topology.router_of, 0)
    if isinstance(topology, Grid):
        planes, plane, x, y, wide, high, axes = _grid(topology)
    else:
        planes, plane, x, y, wide, high, axes = _groups(topology)
    most = max(topology.hosts_per_router, 1)
    across, up = _parts(most)
    # The hosts of a router in order of id.
    order = np.argsort(router, kind="stable")
    rank = np.zeros(len(router), dtype=np.int64)
    inside = order[topology.router_of[order] >= 0]
    starts = np.searchsorted(router[inside], router[inside], side="left")
    rank[inside] = np.arange(len(inside)) - starts
    return Layout(
        planes,
        np.where(topology.router_of < 0, -1, plane[router]),
        x[router] * across + rank % across,
        y[router] * up + rank // across,
        wide,
        high,
        across,
        up,
        axes,
    )


def _parts(hosts: int) -> tuple[int, int]:
    """Return how many parts a router has to the right and upwards: no longer than 3 to 1, with the fewest left over."""
    shapes = [(across, math.ceil(hosts / across)) for across in range(math.ceil(math.sqrt(hosts)), hosts + 1)]
    return min((shape for shape in shapes if shape[0] <= 3 * shape[1]), key=lambda shape: (shape[0] * shape[1], shape))


_Places = tuple[Sequence[str], Ints, Ints, Ints, int, int, str]


def _grid(topology: Grid) -> _Places:
    dims = [size for size in topology.dims if size > 1] or [1]
    names = [_name(axis) for axis, size in enumerate(topology.dims) if size > 1] or ["x"]
    routers = np.arange(topology.routers)
    if len(dims) == 1:
        wide, high = min(dims[0], LINE), math.ceil(dims[0] / LINE)
        return [""], np.zeros_like(routers), routers % LINE, high - 1 - routers // LINE, wide, high, ""
    x, rest = routers % dims[0], routers // dims[0]
    y, plane = rest % dims[1], rest // dims[1]
    # The first of the other dimensions varies fastest.
    places = product(*(range(size) for size in reversed(dims[2:])))
    titles = [
        ", ".join(f"{name} = {place}" for name, place in zip(names[2:], reversed(each), strict=True)) for each in places
    ]
    return titles, plane, x, y, dims[0], dims[1], f"{names[0]} to the right, {names[1]} upwards"


def _name(axis: int) -> str:
    return _AXES[axis] if axis < len(_AXES) else f"dimension {axis}"


def _groups(topology: Topology) -> _Places:
    inside = np.flatnonzero(topology.router_of >= 0)
    levels = topology.switches()
    group_of_host = levels[-2] if len(levels) > 2 else levels[-1]
    routers, first = np.unique(topology.router_of[inside], return_index=True)
    groups, group = np.unique(group_of_host[inside[first]], return_inverse=True)
    order = np.argsort(group, kind="stable")
    rank = np.zeros(len(routers), dtype=np.int64)
    rank[order] = np.arange(len(routers)) - np.searchsorted(group[order], group[order], side="left")
    most = int(rank.max(initial=0)) + 1
    wide = math.ceil(math.sqrt(most))
    high = math.ceil(most / wide)
    plane, x, y = (np.zeros(topology.routers, dtype=np.int64) for _ in range(3))
    plane[routers], x[routers], y[routers] = group, rank % wide, high - 1 - rank // wide
    titles = [f"group {number}" for number in range(len(groups))] if len(groups) > 1 else [""]
    return titles, plane, x, y, wide, high, ""
