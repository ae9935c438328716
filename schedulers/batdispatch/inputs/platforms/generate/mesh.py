"""Machines on a k-ary mesh. SimGrid has no word for it, so every route is written out."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from lxml import etree

from batdispatch.core.machine import CAPACITY_PROPERTY, COORDINATES_PROPERTY
from batdispatch.core.topology import Grid
from batdispatch.inputs.platforms.generate.document import Links, checked_capacity, render
from batdispatch.inputs.platforms.generate.torus import checked_grid, spread_routers
from batdispatch.inputs.platforms.roles import ROLE_PROPERTY
from batdispatch.inputs.platforms.topology import (
    DIMENSIONS_PROPERTY,
    HOSTS_PER_ROUTER_PROPERTY,
    TOPOLOGY_PROPERTY,
)

_SOURCE = "platform generate mesh"
_LINKS = Links()
#: Most hosts: the file has a route for every ordered pair of hosts, 10 MB for an 8 x 16 mesh.
MAX_MESH_HOSTS = 128
_WHY_NO_MORE = "; SimGrid has no mesh, so each route between two hosts is written into the file"


def mesh(
    dims: Sequence[int],
    *,
    hosts_per_router: int = 1,
    io: int = 0,
    capacity: str | None = None,
    links: Links = _LINKS,
) -> bytes:
    """Return a mesh of routers with `hosts_per_router` hosts each, `io` of them I/O nodes (role storage).

    Host number h stands on router h div `hosts_per_router`, at (x, y, z, ...) with x varying fastest. At most one I/O
    node stands on a router, as its last host. A route leads over the sender's own link, over the links between
    routers, dimension by dimension, x first, and over the receiver's own link. Both directions of a link have its full
    bandwidth.

    Args:
        dims: size of each dimension, at least 1.
        hosts_per_router: hosts that share a place.
        io: number of I/O nodes, at most one a router.
        capacity: what a node offers, such as ``core=32``; None for whole hosts.
        links: core speed, bandwidth and latency of every link.

    Raises:
        InputError: an argument is out of range or malformed.
    """
    hosts = checked_grid(dims, hosts_per_router, io, MAX_MESH_HOSTS, _SOURCE, _WHY_NO_MORE)
    checked_capacity(capacity, _SOURCE)
    links.checked(_SOURCE)
    grid = Grid(np.arange(hosts) // hosts_per_router, dims, wrap=False)
    storage = {router * hosts_per_router + hosts_per_router - 1 for router in spread_routers(dims, io)}
    names = [f"n{number:0{len(str(hosts - 1))}d}" for number in range(hosts)]
    root = etree.Element("platform", version="4.1")
    world = etree.SubElement(root, "zone", id="world", routing="Full")
    zone = etree.SubElement(world, "zone", id="mesh", routing="Full")
    for key, value in (
        (TOPOLOGY_PROPERTY, "mesh"),
        (DIMENSIONS_PROPERTY, ",".join(map(str, dims))),
        (HOSTS_PER_ROUTER_PROPERTY, str(hosts_per_router)),
    ):
        etree.SubElement(zone, "prop", id=key, value=value)
    for number, name in enumerate(names):
        host = etree.SubElement(zone, "host", id=name, speed=links.speed)
        place = grid.coordinates(grid.router_of[number]).tolist()
        etree.SubElement(host, "prop", id=COORDINATES_PROPERTY, value=",".join(map(str, place)))
        if number in storage:
            etree.SubElement(host, "prop", id=ROLE_PROPERTY, value="storage")
        elif capacity is not None:
            etree.SubElement(host, "prop", id=CAPACITY_PROPERTY, value=capacity)
    cables = dict.fromkeys(_cable(grid, link)[0] for link in range(grid.links))
    for name in (*(f"of_{name}" for name in names), *cables):
        etree.SubElement(zone, "link", id=name, bandwidth=links.bw, latency=links.lat, sharing_policy="SPLITDUPLEX")
    for source, target in itertools.permutations(range(hosts), 2):
        route = etree.SubElement(zone, "route", src=names[source], dst=names[target], symmetrical="NO")
        steps = [_cable(grid, link) for link in grid.route(source, target)]
        for name, direction in [(f"of_{names[source]}", "UP"), *steps, (f"of_{names[target]}", "DOWN")]:
            etree.SubElement(route, "link_ctn", id=name, direction=direction)
    shape = f"mesh {' x '.join(map(str, dims))}, {hosts_per_router} hosts a router, {io} I/O nodes"
    note = f"{shape}, written by batdispatch platform generate mesh"
    return render(root, world, [("mesh", names[0])], links, note)


def _cable(grid: Grid, link: int) -> tuple[str, str]:
    """Return the cable of a directed link, and the direction on it: up from the router with the lower id."""
    start, end = grid.link_ends[link].tolist()
    return f"from_{min(start, end)}_to_{max(start, end)}", "UP" if start < end else "DOWN"
