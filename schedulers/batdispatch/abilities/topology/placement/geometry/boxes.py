"""Boxes of a torus or mesh of which each link, or each router, is nobody else's.

A *box* is a product of arcs, one for each dimension. An arc is a range of coordinates, which may go on at 0 behind the
largest one where the dimension wraps around, or the whole ring. With dimension-order routing the routes between routers
of a box stay within the box if the routes between coordinates of each arc stay within the arc: a message changes one
coordinate after the other, each from the sender's to the receiver's. So all that a box needs is said by its arcs:

- Without wrap-around, any range keeps its routes.
- On a ring of k, a range of at most (k + 1) / 2 coordinates (k / 2 for even k) keeps its routes, and so does the ring.
- On a ring of even k, a range of k / 2 + 1 coordinates has two ends that are k / 2 apart. From 0 to k / 2 it keeps its
  routes. From k / 2 to 0 its ends send over the other half both ways, so it needs the whole ring. Elsewhere its ends
  send to each other upwards, so it needs all upward links of the ring.
- Any longer range needs the whole ring.

Conversely, each set of routers on a grid that holds all routers on its routes is such a box: with routers a and b it
holds the router with the first coordinates of b and the other ones of a, for any number of first coordinates, so it is
a product, and its factors keep their routes. So strict convexity is decided exactly, on grids of any size.

`Boxes` finds the places of all boxes of one size at a time. Places are masks with a bit for each router, the box's
lowest corner. A size is worked out from the next smaller ones in a few operations on masks, each of which is linear in
the number of routers (about a microsecond for 13,824 of them). A whole search takes O(number of sizes) of these: 14^3
sizes on a 24 x 24 x 24 torus, of which most are ruled out by a smaller one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.topology.networks.base import Ints
from batdispatch.abilities.topology.networks.grid import Grid
from batdispatch.abilities.topology.placement.geometry.moment import NetworkDemand
from batdispatch.core.hosts.hostset import flags_of, mask_of_flags

Size = tuple[int, ...]


class Sizes:
    """What is known of the boxes of a grid, whatever runs on it.

    Attributes:
        grid: the grid.
        wraps: for each dimension, whether an arc may go on at 0: a ring of two is no more than a range.
        listed: sizes of boxes, (volume, sum of squares of the lengths, size), by volume, then cubes before bars.
    """

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self.dims = grid.dims
        self.strides = [math.prod(grid.dims[:axis]) for axis in range(len(grid.dims))]
        self.routers = grid.routers
        self.wraps = tuple(wrap and size > 2 for wrap, size in zip(grid.wrap, grid.dims, strict=True))
        self.all = (1 << self.routers) - 1
        ids = np.arange(self.routers, dtype=np.int64)
        self.coordinates = grid.coordinates(ids)
        #: For each dimension: the routers with a coordinate below each number, as masks.
        self._below = [
            [mask_of_flags(self.coordinates[:, axis] < bound) for bound in range(size + 1)]
            for axis, size in enumerate(self.dims)
        ]
        lengths = [self.lengths(axis) for axis in range(len(self.dims))]
        self.listed = sorted((math.prod(size), sum(one * one for one in size), size) for size in product(*lengths))

    def lengths(self, axis: int) -> list[int]:
        """Return the lengths of arcs in a dimension."""
        size = self.dims[axis]
        if not self.wraps[axis]:
            return list(range(1, size + 1))
        return [*range(1, self.half(axis) + 1), *([size // 2 + 1] if size % 2 == 0 else []), size]

    def half(self, axis: int) -> int:
        """Return the longest range on a ring that keeps its routes wherever it begins."""
        return (self.dims[axis] + 1) // 2

    def at(self, axis: int, coordinate: int) -> int:
        """Return the routers with a coordinate, as a mask."""
        return self._below[axis][coordinate + 1] & ~self._below[axis][coordinate]

    def shift(self, mask: int, axis: int, steps: int) -> int:
        """Return the routers from which so many steps up in a dimension lead to a router of a mask."""
        if not steps or not mask:
            return mask
        size, stride = self.dims[axis], self.strides[axis]
        below = self._below[axis][size - steps]
        found = mask >> steps * stride & below
        if self.wraps[axis]:
            found |= mask << (size - steps) * stride & self.all & ~below
        return found

    def cells(self, corner: int, size: Size) -> Ints:
        """Return the routers of a box, the first dimension fastest, int64 [router]."""
        found = np.zeros(1, dtype=np.int64)
        for axis in reversed(range(len(size))):
            place = (self.coordinates[corner, axis] + np.arange(size[axis])) % self.dims[axis]
            found = (found[:, None] + (place * self.strides[axis])[None, :]).ravel()
        return found


class _Part:
    """Places of the boxes that have a length in the first few dimensions, and are one router wide in the others.

    Attributes:
        places: where all of the box may be used, a mask.
        edges: for each other dimension, where all links from the box to the next routers may be used, both ways.
        rings: for each other dimension, where all upward links of the rings through the box may be used.
    """

    __slots__ = ("edges", "places", "rings")

    def __init__(self, places: int, edges: tuple[int, ...], rings: tuple[int, ...]) -> None:
        self.places = places
        self.edges = edges
        self.rings = rings


class Boxes:
    """The places of boxes in one scene.

    Attributes:
        sizes: of the grid.
    """

    def __init__(self, sizes: Sizes, *, links: NDArray[np.bool_] | None = None, routers: NDArray[np.bool_]) -> None:
        """Say what may be used.

        Args:
            sizes: of the grid.
            links: bool [link], those that may be used; None: all links between routers that may be.
            routers: bool [router], those that may be used.
        """
        self.sizes = sizes
        count = len(sizes.dims)
        edges, rings = [sizes.all] * count, [0] * count
        if links is not None:
            for axis in range(count):
                up = mask_of_flags(sizes.grid.beside(axis, 0, links))
                down = mask_of_flags(sizes.grid.beside(axis, 1, links))
                edges[axis] = up & sizes.shift(down, axis, 1)
                if sizes.wraps[axis]:
                    rings[axis] = _all_along(sizes, up, axis)
        self._strict = links is None
        whole = _Part(mask_of_flags(routers), tuple(edges), tuple(rings))
        #: By the lengths so far: what ranges of these lengths give, and what of it is a box.
        self._ranges: dict[Size, _Part] = {}
        self._parts: dict[Size, _Part] = {(): whole}

    def places(self, size: Size) -> int:
        """Return the lowest corners of the boxes of a size, as a mask."""
        return self._part(size).places

    def _part(self, size: Size) -> _Part:
        known = self._parts.get(size)
        if known is None:
            found = self._range(size)
            known = self._parts[size] = _Part(self._closed(size, found.places), found.edges, found.rings)
        return known

    def _range(self, size: Size) -> _Part:
        """Return where ranges of a length are usable in the last dimension of a size, whatever its routes are."""
        known = self._ranges.get(size)
        if known is not None:
            return known
        sizes, axis, length = self.sizes, len(size) - 1, size[-1]
        slab = self._part(size[:-1])
        if length == 1 or not slab.places:
            found = _Part(slab.places, slab.edges[1:], slab.rings[1:])
        else:
            before = self._range((*size[:-1], length - 1))
            places = before.places
            if places:
                places &= sizes.shift(slab.places, axis, length - 1) & sizes.shift(slab.edges[0], axis, length - 2)
            if not places:
                found = _Part(0, before.edges, before.rings)
            else:
                shift = sizes.shift
                found = _Part(
                    places,
                    tuple(
                        one & shift(more, axis, length - 1)
                        for one, more in zip(before.edges, slab.edges[1:], strict=True)
                    ),
                    tuple(
                        one & shift(more, axis, length - 1)
                        for one, more in zip(before.rings, slab.rings[1:], strict=True)
                    ),
                )
        self._ranges[size] = found
        return found

    def _closed(self, size: Size, places: int) -> int:
        """Return which ranges of a length need no links but their own, or may use those of their ring."""
        sizes, axis, length = self.sizes, len(size) - 1, size[-1]
        whole = sizes.dims[axis]
        if not places or not sizes.wraps[axis] or length <= sizes.half(axis):
            return places
        slab = self._part(size[:-1])
        if length == whole:
            # The last link of the ring; all places are the same ring.
            return places & sizes.shift(slab.edges[0], axis, whole - 1) & sizes.at(axis, 0)
        if length == whole // 2 + 1 and whole % 2 == 0:
            own = sizes.at(axis, 0)
            return places & (own if self._strict else own | (slab.rings[0] & ~sizes.at(axis, whole // 2)))
        return 0


def _all_along(sizes: Sizes, mask: int, axis: int) -> int:
    """Return the routers on whose ring in a dimension all routers are in a mask."""
    found, reach, size = mask, 1, sizes.dims[axis]
    while reach < size:
        step = min(reach, size - reach)
        found &= sizes.shift(found, axis, step)
        reach += step
    return found


class Sums:
    """Sums over boxes of numbers that routers have: linear to prepare, constant for each box."""

    def __init__(self, sizes: Sizes, values: NDArray[np.int64]) -> None:
        """Prepare; `values` is int64 [router]."""
        self._sizes = sizes
        self.total = int(values.sum())
        self.largest = int(values.max(initial=0))
        # The last dimension is numpy's first axis.
        table = values.reshape(sizes.dims[::-1])
        for axis, wraps in enumerate(sizes.wraps[::-1]):
            if wraps:
                table = np.concatenate([table, table], axis=axis)
            table = np.concatenate([np.zeros_like(np.take(table, [0], axis=axis)), table], axis=axis).cumsum(axis=axis)
        self._strides = [math.prod(table.shape[axis + 1 :]) for axis in range(table.ndim)][::-1]
        self._table = table.ravel()

    def over(self, corners: Ints, size: Size) -> Ints:
        """Return the sum over the box of a size at each of some corners, int64 [corner]."""
        first = self._sizes.coordinates[corners] @ np.array(self._strides)
        total = np.zeros(len(corners), dtype=np.int64)
        for ends in product((0, 1), repeat=len(size)):
            offset = sum(end * length * stride for end, length, stride in zip(ends, size, self._strides, strict=True))
            sign = 1 if (len(size) - sum(ends)) % 2 == 0 else -1
            total += sign * self._table[first + offset]
        return total


def find(boxes: Boxes, sums: Sums, asked: NetworkDemand, *, strict: bool) -> Iterator[tuple[int, Size]]:
    """Yield (lowest corner, size) of boxes that can take all units of a job, small ones first.

    Among boxes of one size, those that leave the least room unused come first.

    Args:
        boxes: where boxes may be.
        sums: of the units that each router's hosts can take.
        asked: the job.
        strict: whether each router of the box must be used.
    """
    sizes = boxes.sizes
    if sums.total < asked.units:
        return
    near = [one & (asked.weights > 0) for one in asked.near]
    if not all(one.any() for one in near):
        return
    pins = [Sums(sizes, one.astype(np.int64)) for one in near]
    least = [_least_length(sizes, axis, near) for axis in range(len(sizes.dims))]
    for volume, _, size in sizes.listed:
        if volume * sums.largest < asked.units or any(length < one for length, one in zip(size, least, strict=True)):
            continue
        if strict and volume > asked.most:
            return
        places = boxes.places(size)
        if not places:
            continue
        corners = flags_of(places, sizes.routers).nonzero()[0]
        for pin in pins:
            corners = corners[pin.over(corners, size) > 0]
        room = sums.over(corners, size)
        corners, room = corners[room >= asked.units], room[room >= asked.units]
        for index in np.argsort(room, kind="stable").tolist():
            yield int(corners[index]), size


def _least_length(sizes: Sizes, axis: int, near: list[NDArray[np.bool_]]) -> int:
    """Return the least length in a dimension of a box that has a router of each set."""
    whole, found = sizes.dims[axis], 1
    for one, other in combinations(near, 2):
        places = [np.unique(sizes.coordinates[each, axis]) for each in (one, other)]
        gaps = np.abs(places[0][:, None] - places[1][None, :])
        if sizes.wraps[axis]:
            gaps = np.minimum(gaps, whole - gaps)
        found = max(found, int(gaps.min()) + 1)
    return found
