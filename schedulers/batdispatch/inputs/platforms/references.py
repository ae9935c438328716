"""Checks that routes name things that exist: hosts, routers, zones and links."""

from __future__ import annotations

from collections.abc import Mapping, Set

from lxml import etree

from batdispatch.inputs.platforms.document import Document, children, quote


class References:
    """What routes may name; filled while the zones are walked, asked when all of them are known."""

    def __init__(self, document: Document) -> None:
        """Start with nothing known."""
        self.document = document
        #: Links declared by name.
        self.links: set[str] = set()
        #: Links that SimGrid makes for clusters and cabinets have names that start so.
        self.link_prefixes: list[str] = []
        #: Element and the zone it stands in.
        self.routes: list[tuple[etree._Element, str]] = []

    def check(self, points: Mapping[str, str], zones: Set[str]) -> None:
        """Check every route collected.

        Args:
            points: host or router -> the zone it stands in.
            zones: every zone and cluster.

        Raises:
            InputError: a route names something that the platform does not have, or lists no link.
        """
        prefixes = tuple(self.link_prefixes)
        for route, zone in self.routes:
            if route.tag == "host_link":
                self._check_host(route, "id", points, zone)
                self._check_link(route, str(route.attrib["up"]), prefixes)
                self._check_link(route, str(route.attrib["down"]), prefixes)
                continue
            for end in ("src", "dst"):
                if "gw_src" in route.attrib:
                    self._check_zone(route, end, zones)
                    self._check_host(route, f"gw_{end}", points, None)
                else:
                    self._check_host(route, end, points, zone)
            listed = list(children(route, "link_ctn"))
            if not listed:
                ends = f"{quote(str(route.attrib['src']))} to {quote(str(route.attrib['dst']))}"
                self.document.fail(route, f"<{route.tag}> from {ends} lists no link")
            for link in listed:
                self._check_link(link, str(link.attrib["id"]), prefixes)

    def _check_host(self, route: etree._Element, end: str, points: Mapping[str, str], zone: str | None) -> None:
        name = str(route.attrib[end])
        home = points.get(name)
        if home is None:
            self.document.fail(
                route, f"<{route.tag}> has {end} {quote(name)}, which is no host or router of the platform"
            )
        if zone is not None and home != zone:
            self.document.fail(
                route,
                f"<{route.tag}> has {end} {quote(name)}, which stands in zone {quote(home)}, not in {quote(zone)}",
            )

    def _check_zone(self, route: etree._Element, end: str, zones: Set[str]) -> None:
        name = str(route.attrib[end])
        if name not in zones:
            self.document.fail(route, f"<{route.tag}> has {end} {quote(name)}, which is no zone or cluster")

    def _check_link(self, element: etree._Element, name: str, prefixes: tuple[str, ...]) -> None:
        stem, _, direction = name.rpartition("_")
        split = direction in ("UP", "DOWN") and stem in self.links
        if name not in self.links and not split and not name.startswith(prefixes):
            self.document.fail(element, f"<{element.tag}> names the link {quote(name)}, which is not declared")
