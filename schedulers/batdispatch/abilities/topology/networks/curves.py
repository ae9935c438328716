"""Orders in which a grid's routers can be walked through, so that hosts close together in the order are close together.

| curve | what is next to each other in the order |
|---|---|
| `row-major` | neighbours in the first dimension; the end of a row is followed by the beginning of the next row |
| `snake` | neighbours, always: every other row is walked backwards (a reflected mixed-radix Gray code [1]) |
| `hilbert` | neighbours in a cube of 2^b places a side [2]; the curve of a grid is cut out of the cube around it |

Each part of a Hilbert curve is compact: 2^(D i) places from a multiple of that on fill a cube of 2^i places a side.

References:
    [1] D. E. Knuth. The Art of Computer Programming, volume 4A, section 7.2.1.1. Addison-Wesley, 2011.
    [2] J. Skilling. Programming the Hilbert curve. AIP Conference Proceedings 707, 2004, pp. 381-387. (AxestoTranspose;
        the packages that offer it have had no release for years, and it is a dozen lines on arrays.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from batdispatch.abilities.topology.networks.base import Ints, Topology
from batdispatch.abilities.topology.networks.grid import Grid

#: `ids`: the order of the hosts' ids, for machines of any topology or of none.
Curve = Literal["ids", "row-major", "snake", "hilbert"]


def line(hosts: Ints, topology: Topology | None, curve: Curve) -> Ints:
    """Return hosts in the order of a curve, int64 [host]; those of one router follow each other, in order of id.

    Args:
        hosts: ascending ids, int64 [host]. A machine's compute hosts are a line that its I/O hosts do not break.
        topology: the network that joins them; None: it is not known.
        curve: which curve.

    Raises:
        ValueError: the curve leads through routers, and the topology is no grid.
    """
    if curve == "ids":
        return hosts
    if not isinstance(topology, Grid):
        found = "is not known" if topology is None else f"is of the kind {topology.kind!r}"
        raise ValueError(f"order {curve} leads through the routers of a torus or mesh, the machine's topology {found}")
    places = positions(topology.dims, curve)
    return np.asarray(hosts[np.argsort(places[topology.router_of[hosts]], kind="stable")])


def positions(dims: Sequence[int], curve: Curve) -> Ints:
    """Return the position of each router of a grid on a curve, int64 [router], all different and not negative.

    Router (x, y, ...) has the id x + X (y + Y (...)). Time: O(r D b) for r routers, D dimensions and sizes of b bits.

    Args:
        dims: size of each dimension.
        curve: which curve; `ids` is that of the routers' ids, as `row-major`.

    Raises:
        ValueError: there is no such curve, or a position has more than 62 bits.
    """
    ids = np.arange(math.prod(dims), dtype=np.int64)
    axes = [ids // math.prod(dims[:axis]) % size for axis, size in enumerate(dims)]
    if curve == "snake":
        return _snake(axes, dims)
    if curve == "hilbert":
        return _hilbert(axes, max((max(dims) - 1).bit_length(), 1))
    if curve not in get_args(Curve):
        raise ValueError(f"there is no curve {curve!r}, expected one of {', '.join(get_args(Curve))}")
    return ids


def _snake(axes: Sequence[Ints], dims: Sequence[int]) -> Ints:
    """Return positions on the snake: a dimension is walked backwards where the rank of those after it is odd."""
    rank = np.zeros_like(axes[0])
    for place, size in zip(reversed(axes), reversed(dims), strict=True):
        rank = rank * size + np.where(rank % 2 == 0, place, size - 1 - place)
    return rank


def _hilbert(axes: Sequence[Ints], bits: int) -> Ints:
    """Return positions on the Hilbert curve of a cube of 2^bits places a side; the names are those of [2]."""
    count = len(axes)
    if count * bits > 62:
        raise ValueError(f"a Hilbert curve of {count} dimensions of {bits} bits is too long for whole numbers")
    x = [axis.copy() for axis in axes]
    # Inverse undo: from the highest bit down, exchange or invert the bits below it.
    for level in range(bits - 1, 0, -1):
        q = 1 << level
        p = q - 1
        for i in range(count):
            swap = np.where(x[i] & q, 0, (x[0] ^ x[i]) & p)
            x[0] ^= np.where(x[i] & q, p, swap)
            x[i] ^= swap
    # Gray encode.
    for i in range(1, count):
        x[i] ^= x[i - 1]
    t = np.zeros_like(x[0])
    for level in range(bits - 1, 0, -1):
        t ^= np.where(x[count - 1] & (1 << level), (1 << level) - 1, 0)
    position = np.zeros_like(x[0])
    for level in range(bits - 1, -1, -1):
        for axis in x:
            position = position << 1 | (axis ^ t) >> level & 1
    return position
