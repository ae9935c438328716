"""Building blocks of generated platforms: SimGrid XML that is the same, byte for byte, for the same options."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from lxml import etree

from batdispatch.core.errors import InputError
from batdispatch.core.hosts.names import MAX_HOSTS
from batdispatch.core.machine.machine import CAPACITY_PROPERTY, parse_capacity
from batdispatch.inputs.platforms.roles import DEFAULT_MASTER, STORAGE_HOSTS_PROPERTY
from batdispatch.inputs.platforms.units import Kind, quantity

_DOCTYPE = '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'
_HEAD = "<?xml version='1.0'?>\n"


class Links(msgspec.Struct, frozen=True, kw_only=True):
    """Speed of a host's core and of the link that joins it to the rest.

    The defaults are nominal: what jobs do in a log is known in seconds, not in operations or bytes.
    """

    speed: str = "1Gf"
    bw: str = "1.25GBps"
    lat: str = "10us"

    def checked(self, source: str) -> Links:
        """Return itself.

        Raises:
            InputError: a value has no unit or form that SimGrid knows.
        """
        kinds: dict[str, Kind] = {"speed": "speed", "bw": "bandwidth", "lat": "time"}
        for name, kind in kinds.items():
            text = getattr(self, name)
            try:
                value = quantity(text, kind)
            except ValueError as problem:
                raise InputError(f"{text!r} {problem}", source=source, place=f"--{name}") from None
            if value == 0 and name != "lat":
                raise InputError(f"{text!r} must be positive", source=source, place=f"--{name}")
        return self

    def amounts(self) -> tuple[float, float]:
        """Return the bandwidth in bytes/s and the latency in seconds, of links that were `checked`."""
        return quantity(self.bw, "bandwidth"), quantity(self.lat, "time")


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Equal nodes with consecutive numbers.

    Attributes:
        zone: what the ids of their clusters start with.
        prefix: of their names; the number follows, padded with zeros to `width` digits.
        first: the first number.
        count: how many.
        width: digits of a number.
        capacity: what each offers, such as ``core=16 gpu=2``; None for whole hosts.
    """

    zone: str
    prefix: str
    first: int
    count: int
    width: int
    capacity: str | None = None


def checked_count(count: int, source: str, option: str) -> int:
    """Return `count`.

    Raises:
        InputError: it is not between 1 and the largest number of hosts that a platform may have.
    """
    if not 1 <= count <= MAX_HOSTS:
        raise InputError(f"{count} is not between 1 and {MAX_HOSTS}", source=source, place=option)
    return count


def checked_capacity(capacity: str | None, source: str) -> str | None:
    """Return `capacity`.

    Raises:
        InputError: it does not have the form ``core=16 gpu=2``.
    """
    if capacity is not None:
        try:
            parse_capacity(capacity, "any")
        except InputError as problem:
            raise InputError(str(problem), source=source, place="--capacity") from None
    return capacity


def star_platform(name: str, groups: Sequence[Group], links: Links, note: str) -> bytes:
    """Return a platform whose nodes hang on a switch that never limits them, with the master host beside it.

    A radical cannot pad with zeros, a prefix can: n00-n09 and n10-n63 are clusters with the prefixes ``n0`` and ``n``.
    (Cabinets of one zone would be shorter, but SimGrid 3.32 aborts on routes that leave such a zone by its router.)
    """
    root = etree.Element("platform", version="4.1")
    world = etree.SubElement(root, "zone", id=name, routing="Full")
    gateways = [gateway for group in groups for gateway in _clusters(world, group, links)]
    return render(root, world, gateways, links, note)


def first_number(hosts: int) -> int:
    """Return the power of ten from which on `hosts` numbers have equally many digits."""
    start = 1
    while 9 * start < hosts:
        start *= 10
    return start


def cluster_platform(
    name: str,
    topology: str,
    parameters: str,
    hosts: int,
    links: Links,
    note: str,
    *,
    properties: Sequence[tuple[str, str]] = (),
    storage_places: Sequence[int] = (),
) -> bytes:
    """Return a platform of one cluster with a topology, with the master host beside it.

    All hosts must be of one cluster, so no prefix can pad: the numbers start at the power of ten that gives all of them
    as many digits, and names sort as numbers do.

    Args:
        name: of the cluster.
        topology: SimGrid's word.
        parameters: its ``topo_parameters``.
        hosts: as many as the topology has places.
        links: speed of the hosts and of every link.
        note: comment at the head of the file.
        properties: of every host.
        storage_places: places (0..hosts-1) of the hosts with the role storage.
    """
    start = first_number(hosts)
    root = etree.Element("platform", version="4.1")
    world = etree.SubElement(root, "zone", id="world", routing="Full")
    cluster = etree.SubElement(
        world,
        "cluster",
        id=name,
        prefix="n",
        suffix="",
        radical=f"{start}-{start + hosts - 1}",
        speed=links.speed,
        bw=links.bw,
        lat=links.lat,
        topology=topology,
        topo_parameters=parameters,
    )
    for key, value in properties:
        etree.SubElement(cluster, "prop", id=key, value=value)
    storage = " ".join(f"n{start + place}" for place in storage_places)
    return render(root, world, [(name, f"n{start}")], links, note, storage=storage)


def render(
    root: etree._Element,
    world: etree._Element,
    gateways: Sequence[tuple[str, str]],
    links: Links,
    note: str,
    *,
    storage: str = "",
) -> bytes:
    """Add the master host and the routes between all zones, and return the file.

    Args:
        root: the platform.
        world: its outermost zone, which holds the zones of nodes.
        gateways: zone and the host or router that it is reached through.
        links: of the master host.
        note: comment at the head of the file, without ``--``.
        storage: names of the hosts with the role storage, separated by blanks.
    """
    control = etree.SubElement(world, "zone", id="control", routing="Full")
    master = etree.SubElement(control, "host", id=DEFAULT_MASTER, speed=links.speed)
    if storage:
        etree.SubElement(master, "prop", id=STORAGE_HOSTS_PROPERTY, value=storage)
    etree.SubElement(world, "link", id="between_zones", bandwidth=links.bw, latency="0s", sharing_policy="FATPIPE")
    ends = [*gateways, ("control", DEFAULT_MASTER)]
    for index, (source, source_gateway) in enumerate(ends):
        for target, target_gateway in ends[index + 1 :]:
            route = etree.SubElement(
                world, "zoneRoute", src=source, dst=target, gw_src=source_gateway, gw_dst=target_gateway
            )
            etree.SubElement(route, "link_ctn", id="between_zones")
    etree.indent(root)
    body = etree.tostring(root, encoding="unicode")
    return f"{_HEAD}{_DOCTYPE}\n<!-- {note} -->\n{body}\n".encode()


def _clusters(world: etree._Element, group: Group, links: Links) -> Iterator[tuple[str, str]]:
    """Add a cluster for each number of digits; yield each with its router."""
    last = group.first + group.count - 1
    for digits in range(1, group.width + 1):
        low = max(group.first, 0 if digits == 1 else 10 ** (digits - 1))
        high = min(last, 10**digits - 1)
        if low > high:
            continue
        name, router = f"{group.zone}_{digits}", f"{group.zone}_{digits}_router"
        cluster = etree.SubElement(
            world,
            "cluster",
            id=name,
            prefix=group.prefix + "0" * (group.width - digits),
            suffix="",
            radical=f"{low}-{high}",
            speed=links.speed,
            bw=links.bw,
            lat=links.lat,
            router_id=router,
        )
        if group.capacity is not None:
            etree.SubElement(cluster, "prop", id=CAPACITY_PROPERTY, value=group.capacity)
        yield name, router
