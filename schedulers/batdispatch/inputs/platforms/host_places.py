"""Where the hosts of a platform stand in its network, and the network of a whole machine."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NoReturn

import numpy as np

from batdispatch.core.errors import InputError
from batdispatch.core.machine.machine import COORDINATES_PROPERTY
from batdispatch.core.machine.network import Network
from batdispatch.inputs.platforms.document import quote
from batdispatch.inputs.platforms.networks import make_network
from batdispatch.inputs.platforms.roles import Roles
from batdispatch.inputs.platforms.topology import HOSTS_PER_ROUTER_PROPERTY, ClusterShape
from batdispatch.inputs.platforms.zones import PlatformHost


def place_hosts(shapes: Sequence[ClusterShape], hosts: Mapping[str, PlatformHost], roles: Roles, source: str) -> None:
    """Give each host of a shape that a zone states its router: sets `PlatformHost.rank`.

    Either every compute host there has coordinates, and a storage host without them stands outside of the network. Or
    no host there has coordinates: then they fill the routers in the order of the file, the first dimension fastest,
    and get coordinates from that.

    Args:
        shapes: of the platform.
        hosts: by name, in the order of the file.
        roles: of the hosts; the master is left out.
        source: the platform file, for messages.

    Raises:
        InputError: coordinates are malformed or missing, or there are too few or too many hosts.
    """
    for index, shape in enumerate(shapes):
        if shape.stated:
            inside = [host for host in hosts.values() if host.shape == index and host.name != roles.master]
            _Stated(shape, inside, roles, source).place()


def network_of(shapes: Sequence[ClusterShape], hosts: Sequence[PlatformHost], compute: int) -> Network | None:
    """Return the network of a machine whose compute hosts all stand in one shape, otherwise None.

    Args:
        shapes: of the platform.
        hosts: the resources by id, compute hosts first. A storage host elsewhere is not in the network.
        compute: number of compute hosts.
    """
    found = {host.shape for host in hosts[:compute]}
    if len(found) != 1 or -1 in found:
        return None
    (index,) = found
    places = [host.rank if host.shape == index else -1 for host in hosts]
    return make_network(shapes[index], np.array(places, dtype=np.int64))


class _Stated:
    """The hosts of one shape that a zone states."""

    def __init__(self, shape: ClusterShape, hosts: Sequence[PlatformHost], roles: Roles, source: str) -> None:
        self._shape = shape
        self._hosts = hosts
        self._roles = roles
        self._source = source
        #: How messages call the shape.
        self._about = f"{shape.kind.lower()} {' x '.join(map(str, shape.dims))} of {quote(shape.cluster)}"

    def place(self) -> None:
        """Set the rank of every host."""
        if self._shape.kind == "FLAT":
            for host in self._hosts:
                host.rank = 0
            return
        texts = [host.merged().get(COORDINATES_PROPERTY) for host in self._hosts]
        if not any(text is not None for text in texts):
            self._fill()
            return
        for host, text in zip(self._hosts, texts, strict=True):
            if text is not None:
                host.rank = self._router(host, text)
            elif self._roles.of(host.name) == "compute_node":
                self._fail(
                    f"host {quote(host.name)} has no property {COORDINATES_PROPERTY}, others of the {self._about} have "
                    "it; expected it on all compute hosts or on none",
                    host,
                )
        most = self._shape.hosts_per_router
        if most:
            count = Counter(host.rank for host in self._hosts if host.rank >= 0)
            crowded = next((host for host in self._hosts if count[host.rank] > most), None)
            if crowded is not None:
                self._fail(
                    f"{count[crowded.rank]} hosts stand on the router of host {quote(crowded.name)}, the {self._about} "
                    f"has {HOSTS_PER_ROUTER_PROPERTY} = {most}",
                    crowded,
                )

    def _fill(self) -> None:
        on_each = max(self._shape.hosts_per_router, 1)
        places = math.prod(self._shape.dims) * on_each
        if len(self._hosts) != places:
            raise InputError(
                f"the {self._about} has {places} places ({on_each} on a router) for {len(self._hosts)} hosts, which "
                f"state no {COORDINATES_PROPERTY}; expected as many hosts as places, or all {COORDINATES_PROPERTY}",
                source=self._source,
                place=self._hosts[0].place if self._hosts else "",
            )
        for number, host in enumerate(self._hosts):
            host.rank = rest = number // on_each
            place = []
            for size in self._shape.dims:
                rest, here = divmod(rest, size)
                place.append(here)
            host.coordinates = ",".join(map(str, place))

    def _router(self, host: PlatformHost, text: str) -> int:
        dims = self._shape.dims
        parts = [part.strip() for part in text.split(",")]
        if len(parts) != len(dims) or not all(
            part.isascii() and part.isdigit() and len(part) <= 9 and int(part) < size
            for part, size in zip(parts, dims, strict=True)
        ):
            ranges = ", ".join(f"0..{size - 1}" for size in dims)
            self._fail(
                f"host {quote(host.name)} has {COORDINATES_PROPERTY} {quote(text)}, expected {len(dims)} whole numbers "
                f"({ranges}) in the {self._about}",
                host,
            )
        router = 0
        for part, size in zip(reversed(parts), reversed(dims), strict=True):
            router = router * size + int(part)
        return router

    def _fail(self, message: str, host: PlatformHost) -> NoReturn:
        raise InputError(message, source=self._source, place=host.place)
