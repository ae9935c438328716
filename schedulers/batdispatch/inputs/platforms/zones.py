"""From the elements of a platform to its hosts, zones, links and the shapes of clusters, in the order of the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec
from lxml import etree

from batdispatch.core.hosts.names import MAX_HOSTS
from batdispatch.core.machine.machine import COORDINATES_PROPERTY
from batdispatch.inputs.platforms import schema
from batdispatch.inputs.platforms.document import Document, children, quote
from batdispatch.inputs.platforms.fields import read_names, read_quantities, read_quantity, read_whole
from batdispatch.inputs.platforms.references import References
from batdispatch.inputs.platforms.topology import (
    HOSTS_PER_ROUTER_PROPERTY,
    KINDS,
    TOPOLOGY_PROPERTY,
    ClusterShape,
    read_shape,
    stated_shape,
)
from batdispatch.inputs.platforms.units import Kind

#: A zone holds either zones or hosts.
_OF_INNER_ZONES = frozenset(
    {"AS", "zone", "cluster", "peer", "zoneRoute", "ASroute", "bypassZoneRoute", "bypassASroute"}
)
_OF_HOSTS = frozenset({"host", "cabinet", "router", "host_link", "route", "bypassRoute"})
_ROUTES = frozenset(tag for tag in _OF_INNER_ZONES | _OF_HOSTS if tag.lower().endswith("route")) | {"host_link"}

#: Longest name of a host or router, in characters.
_MAX_NAME = 1000
_CLUSTER_QUANTITIES: dict[str, Kind] = {
    "bw": "bandwidth",
    "lat": "time",
    "bb_bw": "bandwidth",
    "bb_lat": "time",
    "limiter_link": "bandwidth",
    "loopback_bw": "bandwidth",
    "loopback_lat": "time",
}


class PlatformHost(msgspec.Struct, kw_only=True):
    """One host as its platform describes it, whatever its role.

    Attributes:
        name: unique in the platform.
        place: the line of the element that makes it.
        zone: id of the zone or cluster it stands in.
        speeds: flop/s of one core in each pstate.
        pstate: the pstate it starts in.
        cores: number of cores.
        properties: its own; those of a ``cluster`` are its hosts' own.
        zone_properties: of the zone it stands in, as Batsim forwards them (not of the zones around that one).
        inherited: of all the zones around it, the nearest first; its own properties win over these.
        coordinates: computed from the topology, for instance ``0,3,1``.
        shape: position of the shape that it stands in among those of the layout; -1: in none.
        rank: position of the host among those of its cluster. Where a zone states the shape, the number of its router
            once `host_places.place_hosts` has read it, until then -1.
    """

    name: str
    place: str
    zone: str
    speeds: tuple[float, ...]
    pstate: int = 0
    cores: int = 1
    properties: Mapping[str, str] = {}
    zone_properties: Mapping[str, str] = {}
    inherited: Mapping[str, str] = {}
    coordinates: str | None = None
    shape: int = -1
    rank: int = -1

    @property
    def speed(self) -> float:
        """Flop/s of one core in the pstate it starts in."""
        return self.speeds[self.pstate]

    def merged(self) -> dict[str, str]:
        """Return every property that holds for the host: its own, then its zones', then computed coordinates."""
        computed = {} if self.coordinates is None else {COORDINATES_PROPERTY: self.coordinates}
        return {**computed, **self.inherited, **self.properties}


class _Zone(msgspec.Struct, frozen=True):
    """The zone that is being walked."""

    name: str = ""
    routing: str = ""
    own: Mapping[str, str] = {}
    #: Its own properties and, where it has none of a name, those of the zones around it.
    all: Mapping[str, str] = {}
    #: Position of the shape that it, or a zone around it, states; -1: none does.
    shape: int = -1


class Layout:
    """Everything a platform file declares, before roles and numbers are given out.

    Attributes:
        hosts: by name, in the order of the file.
        shapes: of each cluster, and of each zone that states one, in the order of the file.
        name: id of the outermost zone.
    """

    def __init__(self, document: Document) -> None:
        """Walk the document.

        Raises:
            InputError: with file and line, for whatever SimGrid would refuse in names, numbers and references.
        """
        self.document = document
        self.hosts: dict[str, PlatformHost] = {}
        self.shapes: list[ClusterShape] = []
        self._zones: set[str] = set()
        #: Host or router -> zone.
        self._points: dict[str, str] = {}
        self._references = References(document)
        roots = list(children(document.root, "zone", "AS", "cluster", "peer"))
        if not roots:
            document.fail(document.root, "<platform> holds no <zone> and no <cluster>")
        if len(roots) > 1:
            document.fail(roots[1], "a second outermost element; put everything into one <zone>")
        for config in children(document.root, "config"):
            document.properties(config)
        self.name = str(roots[0].attrib["id"])
        self._walk(roots[0], _Zone())
        self._references.check(self._points, self._zones)
        if not any(shape.stated for shape in self.shapes):
            return
        count = Counter(host.shape for host in self.hosts.values())
        self.shapes = [
            msgspec.structs.replace(shape, hosts=count[index]) if shape.stated else shape
            for index, shape in enumerate(self.shapes)
        ]

    def _walk(self, element: etree._Element, around: _Zone) -> None:
        """Read one element of a zone. The document's depth is bounded, so the recursion is too."""
        tag = element.tag
        if tag in ("zone", "AS"):
            self._zone(element, around)
        elif tag == "cluster":
            self._cluster(element, around)
        elif tag == "host":
            self._host(element, around)
        elif tag == "cabinet":
            self._cabinet(element, around)
        elif tag == "peer":
            for attribute in ("bw_in", "bw_out"):
                read_quantity(self.document, element, attribute, "bandwidth")
            self._make(element, [str(element.attrib["id"])], around)
        elif tag == "router":
            self._point(element, str(element.attrib["id"]), around.name)
        elif tag in ("link", "backbone"):
            self._link(element)
        elif tag in _ROUTES:
            self._references.routes.append((element, around.name))

    def _zone(self, element: etree._Element, around: _Zone) -> None:
        name = self._zone_name(element)
        routing = str(element.attrib["routing"])
        if routing.lower() not in schema.ROUTINGS:
            self.document.fail(
                element,
                f"zone {quote(name)} has routing {quote(routing)}, expected one of {', '.join(schema.ROUTINGS)}",
            )
        self._check_content(element, name)
        own = self.document.properties(element)
        if "role" in own:
            self.document.remark(element, "a zone's property role gives its hosts none: Batsim reads roles from hosts")
        stated = self._stated(element, name, own, around)
        zone = _Zone(name, routing.lower(), own, {**around.all, **own}, stated)
        for child in element:
            self._walk(child, zone)

    def _check_content(self, zone: etree._Element, name: str) -> None:
        inner: etree._Element | None = None
        leaf: etree._Element | None = None
        content = False
        for child in zone:
            if child.tag in _OF_INNER_ZONES:
                inner = child
            elif child.tag in _OF_HOSTS:
                leaf = child
            elif child.tag == "prop" and content:
                self.document.fail(child, f"the properties of zone {quote(name)} must stand before its content")
            content = content or child.tag != "prop"
            if inner is not None and leaf is not None:
                self.document.fail(
                    child, f"zone {quote(name)} holds <{inner.tag}> and <{leaf.tag}>; one of them needs its own zone"
                )

    def _host(self, element: etree._Element, zone: _Zone) -> None:
        for disk in children(element, "disk"):
            for attribute in ("read_bw", "write_bw"):
                read_quantity(self.document, disk, attribute, "bandwidth")
            self.document.properties(disk)
        self._make(element, [str(element.attrib["id"])], zone, properties=self.document.properties(element))

    def _cabinet(self, element: etree._Element, zone: _Zone) -> None:
        if zone.routing != "cluster":
            self.document.fail(element, "a <cabinet> makes hosts only in a zone with routing Cluster")
        read_quantity(self.document, element, "speed", "speed")
        read_quantity(self.document, element, "bw", "bandwidth")
        read_quantity(self.document, element, "lat", "time")
        self._make(element, read_names(self.document, element), zone)
        self._references.link_prefixes.append("link_" + str(element.attrib["prefix"]))

    def _cluster(self, element: etree._Element, around: _Zone) -> None:
        name = self._zone_name(element)
        for attribute, kind in _CLUSTER_QUANTITIES.items():
            if element.get(attribute):
                read_quantity(self.document, element, attribute, kind)
        own = self.document.properties(element)
        names = read_names(self.document, element)
        shape = self._shape(element, name, own, len(names))
        stated = self._stated(element, name, own, around)
        flat = shape.kind == "FLAT"
        if stated >= 0 and not flat:
            self.document.fail(
                element,
                f"cluster {quote(name)} has the topology {shape.kind}, and {quote(self.shapes[stated].cluster)} states "
                f"another one with the property {TOPOLOGY_PROPERTY}",
            )
        if TOPOLOGY_PROPERTY not in own:
            self.shapes.append(shape)
        # SimGrid gives a flat cluster's properties to its zone as well, but not those of the other topologies.
        zone = _Zone(name, "", own if flat else {}, around.all, stated)
        places = shape.coordinates() if shape.kind == "TORUS" else None
        inside = len(self.shapes) - 1 if stated < 0 else stated
        self._make(element, names, zone, properties=own, coordinates=places, shape=inside)
        if flat:
            router = f"{element.get('prefix')}{name}_router{element.get('suffix')}"
            self._point(element, element.get("router_id") or router, name)
        self._references.link_prefixes.append(f"{name}_")

    def _stated(self, element: etree._Element, name: str, own: Mapping[str, str], around: _Zone) -> int:
        """Return the position of the shape that a zone or a zone around it states, -1 for none."""
        try:
            shape = stated_shape(name, own, MAX_HOSTS)
        except ValueError as problem:
            self.document.fail(element, f"<{element.tag}> {quote(name)}: {problem}")
        if shape is None:
            return around.shape
        if around.shape >= 0:
            outer = self.shapes[around.shape].cluster
            self.document.fail(
                element,
                f"<{element.tag}> {quote(name)} has the property {TOPOLOGY_PROPERTY}, and stands in {quote(outer)}, "
                "which has it too; expected one of them",
            )
        self.shapes.append(shape)
        return len(self.shapes) - 1

    def _shape(self, element: etree._Element, name: str, own: Mapping[str, str], hosts: int) -> ClusterShape:
        kind = next(known for known in KINDS if known == element.get("topology", "FLAT"))
        parameters = str(element.get("topo_parameters", ""))
        shared = own.get(HOSTS_PER_ROUTER_PROPERTY, "1")
        if not (shared.isascii() and shared.isdigit() and len(shared) <= 6 and int(shared) >= 1):
            self.document.fail(
                element, f"cluster {quote(name)}: {HOSTS_PER_ROUTER_PROPERTY} {quote(shared)} is no whole number from 1"
            )
        try:
            policy = element.get("sharing_policy")
            return read_shape(name, kind, parameters, hosts, int(shared), shared=policy == "SHARED")
        except ValueError as problem:
            self.document.fail(element, f"cluster {quote(name)}: {kind} {quote(parameters)}: {problem}")

    def _link(self, element: etree._Element) -> None:
        name = str(element.attrib["id"])
        if name in self._references.links:
            self.document.fail(element, f"link {quote(name)} is declared twice")
        self._references.links.add(name)
        # Only a wireless link has several bandwidths, one a modulation.
        read = read_quantities if element.get("sharing_policy") == "WIFI" else read_quantity
        read(self.document, element, "bandwidth", "bandwidth")
        if element.get("latency"):
            read_quantity(self.document, element, "latency", "time")
        self.document.properties(element)

    def _zone_name(self, element: etree._Element) -> str:
        name = str(element.attrib["id"])
        if name in self._zones:
            self.document.fail(element, f"zone {quote(name)} is declared twice")
        self._zones.add(name)
        return name

    def _point(self, element: etree._Element, name: str, zone: str, place: str = "") -> None:
        """Enter the name of a host or router; `place` is that of the host of this name, if it is not yet made."""
        if not 0 < len(name) <= _MAX_NAME or not name.isprintable():
            self.document.fail(element, f"the name {quote(name)} must have 1 to {_MAX_NAME} characters, all printable")
        if name in self._points:
            place = place or (self.hosts[name].place if name in self.hosts else "")
            first = f", first in {place}" if place else " as a router"
            self.document.fail(element, f"<{element.tag}>: {quote(name)} is declared twice{first}")
        self._points[name] = zone

    def _make(
        self,
        element: etree._Element,
        names: list[str],
        zone: _Zone,
        *,
        properties: Mapping[str, str] | None = None,
        coordinates: list[str] | None = None,
        shape: int | None = None,
    ) -> None:
        """Make the hosts of one element, which share everything but their names, ranks and coordinates."""
        document = self.document
        speeds = read_quantities(document, element, "speed", "speed")
        pstate = read_whole(document, element, "pstate", "0", lowest=0)
        if pstate >= len(speeds):
            document.fail(element, f"host {quote(names[0])} starts in pstate {pstate} of {len(speeds)}")
        cores = read_whole(document, element, "core", "1", lowest=1)
        if len(self.hosts) + len(names) > MAX_HOSTS:
            document.fail(element, f"the platform has more than {MAX_HOSTS} hosts")
        place = document.place(element)
        self._points_of(element, names, zone.name)
        own, inside = properties or {}, zone.shape if shape is None else shape
        for index, name in enumerate(names):
            self.hosts[name] = PlatformHost(
                name=name,
                place=place,
                zone=zone.name,
                speeds=speeds,
                pstate=pstate,
                cores=cores,
                properties=own,
                zone_properties=zone.own,
                inherited=zone.all,
                coordinates=None if coordinates is None else coordinates[index],
                shape=inside,
                rank=-1 if zone.shape >= 0 else index,
            )

    def _points_of(self, element: etree._Element, names: Sequence[str], zone: str) -> None:
        """Enter the names of an element's hosts, all at once if nothing is wrong with any of them."""
        points = dict.fromkeys(names, zone)
        is_fine = len(points) == len(names) and self._points.keys().isdisjoint(points)
        if is_fine and "".join(names).isprintable() and all(names) and max(map(len, names)) <= _MAX_NAME:
            self._points |= points
            return
        place, seen = self.document.place(element), set[str]()
        for name in names:
            self._point(element, name, zone, place if name in seen else "")
            seen.add(name)
