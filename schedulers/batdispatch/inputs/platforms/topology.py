"""Topologies of SimGrid's clusters: their parameters, how many places they have, where each host is."""

from __future__ import annotations

import math
from typing import Literal, get_args

import msgspec
import numpy as np

Kind = Literal["FLAT", "TORUS", "FAT_TREE", "DRAGONFLY"]
KINDS: tuple[Kind, ...] = get_args(Kind)
#: Cluster property of ours: so many hosts share a router; the torus's first dimension then counts hosts on a router.
HOSTS_PER_ROUTER_PROPERTY = "hosts_per_router"


class Topology(msgspec.Struct, frozen=True, kw_only=True):
    """The topology of one cluster.

    Attributes:
        cluster: the cluster's id.
        kind: SimGrid's word for it.
        hosts: how many hosts it holds, of any role.
        dims: TORUS: the size of each dimension, without the one that counts hosts on a router. Otherwise empty.
        hosts_per_router: TORUS: how many hosts have the same coordinates.
        parameters: ``topo_parameters`` as written.
    """

    cluster: str
    kind: Kind
    hosts: int
    dims: tuple[int, ...] = ()
    hosts_per_router: int = 1
    parameters: str = ""

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


def _fat_tree(text: str) -> int:
    parts = text.split(";")
    if len(parts) != 4:
        raise ValueError("a fat tree takes levels;down,..;up,..;cables,.. such as 2;4,4;1,2;1,2")
    (levels,) = _numbers(parts[0], 1, "levels")
    down, _, _ = (_numbers(part, levels, what) for part, what in zip(parts[1:], ("down", "up", "cables"), strict=True))
    return math.prod(down)


def _dragonfly(text: str) -> int:
    parts = text.split(";")
    if len(parts) != 4:
        raise ValueError("a dragonfly takes groups,links;chassis,links;routers,links;nodes such as 3,4;4,3;5,1;2")
    names = ("groups", "chassis", "routers")
    sizes = [_numbers(part, 2, what)[0] for part, what in zip(parts, names, strict=False)]
    return math.prod(sizes) * _numbers(parts[3], 1, "nodes")[0]


def read_topology(cluster: str, kind: Kind, parameters: str, hosts: int, hosts_per_router: int) -> Topology:
    """Check ``topo_parameters`` against the number of hosts.

    Args:
        cluster: its id.
        kind: the value of ``topology``.
        parameters: the value of ``topo_parameters``.
        hosts: how many hosts the radical makes.
        hosts_per_router: the value of the property of that name, else 1.

    Raises:
        ValueError: the parameters are malformed or have another number of places than there are hosts (SimGrid would
            stop, or silently leave out the surplus hosts).
    """
    dims: tuple[int, ...] = ()
    if kind == "FLAT":
        return Topology(cluster=cluster, kind=kind, hosts=hosts)
    if kind == "TORUS":
        dims = _numbers(parameters, None, "dimensions")
        places = math.prod(dims)
        if hosts_per_router > 1:
            if dims[0] != hosts_per_router or len(dims) < 2:
                raise ValueError(
                    f"the first of several dimensions must be {HOSTS_PER_ROUTER_PROPERTY} = {hosts_per_router}"
                )
            dims = dims[1:]
    else:
        places = _fat_tree(parameters) if kind == "FAT_TREE" else _dragonfly(parameters)
    if places != hosts:
        raise ValueError(f"has {places} places, the radical makes {hosts} hosts")
    return Topology(
        cluster=cluster, kind=kind, hosts=hosts, dims=dims, hosts_per_router=hosts_per_router, parameters=parameters
    )
