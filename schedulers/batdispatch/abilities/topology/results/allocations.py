"""What each allocation of a run measures in the network; equal allocations are measured once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.topology.networks import Topology
from batdispatch.abilities.topology.networks.base import distinct_values
from batdispatch.abilities.topology.networks.measures import fewest_routers
from batdispatch.core.hosts.hostsets import Intervals, ranges
from batdispatch.core.machine.machine import Machine

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Hosts of allocations that are looked at together: enough for numpy, little enough for the memory.
BLOCK = 1 << 13


@dataclass(frozen=True)
class Allocations:
    """The different allocations of a run.

    Attributes:
        of_row: which allocation a row has, int64 [row]; -1 where it has none, or hosts that are not in the network.
        sets: the allocations.
    """

    of_row: Ints
    sets: Intervals

    def blocks(self, which: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
        """Yield (allocations, hosts, bounds) of some allocations in their order, some `BLOCK` hosts at a time."""
        sizes = self.sizes[which]
        block = np.cumsum(sizes) // BLOCK
        for part in np.split(which, np.flatnonzero(np.diff(block)) + 1):
            if len(part):
                hosts, bounds = hosts_of(self.sets, part)
                yield part, hosts, bounds

    @property
    def sizes(self) -> Ints:
        """Number of hosts of each, int64 [allocation]."""
        return self.sets.sizes


def distinct(hosts: Intervals, machine: Machine, topology: Topology) -> Allocations:
    """Return the different allocations among those of some rows."""
    bounds = hosts.bounds().tolist()
    both = np.stack([hosts.first, hosts.last], axis=1)
    known: dict[bytes, int] = {}
    of_row = np.full(hosts.rows, -1, dtype=np.int64)
    chosen: list[int] = []
    # Compute hosts within the network; an allocation with any other host is left out.
    inside = np.zeros(max(len(topology.router_of), int(hosts.last.max(initial=-1)) + 1) + 1, dtype=np.int64)
    inside[1 : len(topology.router_of) + 1] = np.cumsum((topology.router_of >= 0) & (machine.classes >= 0))
    inside[len(topology.router_of) + 1 :] = inside[len(topology.router_of)]
    whole = inside[hosts.last + 1] - inside[hosts.first] == hosts.length
    bad = np.zeros(hosts.rows, dtype=np.bool_)
    bad[hosts.row[~whole]] = True
    skip = bad.tolist()
    for row, (start, end) in enumerate(pairwise(bounds)):
        if start == end or skip[row]:
            continue
        found = known.setdefault(both[start:end].tobytes(), len(chosen))
        if found == len(chosen):
            chosen.append(row)
        of_row[row] = found
    return Allocations(of_row, hosts.of_rows(np.array(chosen, dtype=np.int64)))


def hosts_of(sets: Intervals, rows: Ints) -> tuple[Ints, Ints]:
    """Return the hosts of some rows one behind the other, int64 [slot], and each row's bounds, int64 [row + 1]."""
    hosts, row = sets.of_rows(rows).hosts()
    return hosts, np.searchsorted(row, np.arange(len(rows) + 1)).astype(np.int64)


@dataclass(frozen=True)
class AllocationMeasures:
    """What allocations measure.

    Attributes:
        compactness: gamma, float64 [allocation].
        locality: routers used / least possible, float64 [allocation].
        routers: routers used, int64 [allocation].
    """

    compactness: Floats
    locality: Floats
    routers: Ints


def measure(allocations: Allocations, machine: Machine, topology: Topology) -> AllocationMeasures:
    """Return what each allocation measures, by the formulas of `networks.measures`."""
    compute = np.flatnonzero((machine.classes >= 0) & (topology.router_of >= 0))
    fewest = fewest_routers(topology, compute)
    sizes = allocations.sizes
    total = np.zeros(len(sizes), dtype=np.int64)
    routers = np.zeros(len(sizes), dtype=np.int64)
    for which, hosts, bounds in allocations.blocks(np.arange(len(sizes))):
        total[which] = topology.sums_of_distances(hosts, bounds)
        owner = np.repeat(np.arange(len(which)), np.diff(bounds))
        used = distinct_values(owner * topology.routers + topology.routers_of(hosts))
        routers[which] = np.bincount(used // topology.routers, minlength=len(which))
    gamma = total / np.maximum(sizes * (sizes - 1), 1)
    return AllocationMeasures(gamma, routers / fewest[sizes], routers)


def proximities(allocations: Allocations, topology: Topology, io_hosts: Sequence[Sequence[int]]) -> Floats:
    """Return rho of each row, float64 [row]: NaN where its job asks for no I/O node, or for one outside of the network.

    Args:
        allocations: of the rows.
        topology: the network.
        io_hosts: the hosts of the I/O nodes that each row's job asks for.
    """
    rho = np.full(len(allocations.of_row), np.nan)
    outside = topology.router_of < 0
    asking = [
        row
        for row, asked in enumerate(io_hosts)
        if asked and allocations.of_row[row] >= 0 and not outside[list(asked)].any()
    ]
    # Rows of one allocation that ask for the same I/O nodes are measured once.
    keys = {row: (int(allocations.of_row[row]), tuple(io_hosts[row])) for row in asking}
    wanted = list(dict.fromkeys(keys.values()))
    which = np.array([allocation for allocation, _ in wanted], dtype=np.int64)
    found: dict[tuple[int, tuple[int, ...]], float] = {}
    begin = 0
    sizes = allocations.sizes
    for part, hosts, bounds in allocations.blocks(which):
        routers = topology.routers_of(hosts)
        asked = wanted[begin : begin + len(part)]
        begin += len(part)
        counts = np.array([len(nodes) for _, nodes in asked])
        # Each pair of an allocation and an I/O node that it asks for.
        pair = np.repeat(np.arange(len(part)), counts)
        node = topology.router_of[np.array([host for _, nodes in asked for host in nodes], dtype=np.int64)]
        length = np.diff(bounds)[pair]
        starts = np.cumsum(length) - length
        away = topology.router_distances(np.repeat(node, length), routers[ranges(bounds[pair], length)])
        both = np.minimum.reduceat(away, starts) + np.maximum.reduceat(away, starts)
        worst = np.maximum.reduceat(both, np.cumsum(counts) - counts)
        found |= dict(zip(asked, (worst / sizes[part]).tolist(), strict=True))
    for row, key in keys.items():
        rho[row] = found[key]
    return rho
