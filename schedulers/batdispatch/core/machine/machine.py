"""The machine: nodes x resources capacities, node classes, coordinates and I/O nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from batdispatch.core.errors import InputError
from batdispatch.core.hosts import hostset
from batdispatch.core.jobs.request import Request
from batdispatch.core.machine.site import site_of

if TYPE_CHECKING:
    from batdispatch.core.machine.network import Network

#: Host property that states what a node offers, such as ``core=16 gpu=2 memory=16384``.
CAPACITY_PROPERTY = "capacity"
#: Host property with a node's place in the topology, such as ``0,3,1``.
COORDINATES_PROPERTY = "coordinates"
#: Host or zone property with what exists once for the whole machine, such as ``matlab=10``; equal wherever it is
#: stated.
LICENCES_PROPERTY = "licences"
#: Batsim's: the power states that a host sleeps in, where its speed may be 0.
SLEEP_PROPERTY = "sleep_pstates"
#: Says how gladly a host is left alone: Slurm's ``Weight``, a whole number.
WEIGHT_PROPERTY = "weight"
#: What a cap on power leaves to jobs, in mW, among the licences; no platform can state it, as it has a space.
POWER = "mW of power"
#: Largest machine-wide amount of a resource, so that sums stay exact in 64 bits.
MAX_TOTAL = 2**62
#: The only resource of a machine whose hosts state no capacity.
WHOLE_HOST = "host"


class Host(msgspec.Struct, frozen=True, kw_only=True):
    """One host of a platform, numbered as Batsim numbers it."""

    id: int
    name: str
    #: Properties of the host; a property of its zone holds where the host has none of that name.
    properties: Mapping[str, str] = {}
    #: An I/O or storage node: it runs no job.
    storage: bool = False
    #: Flop/s; 0 when unknown (a scheduler on Batsim 4 is not told).
    speed: float = 0.0
    #: Flop/s of one core in each power state; empty when unknown.
    speeds: tuple[float, ...] = ()
    cores: int = 1
    #: The power state that it begins in.
    pstate: int = 0


def parse_capacity(text: str, host: str, what: str = CAPACITY_PROPERTY) -> dict[str, int]:
    """Read a capacity or licences property, ``core=16 gpu=2``: names with non-negative whole amounts.

    Raises:
        InputError: the text does not have that form.
    """
    amounts: dict[str, int] = {}
    for part in text.replace(",", " ").split():
        name, equals, amount = part.partition("=")
        if not equals or not name or name in amounts or not (amount.isascii() and amount.isdigit()) or len(amount) > 18:
            raise InputError(
                f"host {host}: {what} {text!r}: {part!r} is not name=amount with a whole amount, each name once"
            )
        amounts[name] = int(amount)
    if not any(amounts.values()):
        raise InputError(f"host {host}: its {what} {text!r} is empty, expected for instance 'core=16 gpu=2'")
    return amounts


def capacity_text(properties: Mapping[str, str]) -> str | None:
    """Return what a host's properties say that a node offers; None: nothing, or it is another program's ``500GB``."""
    text = properties.get(CAPACITY_PROPERTY)
    return text if text is not None and ("=" in text or not text.strip()) else None


class Machine:
    """What jobs can be placed on. Axis 0 of every array is the host id, so storage hosts have rows of zeros.

    Attributes:
        hosts: every host, by id.
        resources: names of the resource axis.
        capacity: int64 [host, resource].
        exclusive: True when no host states a capacity: a unit is then a whole host.
        compute: mask of the hosts that run jobs.
        classes: int64 [host], equal for hosts of equal capacity; -1 for storage hosts.
        class_capacity: int64 [class, resource].
        coordinates: int64 [host, dimension], or None when not every compute host states them.
        topology: the network that joins the hosts, or None when it is not known.
        storage: the I/O and storage hosts, in order of id.
        facets: what abilities have read from the hosts' properties, see `core.machine.facet`.
    """

    def __init__(self, hosts: Sequence[Host], topology: Network | None = None) -> None:
        """Number of hosts and their capacities are taken from `hosts`, whose ids must be 0..n-1.

        Raises:
            InputError: ids have holes, there is no compute host, or a property is malformed.
        """
        self.hosts = tuple(sorted(hosts, key=lambda host: host.id))
        if [host.id for host in self.hosts] != list(range(len(self.hosts))):
            raise InputError("host ids must be 0, 1, 2, ... without holes or repetitions")
        compute = [host for host in self.hosts if not host.storage]
        if not compute:
            raise InputError("the machine has no compute host")
        self.compute = hostset.mask_of(host.id for host in compute)
        self.storage = tuple(host for host in self.hosts if host.storage)
        # Hosts that one element of a platform makes share what they say: it is looked at once.
        told = list({id(host.properties): host.properties for host in self.hosts}.values())
        stated: dict[int, dict[str, int]] = {}
        if any(capacity_text(each) is not None for each in told):
            stated = {
                host.id: parse_capacity(text, host.name)
                for host in compute
                if (text := capacity_text(host.properties)) is not None
            }
        self.exclusive = not stated
        if not self.exclusive and len(stated) != len(compute):
            missing = next(host.name for host in compute if host.id not in stated)
            raise InputError(f"host {missing} states no capacity while others do")
        self._read_capacities(np.array([host.id for host in compute]), list(stated.values()))
        #: (name, amount) of what exists once for the whole machine, sorted by name.
        self.licences = self._read_licences()
        #: Host name -> id.
        self.by_name: Mapping[str, int] = {host.name: host.id for host in self.hosts}
        #: Partitions and the like; None: the hosts tell of none.
        self.site = site_of(self.hosts, self.compute, self.exclusive)
        stands = any(COORDINATES_PROPERTY in each for each in told)
        self.coordinates = self._read_coordinates(compute) if stands else None
        if topology is not None and len(topology.router_of) != len(self.hosts):
            raise InputError(f"the topology is of {len(topology.router_of)} hosts, the machine has {len(self.hosts)}")
        self.topology = topology
        self.facets: dict[type, Any] = {}

    def _read_capacities(self, compute: NDArray[np.int64], stated: Sequence[Mapping[str, int]]) -> None:
        """Set what the hosts offer, given the ids of those that run jobs and what each states; nothing: whole hosts."""
        self.resources = tuple(dict.fromkeys(name for amounts in stated for name in amounts)) or (WHOLE_HOST,)
        rows = np.array([[amounts.get(name, 0) for name in self.resources] for amounts in stated], dtype=np.int64)
        if self.exclusive:
            rows = np.ones((len(compute), 1), dtype=np.int64)
        for name, total in zip(self.resources, rows.sum(axis=0, dtype=float), strict=True):
            if total > MAX_TOTAL:
                raise InputError(f"the hosts have {total:g} {name} in all, more than {MAX_TOTAL} cannot be counted")
        self.capacity: NDArray[np.int64] = np.zeros((len(self.hosts), len(self.resources)), dtype=np.int64)
        self.capacity[compute] = rows
        self.classes: NDArray[np.int64] = np.full(len(self.hosts), -1, dtype=np.int64)
        self.class_capacity, self.classes[compute] = rows[:1], 0
        if not self.exclusive:
            self.class_capacity, classes = np.unique(rows, axis=0, return_inverse=True)
            self.classes[compute] = classes.ravel()

    def _read_licences(self) -> tuple[tuple[str, int], ...]:
        stated = {host.properties[LICENCES_PROPERTY] for host in self.hosts if LICENCES_PROPERTY in host.properties}
        if not stated:
            return ()
        if len(stated) > 1:
            raise InputError(f"hosts state different licences: {' and '.join(sorted(map(repr, stated)))}")
        host = next(host.name for host in self.hosts if LICENCES_PROPERTY in host.properties)
        return tuple(sorted(parse_capacity(stated.pop(), host, LICENCES_PROPERTY).items()))

    def _read_coordinates(self, compute: Sequence[Host]) -> NDArray[np.int64] | None:
        rows: dict[int, list[int]] = {}
        for host in self.hosts:
            text = host.properties.get(COORDINATES_PROPERTY)
            if text is None:
                continue
            parts = [part.strip() for part in text.split(",")]
            if not all(part.isascii() and part.isdigit() and len(part) <= 9 for part in parts):
                raise InputError(f"host {host.name}: coordinates {text[:80]!r} are not whole numbers such as 0,3,1")
            rows[host.id] = [int(part) for part in parts]
        if not rows or any(host.id not in rows for host in compute):
            return None
        dimensions = {len(row) for row in rows.values()}
        if len(dimensions) != 1:
            raise InputError(f"hosts state coordinates of different dimensions: {sorted(dimensions)}")
        table = np.full((len(self.hosts), dimensions.pop()), -1, dtype=np.int64)
        for host_id, row in rows.items():
            table[host_id] = row
        return table

    @classmethod
    def flat(cls, count: int, capacity: str | None = None) -> Machine:
        """Return a machine of `count` equal hosts, each with the capacity property `capacity` if given."""
        properties = {} if capacity is None else {CAPACITY_PROPERTY: capacity}
        width = len(str(max(count - 1, 0)))
        return cls([Host(id=i, name=f"n{i:0{width}d}", properties=properties) for i in range(count)])

    @property
    def size(self) -> int:
        """Number of compute hosts."""
        return self.compute.bit_count()

    def total(self) -> NDArray[np.int64]:
        """Return the machine-wide capacity, int64 [resource]."""
        return np.asarray(self.capacity.sum(axis=0), dtype=np.int64)

    @property
    def shared(self) -> dict[str, int]:
        """Machine-wide capacity of each resource that jobs share; empty where they take whole hosts."""
        return {} if self.exclusive else dict(zip(self.resources, self.total().tolist(), strict=True))

    @property
    def plain(self) -> bool:
        """Whether jobs take whole hosts, any ones, and nothing beside: there are no queues and no licences."""
        return self.exclusive and self.site is None and not self.licences

    def label(self, host: int) -> str:
        """Return a host in words, for messages."""
        return f"host {host} ({self.hosts[host].name})"

    def units_are_hosts(self, request: Request) -> bool:
        """Return whether each unit of a request is a whole host."""
        return self.exclusive or request.units_are_nodes

    def takes_any_hosts(self, request: Request) -> bool:
        """Return whether any hosts will do for a request, if there are enough."""
        return self.exclusive and request.plain

    def takes_hosts(self, request: Request) -> bool:
        """Return whether no other job may use the hosts of a request."""
        return self.exclusive or request.whole
