"""Machines on a k-ary torus, such as Blue Waters: one network for compute and I/O, several nodes a router."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from batdispatch.abilities.topology.generate.grid import Shape, Widths, checked_grid, written_grid, zones_of
from batdispatch.abilities.topology.generate.spread import storage_hosts
from batdispatch.core.errors import InputError
from batdispatch.core.hosts.names import MAX_HOSTS
from batdispatch.core.machine.machine import CAPACITY_PROPERTY
from batdispatch.inputs.platforms.generate.document import Links, checked_capacity, cluster_platform, first_number
from batdispatch.inputs.platforms.topology import HOSTS_PER_ROUTER_PROPERTY

_SOURCE = "platform generate torus"
#: Blue Waters' Gemini network as system models state it: 9.6 GB/s a link, 1 us a hop.
GEMINI = Links(bw="9.6GBps", lat="1us")
#: Most zones that are written without being asked for: with 2,160 (12 x 12 x 12 routers) SimGrid starts in 5 s.
SHARED_BY_DEFAULT = 2_200
_WIDTHS = Widths()

RouterLinks = Literal["shared", "split"]


def torus(
    dims: Sequence[int],
    *,
    hosts_per_router: int = 2,
    io: int = 0,
    capacity: str | None = None,
    links: Links = GEMINI,
    router_links: RouterLinks | None = None,
    widths: Widths = _WIDTHS,
) -> bytes:
    """Return a torus of routers with `hosts_per_router` hosts each, `io` of them I/O nodes (role storage).

    Host number h stands on router h div `hosts_per_router`, at (x, y, z, ...) with x varying fastest. At most one I/O
    node stands on a router, as its last host. Routing is SimGrid's: dimension by dimension, x first, the shorter
    way round. Names and places of the hosts are the same either way:

    - ``shared``: the hosts of a router share its links. Zones are written out as `grid.py` says, and each host has a
      link of its own to its router.
    - ``split``: SimGrid's torus, which has one host a router. Several hosts become a further, first dimension of that
      size: each host of a router has links of its own to the neighbours, and a message for the other host of a
      distant router changes over before it leaves. Distances between routers are exact; links are shared less than on
      the real machine. A host has no link to its router, so nothing limits what it sends into several directions.

    `doors.platforms.Torus` says what is stated. SimGrid starts within seconds up to `SHARED_BY_DEFAULT` zones;
    `widths` are the bandwidths that differ from the one in `links`, of shared links alone.

    Raises:
        InputError: an argument is out of range or malformed.
    """
    hosts = checked_grid(dims, hosts_per_router, io, MAX_HOSTS, _SOURCE)
    storage = storage_hosts(dims, hosts_per_router, io)
    if router_links is None:
        small = hosts_per_router > 1 and zones_of(dims) <= SHARED_BY_DEFAULT
        router_links = "shared" if small or widths != _WIDTHS else "split"
    if router_links == "shared":
        start = first_number(hosts)
        names = [f"n{start + number}" for number in range(hosts)]
        shape = Shape(dims, True, hosts_per_router, frozenset(storage))
        return written_grid(shape, names, links, widths, capacity, _SOURCE)
    if widths != _WIDTHS:
        raise InputError(
            "SimGrid's torus has one bandwidth for all links; expected --router-links shared", source=_SOURCE
        )
    checked_capacity(capacity, _SOURCE)
    properties = [] if capacity is None else [(CAPACITY_PROPERTY, capacity)]
    sizes = list(dims)
    if hosts_per_router > 1:
        properties.append((HOSTS_PER_ROUTER_PROPERTY, str(hosts_per_router)))
        sizes.insert(0, hosts_per_router)
    shape_text = f"torus {' x '.join(map(str, dims))}, {hosts_per_router} hosts a router, {io} I/O nodes"
    return cluster_platform(
        "torus",
        "TORUS",
        ",".join(map(str, sizes)),
        hosts,
        links.checked(_SOURCE),
        f"{shape_text}, written by batdispatch platform generate torus",
        properties=properties,
        storage_places=storage,
    )
