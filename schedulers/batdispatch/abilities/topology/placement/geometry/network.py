"""What the searches know of a machine's network, whatever runs on it."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from batdispatch.abilities.topology.networks.base import Ints, Topology, topology_of
from batdispatch.core.errors import InputError
from batdispatch.core.machine.machine import Machine

#: Most routers (or hosts, where routes depend on them) of a machine on which searches are exhaustive.
SMALL = 64
#: Jobs whose links are remembered.
_REMEMBERED = 4096


class Network:
    """Cells, who is beside whom, and which links and routers sets of hosts use.

    A *cell* is a router with its hosts, since hosts of one router have the same routes. Where routes depend on the
    host (fat trees), each host is a cell of its own.

    Attributes:
        machine: the machine.
        topology: its network.
        cell_of: int64 [host], -1 for hosts that are not in the network.
        cells: number of cells.
        small: whether searches may be exhaustive.
        routers_between: for each pair of routers of which that was asked, the routers on the routes between them, both
            ways, as a mask.
    """

    def __init__(self, machine: Machine) -> None:
        """Read a machine.

        Raises:
            InputError: its topology is not known.
        """
        topology = topology_of(machine)
        if topology is None:
            raise InputError(
                "it needs the network that joins the hosts, and the platform states none: see the manual's "
                "page on topologies"
            )
        self.machine = machine
        self.topology: Topology = topology
        hosts = np.arange(len(machine.hosts), dtype=np.int64)
        by_router = self.topology.routes_follow_routers
        self.cell_of: Ints = self.topology.router_of if by_router else np.where(self.topology.router_of < 0, -1, hosts)
        self.cells = self.topology.routers if by_router else len(hosts)
        self.small = self.cells <= SMALL
        self.routers_between: dict[tuple[int, int], int] = {}
        self._used: dict[int, tuple[object, Ints, Ints]] = {}

    @cached_property
    def router_of_cell(self) -> Ints:
        """int64 [cell], -1 for the cell of a host that is not in the network."""
        return np.arange(self.cells) if self.topology.routes_follow_routers else self.topology.router_of

    @cached_property
    def _through_switches(self) -> list[Ints]:
        """The routers with hosts around each connected group of switches without hosts: [int64 [router], ...].

        Such switches hold no job, so they join whatever they are linked to, as in `networks.pieces`.
        """
        topology = self.topology
        empty = np.ones(topology.routers, dtype=np.bool_)
        empty[topology.router_of[topology.router_of >= 0]] = False
        if not empty.any():
            return []
        one, other = topology.link_ends.T
        inside = empty[one] & empty[other]
        shape = (topology.routers, topology.routers)
        graph = csr_array((np.ones(int(inside.sum()), dtype=np.int8), (one[inside], other[inside])), shape=shape)
        _, labels = connected_components(graph, directed=False)
        border = empty[one] & ~empty[other]
        return [np.unique(other[border & (labels[one] == label)]) for label in np.unique(labels[one[border]]).tolist()]

    @cached_property
    def always_joined(self) -> bool:
        """Whether any hosts are connected, because switches without hosts join all routers: in a fat tree they do."""
        inside = np.unique(self.topology.router_of[self.topology.router_of >= 0])
        return len(inside) < 2 or any(np.array_equal(around, inside) for around in self._through_switches)

    @cached_property
    def hosts_meet(self) -> bool:
        """Whether a link joins two routers with hosts. If none does, all routes between two lead through a switch."""
        inside = np.isin(self.topology.link_ends, self.topology.router_of[self.topology.router_of >= 0])
        return bool(inside.all(axis=1).any())

    @cached_property
    def beside(self) -> csr_array:
        """Which cells are joined by a link, or by switches without hosts: [cell, cell]; where not all of them are."""
        ends = self.topology.link_ends
        around = [np.array([(a, b) for a in one for b in one if a != b]) for one in self._through_switches]
        pairs = np.unique(np.concatenate([ends, *(one for one in around if len(one))]), axis=0)
        shape = (self.topology.routers, self.topology.routers)
        return csr_array((np.ones(len(pairs), dtype=np.int8), (pairs[:, 0], pairs[:, 1])), shape=shape)

    @cached_property
    def edges(self) -> tuple[Ints, Ints]:
        """Where each cell's neighbours begin, int64 [cell + 1], and all neighbours, int64 [pair]."""
        return self.beside.indptr.astype(np.int64), self.beside.indices.astype(np.int64)

    def near(self, host: int) -> NDArray[np.bool_]:
        """Return which cells are at most one link from a host, bool [cell]; none where the host is elsewhere."""
        router = int(self.topology.router_of[host])
        there = np.zeros(self.cells, dtype=np.bool_)
        if router >= 0:
            routers = np.append(self.topology.neighbours(router), router)
            there[np.isin(self.router_of_cell, routers)] = True
        return there

    @cached_property
    def near_io(self) -> NDArray[np.bool_]:
        """The cells that are at most one link from an I/O host, bool [cell]."""
        found = np.zeros(self.cells, dtype=np.bool_)
        for host in self.machine.storage:
            found |= self.near(host.id)
        return found

    @cached_property
    def example(self) -> Ints:
        """A host of each cell, int64 [cell]; -1 for cells without one."""
        found = np.full(self.cells, -1, dtype=np.int64)
        inside = (self.cell_of >= 0).nonzero()[0][::-1]
        found[self.cell_of[inside]] = inside
        return found

    @cached_property
    def pair_links(self) -> list[list[int]]:
        """The links on the routes between two cells, both ways, as masks: [cell][cell]. For small machines only."""
        table = [[0] * self.cells for _ in range(self.cells)]
        hosts = self.example.tolist()
        for a in range(self.cells):
            for b in range(a):
                if hosts[a] >= 0 and hosts[b] >= 0:
                    links = self.topology.links_within([hosts[a], hosts[b]]).nonzero()[0].tolist()
                    table[a][b] = table[b][a] = sum(1 << link for link in links)
        return table

    def used_by(self, hosts: object, ids: list[int]) -> tuple[Ints, Ints]:
        """Return the links and the routers that a job uses: int64 [link], int64 [router]; remembered.

        Args:
            hosts: the job's allocation, by whose identity the answer is remembered.
            ids: its hosts.
        """
        known = self._used.get(id(hosts))
        if known is not None and known[0] is hosts:
            return known[1], known[2]
        inside = np.array(ids, dtype=np.int64)
        inside = inside[self.topology.router_of[inside] >= 0]
        cells = np.unique(self.cell_of[inside])
        if len(cells) > 1:
            links = self.topology.links_within(inside).nonzero()[0]
            routers = np.unique(np.concatenate([self.topology.link_ends[links].ravel(), self.router_of_cell[cells]]))
        else:
            links, routers = np.zeros(0, dtype=np.int64), self.router_of_cell[cells]
        if len(self._used) >= _REMEMBERED:
            self._used.clear()
        self._used[id(hosts)] = (hosts, links, routers)
        return links, routers
