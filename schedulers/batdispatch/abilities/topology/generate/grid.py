"""Grids of routers written out as zones, for what SimGrid has no word for: a mesh, and hosts that share their router.

Routes are not written from router to router, of which there are as many as pairs. They follow from the way messages
travel, dimension by dimension:

- Each router has a zone that holds its hosts, each on a link of its own.
- Each line of routers in a dimension (a ring where it wraps around) has a zone that holds the links of that line.
- A message goes from the zone of its router to that router's line in the first dimension, along this line, over to
  the line in the next dimension, and so on, and from the line in the last dimension to the zone of its target.

Changes lead from each dimension to the next one only, so there is one way from any router to any other. SimGrid finds
it with the routing Floyd, and passes through each line as that line's own routes say. (Dijkstra would need no table,
but SimGrid 3.32 crashes where a route by Dijkstra passes through a zone.) In a ring of even size two routers that stand
opposite each other have two shortest ways; there the way that `Grid` takes is written out.

The file grows with the number of routers. SimGrid's table of zones grows with the square of that number, and the time
to fill the table with its cube: `MOST_ZONES` says where that ends.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from lxml import etree

from batdispatch.abilities.topology.networks import Grid
from batdispatch.core.errors import InputError
from batdispatch.core.machine.machine import CAPACITY_PROPERTY, COORDINATES_PROPERTY
from batdispatch.inputs.platforms.generate.document import Links, checked_capacity, checked_count, render
from batdispatch.inputs.platforms.roles import ROLE_PROPERTY
from batdispatch.inputs.platforms.topology import (
    DIMENSIONS_PROPERTY,
    HOSTS_PER_ROUTER_PROPERTY,
    TOPOLOGY_PROPERTY,
)
from batdispatch.inputs.platforms.units import quantity

#: Most zones that SimGrid has to find ways between; with 4,864 (16 x 16 x 16 routers) each simulation begins with 50 s.
MOST_ZONES = 5_000


class Shape(NamedTuple):
    """A grid of routers and what stands on them.

    Attributes:
        dims: size of each dimension; a router's number is x + X (y + Y (z + ...)).
        wrap: whether the last router of a dimension is joined to its first.
        hosts_per_router: hosts that share a place; host number h stands on router h div `hosts_per_router`.
        storage: numbers of the hosts with the role storage.
    """

    dims: Sequence[int]
    wrap: bool
    hosts_per_router: int
    storage: Collection[int]


class Widths(NamedTuple):
    """What the links of a grid carry.

    Attributes:
        dimensions: bandwidth of the links in each dimension; one for all of them, or one for each.
        host: bandwidth of a host's own link; None: as the widest link between routers.
    """

    dimensions: Sequence[str] = ()
    host: str | None = None


def zones_of(dims: Sequence[int]) -> int:
    """Return how many zones a grid of routers is written as: one for each router, and one for each line."""
    routers = math.prod(dims)
    return routers + sum(routers // size for size in dims if size > 1)


def checked_widths(widths: Widths, dims: Sequence[int], links: Links, source: str) -> Widths:
    """Return the widths with a bandwidth for each dimension and for the hosts.

    Raises:
        InputError: there are more or fewer than dimensions, or one is malformed.
    """
    given = list(widths.dimensions) or [links.bw]
    if len(given) not in (1, len(dims)):
        raise InputError(
            f"{len(given)} bandwidths ({','.join(given)}), expected one, or one for each of {len(dims)} dimensions",
            source=source,
            place="--bw",
        )
    for text in given:
        Links(bw=text).checked(source)
    each = given * (len(dims) // len(given)) if len(given) == 1 else given
    if widths.host is None:
        return Widths(each, max(each, key=_bytes))
    try:
        if _bytes(widths.host) == 0:
            raise ValueError("must be positive")
    except ValueError as problem:
        raise InputError(f"{widths.host!r} {problem}", source=source, place="--host-bw") from None
    return Widths(each, widths.host)


def _bytes(text: str) -> float:
    return quantity(text, "bandwidth")


def checked_grid(dims: Sequence[int], hosts_per_router: int, io: int, most: int, source: str) -> int:
    """Return the number of hosts on a grid of routers.

    Args:
        dims: size of each dimension.
        hosts_per_router: hosts that share a place.
        io: number of I/O nodes.
        most: largest number of hosts.
        source: what the arguments are of, for messages.

    Raises:
        InputError: an argument is out of range.
    """
    if not 1 <= len(dims) <= 10 or min(dims) < 1:
        raise InputError(f"{list(dims)} is not one to ten sizes of at least 1", source=source, place="--dims")
    checked_count(hosts_per_router, source, "--hosts-per-router")
    routers = math.prod(dims)
    hosts = routers * hosts_per_router
    if hosts > most:
        raise InputError(f"{hosts} hosts are more than {most}", source=source, place="--dims")
    if not 0 <= io <= routers or io >= hosts:
        raise InputError(
            f"{io} is not between 0 and one per router ({routers}), with compute hosts left",
            source=source,
            place="--io",
        )
    return hosts


def written_grid(
    shape: Shape, names: Sequence[str], links: Links, widths: Widths, capacity: str | None, source: str
) -> bytes:
    """Return a grid of routers whose zones are written out, with the master host beside it.

    Args:
        shape: what stands where.
        names: of the hosts, in order of number.
        links: core speed, and the latency of every link; the bandwidth where `widths` states none.
        widths: bandwidths.
        capacity: what a compute node offers, such as ``core=32``; None for whole hosts.
        source: the command that writes it.

    Raises:
        InputError: an argument is malformed, or there are more zones than `MOST_ZONES`.
    """
    zones = zones_of(shape.dims)
    if zones > MOST_ZONES:
        raise InputError(
            f"{zones} zones ({math.prod(shape.dims)} routers and their lines) are more than {MOST_ZONES}, for which "
            "SimGrid already takes most of a minute before each simulation",
            source=source,
            place="--dims",
        )
    checked_capacity(capacity, source)
    return _Writing(
        shape, names, links.checked(source), checked_widths(widths, shape.dims, links, source), capacity
    ).content(source)


class _Writing:
    """The elements of one file."""

    def __init__(self, shape: Shape, names: Sequence[str], links: Links, widths: Widths, capacity: str | None) -> None:
        self._shape = shape
        self._names = names
        self._links = links
        self._widths = widths
        self._capacity = capacity
        self._grid = Grid(np.arange(math.prod(shape.dims)), shape.dims, wrap=shape.wrap)
        self._coordinates = self._grid.coordinates(np.arange(self._grid.routers)).tolist()

    def content(self, source: str) -> bytes:
        shape = self._shape
        kind = "torus" if shape.wrap else "mesh"
        root = etree.Element("platform", version="4.1")
        world = etree.SubElement(root, "zone", id="world", routing="Full")
        zone = etree.SubElement(world, "zone", id=kind, routing="Floyd")
        for key, value in (
            (TOPOLOGY_PROPERTY, kind),
            (DIMENSIONS_PROPERTY, ",".join(map(str, shape.dims))),
            (HOSTS_PER_ROUTER_PROPERTY, str(shape.hosts_per_router)),
        ):
            etree.SubElement(zone, "prop", id=key, value=value)
        for router in range(self._grid.routers):
            self._add_router(zone, router)
        axes = [axis for axis, size in enumerate(shape.dims) if size > 1]
        lines = [self._add_lines(zone, axis) for axis in axes]
        self._add_changes(zone, axes, lines)
        text = f"{kind} {' x '.join(map(str, shape.dims))}, {shape.hosts_per_router} hosts a router"
        note = f"{text} that share its links, {len(shape.storage)} I/O nodes, written by batdispatch {source}"
        return render(root, world, [(kind, _gateway(0))], self._links, note)

    def _add_router(self, zone: etree._Element, router: int) -> None:
        """Add the zone of a router: its hosts, each on its own link to the gateway."""
        count, latency = self._shape.hosts_per_router, self._links.lat
        inner = etree.SubElement(zone, "zone", id=_router(router), routing="Full")
        mine = range(router * count, (router + 1) * count)
        for number in mine:
            host = etree.SubElement(inner, "host", id=self._names[number], speed=self._links.speed)
            place = ",".join(map(str, self._coordinates[router]))
            etree.SubElement(host, "prop", id=COORDINATES_PROPERTY, value=place)
            if number in self._shape.storage:
                etree.SubElement(host, "prop", id=ROLE_PROPERTY, value="storage")
            elif self._capacity is not None:
                etree.SubElement(host, "prop", id=CAPACITY_PROPERTY, value=self._capacity)
        etree.SubElement(inner, "router", id=_gateway(router))
        for number in mine:
            _add_link(inner, self._own(number), str(self._widths.host), latency)
        for number in mine:
            _add_route(inner, self._names[number], _gateway(router), [(self._own(number), "UP")])
        for one, other in itertools.combinations(mine, 2):
            steps = [(self._own(one), "UP"), (self._own(other), "DOWN")]
            _add_route(inner, self._names[one], self._names[other], steps)

    def _own(self, number: int) -> str:
        """Return the name of a host's own link; up leads to the router."""
        return f"of_{self._names[number]}"

    def _add_lines(self, zone: etree._Element, axis: int) -> list[str]:
        """Add the zones of all lines in a dimension; return the zone of each router's line."""
        size, stride = self._shape.dims[axis], math.prod(self._shape.dims[:axis])
        ring = self._shape.wrap and size > 2
        line_of = [""] * self._grid.routers
        for first in range(self._grid.routers):
            if self._coordinates[first][axis]:
                continue
            members = [first + place * stride for place in range(size)]
            name = f"line{axis}_{first}"
            line = etree.SubElement(zone, "zone", id=name, routing="Floyd")
            for router in members:
                line_of[router] = name
                etree.SubElement(line, "router", id=_point(axis, router))
            # Of two routers in a ring, there is one cable between them.
            cables = list(zip(members, members[1:] + members[:1], strict=True))[: size if ring else size - 1]
            for router, _ in cables:
                _add_link(line, _cable(axis, router), self._widths.dimensions[axis], self._links.lat)
            for router, above in cables:
                _add_route(line, _point(axis, router), _point(axis, above), [(_cable(axis, router), "UP")])
            if ring and size % 2 == 0:
                for place, router in enumerate(members):
                    self._add_way(line, axis, router, members[(place + size // 2) % size])
        return line_of

    def _add_way(self, line: etree._Element, axis: int, source: int, target: int) -> None:
        """Write out the way between two routers that stand opposite each other in a ring."""
        way = etree.SubElement(line, "bypassRoute", src=_point(axis, source), dst=_point(axis, target))
        size = self._shape.dims[axis]
        for start, end in self._grid.hops(source, target):
            up = (self._coordinates[end][axis] - self._coordinates[start][axis]) % size == 1
            name = _cable(axis, start if up else end)
            etree.SubElement(way, "link_ctn", id=name, direction="UP" if up else "DOWN")

    def _add_changes(self, zone: etree._Element, axes: Sequence[int], lines: Sequence[Sequence[str]]) -> None:
        """Add how messages change at each router: from its hosts to its first line, from line to line, to its hosts.

        SimGrid wants a link for each. It is as wide as all that a router can carry, and never limits: a message may
        take it once for each change.
        """
        if not axes:
            return
        carried = self._shape.hosts_per_router * _bytes(str(self._widths.host))
        carried += sum(2 * _bytes(self._widths.dimensions[axis]) for axis in axes)
        width = f"{math.ceil((len(axes) + 1) * carried)}Bps"
        # SimGrid reads no link after a route.
        for router in range(self._grid.routers):
            name = _inside(router)
            etree.SubElement(zone, "link", id=name, bandwidth=width, latency="0s", sharing_policy="FATPIPE")
        for router in range(self._grid.routers):
            hosts = (_router(router), _gateway(router))
            stops = [(line_of[router], _point(axis, router)) for axis, line_of in zip(axes, lines, strict=True)]
            for (start, way_out), (end, way_in) in itertools.pairwise([hosts, *stops, hosts]):
                change = etree.SubElement(
                    zone, "zoneRoute", src=start, dst=end, gw_src=way_out, gw_dst=way_in, symmetrical="NO"
                )
                etree.SubElement(change, "link_ctn", id=_inside(router))


def _router(router: int) -> str:
    """Return the name of the zone of a router."""
    return f"router{router}"


def _inside(router: int) -> str:
    """Return the name of the link on which a message changes its line in a router."""
    return f"inside_{router}"


def _gateway(router: int) -> str:
    """Return the name of what the hosts of a router hang on."""
    return f"hosts_of_{router}"


def _point(axis: int, router: int) -> str:
    """Return the name of a router in its line in a dimension."""
    return f"at{axis}_{router}"


def _cable(axis: int, router: int) -> str:
    """Return the name of the cable from a router to the next one in a dimension; up leads there."""
    return f"cable{axis}_{router}"


def _add_link(zone: etree._Element, name: str, bandwidth: str, latency: str) -> None:
    etree.SubElement(zone, "link", id=name, bandwidth=bandwidth, latency=latency, sharing_policy="SPLITDUPLEX")


def _add_route(zone: etree._Element, source: str, target: str, steps: Sequence[tuple[str, str]]) -> None:
    """Add a route and the way back."""
    route = etree.SubElement(zone, "route", src=source, dst=target)
    for name, direction in steps:
        etree.SubElement(route, "link_ctn", id=name, direction=direction)
