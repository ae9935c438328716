"""The shape of a cluster as a platform file states it; `networks` makes a network of it.

A cluster has the shape of its attributes ``topology`` and ``topo_parameters``. SimGrid has no word for a mesh, and a
zone of single hosts has no such attributes. So a zone or a flat cluster may state its shape with properties of ours:
``topology`` (mesh, torus or flat), ``dimensions`` (such as ``4,4,2``) and ``hosts_per_router``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, get_args

import msgspec
import numpy as np

Kind = Literal["FLAT", "TORUS", "FAT_TREE", "DRAGONFLY", "MESH"]
KINDS: tuple[Kind, ...] = get_args(Kind)
#: Zone property of ours: the shape of a network that SimGrid has no attribute for.
TOPOLOGY_PROPERTY = "topology"
#: Zone property of ours: the size of each dimension of a mesh or torus.
DIMENSIONS_PROPERTY = "dimensions"
#: Cluster property of ours: so many hosts share a router; the torus's first dimension then counts hosts on a router.
HOSTS_PER_ROUTER_PROPERTY = "hosts_per_router"
#: Most directed links of a network; a fat tree or dragonfly of few hosts may have any number of them.
MAX_LINKS = 10_000_000

_STATED: dict[str, Kind] = {"mesh": "MESH", "torus": "TORUS", "flat": "FLAT"}


class ClusterShape(msgspec.Struct, frozen=True, kw_only=True):
    """The shape of the network of one cluster, or of one zone that states it.

    Attributes:
        cluster: the id of the cluster or zone.
        kind: SimGrid's word for it; MESH is ours.
        hosts: how many hosts it holds, of any role.
        dims: TORUS, MESH: the size of each dimension, without the one that counts hosts on a router. Otherwise empty.
        hosts_per_router: how many hosts stand on a router; 0: any number may.
        parameters: ``topo_parameters`` as written.
        sizes: the numbers in `parameters`, part by part.
        shared: whether the two directions of a cable share its bandwidth (``sharing_policy="SHARED"``).
        stated: by properties of a zone or flat cluster; its hosts then say where they stand, see `host_places.py`.
    """

    cluster: str
    kind: Kind
    hosts: int
    dims: tuple[int, ...] = ()
    hosts_per_router: int = 1
    parameters: str = ""
    sizes: tuple[tuple[int, ...], ...] = ()
    shared: bool = False
    stated: bool = False

    def coordinates(self) -> list[str]:
        """Return the coordinates of each torus host in the order of the radical, such as ``0,3,1``.

        SimGrid's first dimension varies fastest. Where hosts share a router, they are consecutive and equal.
        """
        router = np.arange(self.hosts) // self.hosts_per_router
        columns = []
        for size in self.dims:
            router, place = np.divmod(router, size)
            columns.append(place.tolist())
        return [",".join(map(str, row)) for row in zip(*columns, strict=True)]


def _numbers(text: str, count: int | None, what: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if any(not (part.isascii() and part.isdigit() and len(part) <= 9 and int(part) >= 1) for part in parts):
        raise ValueError(f"{what} {text!r} is not a list of whole numbers of at least 1")
    if count is not None and len(parts) != count:
        raise ValueError(f"{what} {text!r} has {len(parts)} numbers, expected {count}")
    return tuple(int(part) for part in parts)


def _sizes(kind: Kind, text: str) -> tuple[tuple[int, ...], ...]:
    """Read the parameters of a fat tree or dragonfly."""
    parts = text.split(";")
    if kind == "FAT_TREE":
        if len(parts) != 4:
            raise ValueError("a fat tree takes levels;down,..;up,..;cables,.. such as 2;4,4;1,2;1,2")
        (levels,) = _numbers(parts[0], 1, "levels")
        names = ("down", "up", "cables")
        return ((levels,), *(_numbers(part, levels, what) for part, what in zip(parts[1:], names, strict=True)))
    if len(parts) != 4:
        raise ValueError("a dragonfly takes groups,links;chassis,links;routers,links;nodes such as 3,4;4,3;5,1;2")
    names = ("groups", "chassis", "routers")
    sizes = [_numbers(part, 2, what) for part, what in zip(parts, names, strict=False)]
    return (*sizes, _numbers(parts[3], 1, "nodes"))


def _fat_tree_links(down: tuple[int, ...], up: tuple[int, ...], cables: tuple[int, ...]) -> int:
    return sum(2 * math.prod(up[: level + 1]) * cables[level] * math.prod(down[level:]) for level in range(len(down)))


def _check_dragonfly(groups: int, chassis: int, routers: int) -> int:
    """Return the number of directed links."""
    if groups > routers:
        # The message must go to the router of its chassis that has the number of the other group.
        raise ValueError(
            f"has {groups} groups and {routers} routers in a chassis; SimGrid crashes on routes where there are more "
            "groups than routers in a chassis"
        )
    return groups * (chassis * routers * (routers - 1 + chassis - 1) + groups - 1)


def read_shape(
    cluster: str, kind: Kind, parameters: str, hosts: int, hosts_per_router: int, *, shared: bool = False
) -> ClusterShape:
    """Check ``topo_parameters`` against the number of hosts.

    Args:
        cluster: its id.
        kind: the value of ``topology``.
        parameters: the value of ``topo_parameters``.
        hosts: how many hosts the radical makes.
        hosts_per_router: the value of the property of that name, else 1.
        shared: whether the two directions of a cable share its bandwidth.

    Raises:
        ValueError: the parameters are malformed, or have another number of places than there are hosts (SimGrid would
            stop, or silently leave out the surplus hosts), or SimGrid could not route messages there.
    """
    dims: tuple[int, ...] = ()
    sizes: tuple[tuple[int, ...], ...] = ()
    links = 0
    if kind == "FLAT":
        return ClusterShape(cluster=cluster, kind=kind, hosts=hosts, hosts_per_router=0)
    if kind == "TORUS":
        dims = _numbers(parameters, None, "dimensions")
        places = math.prod(dims)
        links = 2 * len(dims) * places
        if hosts_per_router > 1:
            if dims[0] != hosts_per_router or len(dims) < 2:
                raise ValueError(
                    f"the first of several dimensions must be {HOSTS_PER_ROUTER_PROPERTY} = {hosts_per_router}"
                )
            dims = dims[1:]
    elif kind == "FAT_TREE":
        sizes = _sizes(kind, parameters)
        hosts_per_router = sizes[1][0] if sizes[2][0] == 1 else 1
        places, links = math.prod(sizes[1]), _fat_tree_links(*sizes[1:])
    else:
        sizes = _sizes(kind, parameters)
        (groups, _), (chassis, _), (routers, _), (hosts_per_router,) = sizes
        places, links = groups * chassis * routers * hosts_per_router, _check_dragonfly(groups, chassis, routers)
    if places != hosts:
        raise ValueError(f"has {places} places, the radical makes {hosts} hosts")
    if links > MAX_LINKS:
        raise ValueError(f"has {links} links, more than {MAX_LINKS}")
    return ClusterShape(
        cluster=cluster,
        kind=kind,
        hosts=hosts,
        dims=dims,
        hosts_per_router=hosts_per_router,
        parameters=parameters,
        sizes=sizes,
        shared=shared,
    )


def stated_shape(zone: str, properties: Mapping[str, str], most: int) -> ClusterShape | None:
    """Return the shape that the properties of a zone or flat cluster state, or None when they state none.

    Args:
        zone: its id.
        properties: its own.
        most: largest number of routers.

    Raises:
        ValueError: a property is malformed, or missing.
    """
    text = properties.get(TOPOLOGY_PROPERTY)
    if text is None:
        return None
    kind = _STATED.get(text)
    if kind is None:
        raise ValueError(f"property {TOPOLOGY_PROPERTY} is {text[:40]!r}, expected {', '.join(_STATED)}")
    if kind == "FLAT":
        return ClusterShape(cluster=zone, kind=kind, hosts=0, hosts_per_router=0, stated=True)
    if DIMENSIONS_PROPERTY not in properties:
        raise ValueError(f"a {text} needs the property {DIMENSIONS_PROPERTY}, such as 4,4,2")
    dims = _numbers(properties[DIMENSIONS_PROPERTY], None, f"property {DIMENSIONS_PROPERTY}")
    if math.prod(dims) > most:
        raise ValueError(f"property {DIMENSIONS_PROPERTY}: {math.prod(dims)} routers are more than {most}")
    if 2 * len(dims) * math.prod(dims) > MAX_LINKS:
        raise ValueError(f"property {DIMENSIONS_PROPERTY}: more than {MAX_LINKS} links")
    shared = properties.get(HOSTS_PER_ROUTER_PROPERTY, "0")
    if not (shared.isascii() and shared.isdigit() and len(shared) <= 6):
        raise ValueError(f"property {HOSTS_PER_ROUTER_PROPERTY} {shared[:40]!r} is no whole number from 1")
    return ClusterShape(cluster=zone, kind=kind, hosts=0, dims=dims, hosts_per_router=int(shared), stated=True)
