"""Machines on a k-ary mesh. SimGrid has no word for it, so its zones are written out."""

from __future__ import annotations

from collections.abc import Sequence

from batdispatch.abilities.topology.generate.grid import Shape, Widths, checked_grid, written_grid
from batdispatch.abilities.topology.generate.spread import storage_hosts
from batdispatch.core.hosts.names import MAX_HOSTS
from batdispatch.inputs.platforms.generate.document import Links

_SOURCE = "platform generate mesh"
_LINKS = Links()
_WIDTHS = Widths()


def mesh(
    dims: Sequence[int],
    *,
    hosts_per_router: int = 1,
    io: int = 0,
    capacity: str | None = None,
    links: Links = _LINKS,
    widths: Widths = _WIDTHS,
) -> bytes:
    """Return a mesh of routers with `hosts_per_router` hosts each, `io` of them I/O nodes (role storage).

    Host number h stands on router h div `hosts_per_router`, at (x, y, z, ...) with x varying fastest. At most one I/O
    node stands on a router, as its last host. A route leads over the sender's own link, over the links between
    routers, dimension by dimension, x first, and over the receiver's own link. Both directions of a link have its full
    bandwidth. `grid.py` says how this is written.

    `doors.platforms.Mesh` says what is stated; `widths` are the bandwidths that differ from the one in `links`.

    Raises:
        InputError: an argument is out of range or malformed.
    """
    hosts = checked_grid(dims, hosts_per_router, io, MAX_HOSTS, _SOURCE)
    digits = len(str(hosts - 1))
    shape = Shape(dims, False, hosts_per_router, frozenset(storage_hosts(dims, hosts_per_router, io)))
    return written_grid(shape, [f"n{number:0{digits}d}" for number in range(hosts)], links, widths, capacity, _SOURCE)
