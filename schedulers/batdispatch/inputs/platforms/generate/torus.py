"""Machines on a k-ary torus, such as Blue Waters: one network for compute and I/O, several nodes a router."""

from __future__ import annotations

import math
from collections.abc import Sequence

from batdispatch.core.errors import InputError
from batdispatch.core.machine import CAPACITY_PROPERTY
from batdispatch.inputs.platforms.generate.document import (
    Links,
    checked_capacity,
    checked_count,
    cluster_platform,
)
from batdispatch.inputs.platforms.radical import MAX_HOSTS
from batdispatch.inputs.platforms.topology import HOSTS_PER_ROUTER_PROPERTY

_SOURCE = "platform generate torus"
#: Blue Waters' Gemini network as system models state it: 9.6 GB/s a link, 1 us a hop.
GEMINI = Links(bw="9.6GBps", lat="1us")


def spread_routers(dims: Sequence[int], count: int) -> list[int]:
    """Return `count` different routers of a torus, spread evenly over it, in ascending order.

    Takes the points of an additive recurrence with the powers of the generalised golden ratio (the positive root x of
    x^(d+1) = x + 1 for d dimensions), whose first n points are close to evenly spread in the unit cube for every n;
    where two fall on one router, the next free one is taken. On 24 x 24 x 24 with 672 I/O routers no router is farther
    than 4 hops from one (mean 1.8); equal steps along the numbering leave 5 (mean 2.3), a random choice 5 (mean 2.0).

    Args:
        dims: size of each dimension; a router's number is x + X (y + Y (z + ...)).
        count: at most the number of routers.
    """
    size = len(dims)
    ratio = 2.0
    for _ in range(64):
        ratio = (1 + ratio) ** (1 / (size + 1))
    steps = [ratio ** -(axis + 1) for axis in range(size)]
    routers = math.prod(dims)
    taken: set[int] = set()
    for point in range(1, count + 1):
        router, stride = 0, 1
        for step, dim in zip(steps, dims, strict=True):
            router += int((0.5 + point * step) % 1.0 * dim) * stride
            stride *= dim
        while router in taken:
            router = (router + 1) % routers
        taken.add(router)
    return sorted(taken)


def checked_grid(dims: Sequence[int], hosts_per_router: int, io: int, most: int, source: str, why: str = "") -> int:
    """Return the number of hosts on a grid of routers.

    Args:
        dims: size of each dimension.
        hosts_per_router: hosts that share a place.
        io: number of I/O nodes.
        most: largest number of hosts.
        source: what the arguments are of, for messages.
        why: why there may be no more hosts, to be added to the message.

    Raises:
        InputError: an argument is out of range.
    """
    if not 1 <= len(dims) <= 10 or min(dims) < 1:
        raise InputError(f"{list(dims)} is not one to ten sizes of at least 1", source=source, place="--dims")
    checked_count(hosts_per_router, source, "--hosts-per-router")
    routers = math.prod(dims)
    hosts = routers * hosts_per_router
    if hosts > most:
        raise InputError(f"{hosts} hosts are more than {most}{why}", source=source, place="--dims")
    if not 0 <= io <= routers or io >= hosts:
        raise InputError(
            f"{io} is not between 0 and one per router ({routers}), with compute hosts left",
            source=source,
            place="--io",
        )
    return hosts


def torus(
    dims: Sequence[int],
    *,
    hosts_per_router: int = 2,
    io: int = 0,
    capacity: str | None = None,
    links: Links = GEMINI,
) -> bytes:
    """Return a torus of routers with `hosts_per_router` hosts each, `io` of them I/O nodes (role storage).

    Host number h stands on router h div `hosts_per_router`, at (x, y, z, ...) with x varying fastest. At most one I/O
    node stands on a router, as its last host. Routing is SimGrid's: dimension by dimension, x first, the shorter
    way round.

    SimGrid's torus has one host a router, so several hosts become a further, first dimension of that size: each host
    of a router has links of its own to the neighbours, and a message for the other host of a distant router changes
    over before it leaves. Distances between routers are exact; links are shared less than on the real machine.

    Args:
        dims: size of each dimension, at least 1.
        hosts_per_router: hosts that share a place.
        io: number of I/O nodes, at most one a router.
        capacity: what a node offers, such as ``core=32``; None for whole hosts.
        links: core speed, bandwidth and latency of every link.

    Raises:
        InputError: an argument is out of range or malformed.
    """
    hosts = checked_grid(dims, hosts_per_router, io, MAX_HOSTS, _SOURCE)
    checked_capacity(capacity, _SOURCE)
    properties = [] if capacity is None else [(CAPACITY_PROPERTY, capacity)]
    sizes = list(dims)
    if hosts_per_router > 1:
        properties.append((HOSTS_PER_ROUTER_PROPERTY, str(hosts_per_router)))
        sizes.insert(0, hosts_per_router)
    last = hosts_per_router - 1
    storage = [router * hosts_per_router + last for router in spread_routers(dims, io)]
    shape = f"torus {' x '.join(map(str, dims))}, {hosts_per_router} hosts a router, {io} I/O nodes"
    return cluster_platform(
        "torus",
        "TORUS",
        ",".join(map(str, sizes)),
        hosts,
        links.checked(_SOURCE),
        f"{shape}, written by batdispatch platform generate torus",
        properties=properties,
        storage_places=storage,
    )
