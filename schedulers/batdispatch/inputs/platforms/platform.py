"""A platform as read from a file: hosts with roles and numbers, and the machine that dispatchers see."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from batdispatch.batsim.numbering import Batsim, sort_key
from batdispatch.core.errors import InputError
from batdispatch.core.machine.facet import Facet
from batdispatch.core.machine.machine import SLEEP_PROPERTY, Host, Machine, capacity_text, parse_capacity
from batdispatch.core.machine.site import SITE_PROPERTY
from batdispatch.inputs.platforms.document import Document, quote
from batdispatch.inputs.platforms.host_places import network_of, place_hosts
from batdispatch.inputs.platforms.roles import DEFAULT_MASTER, ROLE_PROPERTY, Roles
from batdispatch.inputs.platforms.topology import ClusterShape
from batdispatch.inputs.platforms.zones import Layout, PlatformHost

F = TypeVar("F", bound=Facet)


class Platform:
    """A platform file with the roles and numbers of its hosts.

    Attributes:
        path: of the file, as given.
        name: id of the outermost zone.
        digest: SHA-256 of the file as it is on disk, hexadecimal.
        batsim: the version of Batsim whose numbering the ids follow.
        master: name of the host that carries Batsim and is no resource, or None: then all hosts are resources.
        hosts: the resources by id: compute hosts, then storage hosts. The master is not among them.
        machine: the same hosts as dispatchers see them.
        speeds: float64 [host], flop/s of one core in the pstate a host starts in.
        clusters: the shape of each cluster, and of each zone that states one, in the order of the file.
        remarks: what the reader noticed and left alone, for people.
    """

    def __init__(self, document: Document, layout: Layout, roles: Roles, batsim: Batsim) -> None:
        """Number the hosts and build the machine; use `read_platform`."""
        self.path = document.path
        self.name = layout.name
        self.digest = document.digest
        self.batsim: Batsim = batsim
        self.master = roles.master
        self.remarks = tuple(document.remarks)
        self.clusters: tuple[ClusterShape, ...] = tuple(layout.shapes)
        place_hosts(self.clusters, layout.hosts, roles, str(document.path))
        self._given = roles.given
        key = sort_key(batsim)
        names = sorted((name for name in layout.hosts if name != roles.master), key=key)
        stores = roles.storage()
        compute = [name for name in names if name not in stores]
        storage = [name for name in names if name in stores]
        self.hosts: tuple[PlatformHost, ...] = tuple(layout.hosts[name] for name in compute + storage)
        self.speeds: NDArray[np.float64] = np.array([host.speed for host in self.hosts], dtype=np.float64)
        for host in self.hosts[: len(compute)]:
            if host.speed <= 0 and str(host.pstate) not in _sleeping(host):
                self._fail(f"compute host {quote(host.name)} has speed 0, expected a positive one", host.place)
        if not compute:
            self._fail("the platform has no compute host", "")
        self.machine = self._machine(len(compute))

    def _fail(self, message: str, place: str) -> NoReturn:
        raise InputError(message, source=str(self.path), place=place)

    def _machine(self, compute: int) -> Machine:
        if sum(bool(shape.dims) for shape in self.clusters) > 1:
            # Coordinates of two tori would coincide; a host's own property may still tell them apart.
            for host in self.hosts:
                host.coordinates = None
        listed = []
        checked: set[str] = set()
        #: Equal properties are kept once: a dictionary for each of 100,000 hosts takes 6 MB and more.
        kept: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}
        #: What hosts have in common that one element makes, by what they say themselves and what they inherit.
        common: dict[tuple[int, int], dict[str, str]] = {}
        site_told = ""
        for number, host in enumerate(self.hosts):
            alike = (id(host.properties), id(host.inherited))
            if host.coordinates is None and alike in common:
                listed.append(_host(number, host, common[alike], compute))
                continue
            properties = host.merged()
            tells_site = SITE_PROPERTY in properties
            if tells_site and number < compute:
                # One host tells it for all: it is long, and every message that begins a simulation lists each host.
                if properties[SITE_PROPERTY] == site_told:
                    properties = {name: text for name, text in properties.items() if name != SITE_PROPERTY}
                else:
                    site_told = properties[SITE_PROPERTY]
            properties = kept.setdefault(tuple(properties.items()), properties)
            text = capacity_text(properties)
            if text is not None and text not in checked:
                checked.add(text)
                try:
                    parse_capacity(text, host.name)
                except InputError as problem:
                    self._fail(str(problem), host.place)
            if host.coordinates is None and not tells_site:
                common[alike] = properties
            listed.append(_host(number, host, properties, compute))
        try:
            return Machine(listed, network_of(self.clusters, self.hosts, compute))
        except InputError as problem:
            raise self._placed(problem) from None

    def _placed(self, problem: InputError) -> InputError:
        """Return what is wrong with a host, and where the host stands."""
        starts = str(problem).startswith
        named = next((host for host in self.hosts if starts((f"host {host.name} ", f"host {host.name}:"))), None)
        return InputError(str(problem), source=str(self.path), place="" if named is None else named.place)

    def facet(self, kind: type[F]) -> F:
        """Return a facet of the machine.

        Raises:
            InputError: a host does not state what is needed, or states it wrongly.
        """
        try:
            return kind.of(self.machine)
        except InputError as problem:
            raise self._placed(problem) from None

    @cached_property
    def by_name(self) -> Mapping[str, int]:
        """Host name -> id, of the resources."""
        return {host.name: number for number, host in enumerate(self.hosts)}

    def resources(self) -> list[dict[str, Any]]:
        """Return every resource as Batsim 4 lists it in SIMULATION_BEGINS, in order of id.

        The first `machine.size` entries are compute_resources, the others storage_resources. ``properties`` are the
        host's own, always with a role; ``zone_properties`` those of the zone it stands in. What this package adds,
        such as coordinates that follow from a topology, is not among them.
        """
        return [
            {
                "id": number,
                "name": host.name,
                "state": "idle",
                "properties": {**host.properties, ROLE_PROPERTY: self._role_text(host)},
                "zone_properties": dict(host.zone_properties),
            }
            for number, host in enumerate(self.hosts)
        ]

    def _role_text(self, host: PlatformHost) -> str:
        return self._given.get(host.name) or host.properties.get(ROLE_PROPERTY, "")

    def batsim_arguments(self) -> list[str]:
        """Return the arguments that make Batsim read this platform with the same master and roles."""
        arguments = ["-p", str(self.path)]
        for name, role in self._given.items():
            if role == "master":
                arguments += [] if name == DEFAULT_MASTER else ["-m", name]
            else:
                arguments += ["-r", f"{name}:{role}"] if self.batsim == 4 else ["-r", name, role]
        return arguments


def _host(number: int, host: PlatformHost, properties: dict[str, str], compute: int) -> Host:
    """Return a host as dispatchers see it, given its id, what holds for it, and how many hosts run jobs."""
    return Host(
        id=number,
        name=host.name,
        properties=properties,
        storage=number >= compute,
        speed=host.speed,
        speeds=host.speeds,
        cores=host.cores,
        pstate=host.pstate,
    )


def read_platform(
    path: str | Path,
    *,
    master: str | None = None,
    roles: Mapping[str, str] | None = None,
    batsim: Batsim = 4,
) -> Platform:
    """Read a SimGrid platform (XML, version 4 or 4.1; may be packed as .gz or .xz).

    Hosts come from ``host``, ``cluster`` (any topology), ``cabinet`` and ``peer`` elements in nested zones. A host's
    own property wins over its zones' properties of the same name. The property ``capacity`` says what a node offers
    (``core=16 gpu=2 memory=16384``, memory in MiB), ``coordinates`` where it stands; on a torus cluster coordinates
    follow from SimGrid's numbering, first dimension fastest. Where all compute hosts stand in one cluster, or in one
    zone that states its topology, `Machine.topology` is their network. 27,648 hosts take about a second.

    Args:
        path: of the file.
        master: name of the host that carries Batsim and is no resource (Batsim's ``-m``). Default: the host with the
            property ``role=master``, else ``master_host`` if there is one, else none: then every host is a resource.
        roles: further roles, host -> master, storage or compute_node (Batsim's ``-r host:role``).
        batsim: whose numbering of hosts, see `batdispatch.batsim.numbering`.

    Raises:
        InputError: with file and line, whatever is wrong.
    """
    document = Document(Path(path))
    layout = Layout(document)
    return Platform(document, layout, Roles(layout.hosts, str(path), master, roles or {}), batsim)


def _sleeping(host: PlatformHost) -> set[str]:
    """Return the numbers of the power states that a host sleeps in, where it may be written with speed 0."""
    stated = host.merged().get(SLEEP_PROPERTY, "")
    return {part.partition(":")[0].strip() for part in stated.split(",")}
