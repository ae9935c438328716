"""Finds hosts for a job that keep the rules of several shapes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.topology.networks import Grid
from batdispatch.abilities.topology.networks.base import Ints
from batdispatch.abilities.topology.networks.measures import compactness
from batdispatch.abilities.topology.placement.geometry.boxes import Boxes, Sizes, Sums, find
from batdispatch.abilities.topology.placement.geometry.cliques import CliqueSearch, any_two, compatible
from batdispatch.abilities.topology.placement.geometry.closed_sets import ClosedSearch
from batdispatch.abilities.topology.placement.geometry.closest import ClosestSearch, balls
from batdispatch.abilities.topology.placement.geometry.connected_sets import connected_orders
from batdispatch.abilities.topology.placement.geometry.growth import grown
from batdispatch.abilities.topology.placement.geometry.hits import hits
from batdispatch.abilities.topology.placement.geometry.moment import (
    Ground,
    HostDemand,
    NetworkDemand,
    NetworkUsage,
    Traffic,
)
from batdispatch.abilities.topology.placement.geometry.network import Network
from batdispatch.abilities.topology.placement.geometry.proofs import has_no_set, has_range
from batdispatch.abilities.topology.placement.geometry.ranges import ranges
from batdispatch.abilities.topology.placement.geometry.rule_check import keeps
from batdispatch.abilities.topology.placement.geometry.rules import HostLine, Rules
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.scene import Scene
from batdispatch.core.machine.machine import Machine

#: Places that are compared where a compact one is preferred.
_COMPARED = 16
#: Ranges of a machine that is not small of which is checked whether they keep rules about the network.
_CHECKED = 256
#: Cells in an order in which they may be filled, and how many of the first ones must be used.
Order = tuple[Ints, int]


class ShapeSearch:
    """Searches on one machine.

    Nothing that is remembered changes an answer: an answer depends on the scene and the job alone.
    """

    def __init__(self, machine: Machine, rules: Rules) -> None:
        """Prepare for a machine.

        Raises:
            InputError: the rules are about the network, and the machine's topology is not known.
        """
        self._machine = machine
        self._ids = HostLine(np.arange(len(machine.hosts), dtype=np.int64))
        self._network = Network(machine) if rules.networked else None
        self._traffic = None if self._network is None else Traffic(self._network)
        grid = machine.topology
        self._sizes = Sizes(grid) if rules.networked and isinstance(grid, Grid) else None
        self._near: dict[str, NDArray[np.bool_]] = {}

    def find(self, scene: Scene, job: Job, rules: Rules) -> Allocation | None:
        """Return an allocation that keeps the rules, or None.

        Args:
            scene: what a placement is shown.
            job: the job, for all units of which there is room.
            rules: at most those that the search was made for.
        """
        need = scene.space.need(job)
        lines = (*rules.lines, self._ids) if job.request.contiguous else rules.lines
        if not rules.networked:
            return self._on_lines(lines, Rules(), HostDemand(need, self._room(scene, job)))
        assert self._network is not None
        if rules.connected and self._network.always_joined:
            rules = replace(rules, connected=False)
        near = [self._near_to(name) for name in job.request.io_nodes] if rules.local else []
        state = self._state(scene, rules)
        ground = self._ground(scene, job, state)
        # More units need more room, apart from strict convexity; where they have none, few of them are asked again.
        orderly = ground.plain and not (near or lines or rules.compact or rules.convex == "routers")
        if orderly and need.units >= ground.refused.get(rules, need.units + 1):
            return None
        asked = NetworkDemand(need, ground, near)
        if lines:
            return self._on_lines(lines, rules, asked, state)
        # All of a strictly convex set is used in any case.
        ordered = rules.connected and rules.convex != "routers"
        found = (asked.settle(*order, ordered=ordered) for order in self._orders(rules, asked, state))
        chosen = self._chosen(rules, (one for one in found if one is not None))
        if chosen is None:
            chosen = self._alone(rules, asked, state)
        if orderly and chosen is None and not self._network.small:
            ground.refused[rules] = need.units
        return chosen

    def proves_never(self, idle: Scene, job: Job, rules: Rules) -> bool:
        """Return whether it is proven that no hosts of the idle machine keep the rules; False: that is not known.

        Each proof holds whatever `find` may overlook: there is no range, no host near an I/O node, no connected part,
        no box or no set at all that could take the job.

        Args:
            idle: the machine with nobody on it.
            job: a job for which `find` finds nothing there.
            rules: as for `find`.
        """
        need, room = idle.space.need(job), self._room(idle, job)
        lines = (*rules.lines, self._ids) if job.request.contiguous else rules.lines
        if any(not has_range(line, HostDemand(need, room)) for line in lines):
            return True
        if not rules.networked:
            return self._on_lines(lines, rules, HostDemand(need, room)) is None
        assert self._network is not None
        assert self._traffic is not None
        state = self._traffic.by(())
        near = [self._near_to(name) for name in job.request.io_nodes] if rules.local else []
        asked = NetworkDemand(need, Ground(self._network, room, plain=False), near)
        connected = rules.connected and not self._network.always_joined
        if lines and self._network.small:
            return self._on_lines(lines, replace(rules, connected=connected), asked, state) is None
        if rules.convex == "routers" and self._sizes is not None:
            return not any(True for _ in self._regions(rules, asked, state))
        if rules.convex == "routers":
            closed = ClosedSearch(asked, state, connected=connected)
            return not any(True for _ in closed.find()) and not closed.exhausted
        return has_no_set(asked, connected=connected)

    def holds(self, scene: Scene, rules: Rules, allocation: Allocation) -> bool:
        """Return whether an allocation that kept the rules in another scene does so in this one."""
        if not rules.convex:
            # All else is about the hosts alone.
            return True
        assert self._network is not None
        links, routers = self._network.used_by(allocation, allocation.ids)
        state = self._state(scene, rules)
        strict = rules.convex == "routers"
        return not (state.links[links].any() or (strict and state.routers[routers].any()))

    # ------------------------------------------------------------------ what is there

    def _room(self, scene: Scene, job: Job) -> Ints:
        """Return how many units each host can take, at most as many as the job has, int64 [host]."""
        return np.minimum(scene.space.room(scene.free, job), job.request.units)

    def _ground(self, scene: Scene, job: Job, state: NetworkUsage) -> Ground:
        """Return what a job may use; jobs for any whole hosts share it."""
        assert self._network is not None
        network = self._network
        if self._machine.takes_any_hosts(job.request):
            return state.ground(scene.nodes, lambda: Ground(network, self._room(scene, job), plain=True))
        return Ground(network, self._room(scene, job), plain=False)

    def _near_to(self, name: str) -> NDArray[np.bool_]:
        known = self._near.get(name)
        if known is None:
            assert self._network is not None
            known = self._near[name] = self._network.near(self._machine.by_name[name])
        return known

    def _state(self, scene: Scene, rules: Rules) -> NetworkUsage:
        """Return what others use, as far as the rules need it."""
        assert self._traffic is not None
        return self._traffic.of(scene) if rules.convex else self._traffic.by(())

    # ------------------------------------------------------------------ lines

    def _on_lines(
        self, lines: tuple[HostLine, ...], rules: Rules, asked: HostDemand, state: NetworkUsage | None = None
    ) -> Allocation | None:
        """Return an allocation on a range of each line that keeps the rules, or None."""
        first, *others = lines
        more = bool(others) or rules.networked
        found = []
        checked = 0
        for start, length in ranges(
            asked.room[first.hosts], asked.units, asked.least, asked.most, wrap=first.wrap, longer=more
        ):
            hosts = first.hosts[(start + np.arange(length)) % len(first.hosts)]
            if not all(_in_range(line, hosts) for line in others):
                continue
            if rules.networked:
                assert isinstance(asked, NetworkDemand)
                assert state is not None
                if not all(near[asked.network.cell_of[hosts]].any() for near in asked.near):
                    continue
                checked += 1
                if checked > _CHECKED and not asked.network.small:
                    break
                if not keeps(rules, asked, state, hosts):
                    continue
            allocation = asked.settle(hosts, length)
            if allocation is None:
                continue
            if not rules.compact:
                return allocation
            found.append(allocation)
        return self._chosen(rules, iter(found))

    # ------------------------------------------------------------------ orders

    def _chosen(self, rules: Rules, found: Iterator[Allocation]) -> Allocation | None:
        """Return the first of some allocations, or the most compact of the first few."""
        if not rules.compact:
            return next(found, None)
        assert self._network is not None
        network = self._network
        compared = list(islice(found, _COMPARED if not network.small else None))
        return min(compared, key=lambda one: compactness(network.topology, one.ids), default=None)

    def _orders(self, rules: Rules, asked: NetworkDemand, state: NetworkUsage) -> Iterator[Order]:
        """Yield hosts in orders of which enough first ones keep the rules, with the number that must be used."""
        pairwise = not (asked.near or rules.connected or rules.convex == "routers")
        if rules.compact and asked.network.small and self._machine.exclusive and pairwise:
            yield from self._closest(rules, asked, state)
        if rules.convex:
            for cells in self._regions(rules, asked, state):
                if rules.convex == "routers":
                    hosts = asked.hosts_in(cells)
                    yield _leading(asked, hosts, len(cells))
                    if np.ptp(asked.room[hosts]):
                        yield _leading(asked, _roomiest_first(asked, hosts), len(cells))
                else:
                    yield from self._within(rules, asked, cells)
        elif rules.connected or rules.local:
            # Cells near I/O nodes come last: others will ask for them.
            yield from self._within(rules, asked, np.argsort(asked.network.near_io, kind="stable"))
        elif rules.compact:
            for hosts in balls(asked):
                yield hosts, 0
        else:
            yield asked.hosts, 0
        if rules.convex == "routers" and self._sizes is None:
            yield from ClosedSearch(asked, state, connected=rules.connected).find()
        if rules.convex == "links" and isinstance(asked.network.topology, Grid):
            for routers in grown(asked, state, connected=rules.connected):
                yield _leading(asked, asked.hosts_in(np.array(routers, dtype=np.int64)), len(routers))
        if asked.network.small and rules.convex != "routers" and (rules.convex or rules.connected):
            pairs = compatible(asked.network, state) if rules.convex else any_two(asked.network)
            cells_found = CliqueSearch(asked, pairs, connected=rules.connected).find()
            if cells_found is not None:
                yield _leading(asked, asked.hosts_in(np.array(cells_found, dtype=np.int64)), len(cells_found))

    def _closest(self, rules: Rules, asked: NetworkDemand, state: NetworkUsage) -> Iterator[Order]:
        pairs = compatible(asked.network, state) if rules.convex else any_two(asked.network)
        taken = ClosestSearch(asked, pairs).find()
        if taken is not None:
            hosts = [asked.hosts_in(np.array([cell]))[:number] for cell, number in taken.items()]
            yield np.concatenate(hosts), 0

    def _within(self, rules: Rules, asked: NetworkDemand, cells: Ints) -> Iterator[Order]:
        """Yield orders of hosts of some cells that keep the rules apart from convexity."""
        among = np.zeros(asked.network.cells, dtype=np.bool_)
        among[cells] = True
        if rules.connected:
            for order, first in connected_orders(asked, among):
                yield _leading(asked, asked.hosts_in(order), first)
        elif asked.near:
            chosen = hits(asked.near, among & (asked.weights > 0), asked.most)
            if chosen is not None:
                others = cells[~np.isin(cells, chosen)]
                yield _leading(asked, asked.hosts_in(np.concatenate([chosen, others])), len(chosen))
        else:
            yield asked.hosts_in(cells), 0

    def _alone(self, rules: Rules, asked: NetworkDemand, state: NetworkUsage) -> Allocation | None:
        """Return the lowest host that takes all units by itself, and so keeps rules about several hosts, or None."""
        hosts = asked.hosts[asked.room[asked.hosts] >= asked.units]
        if rules.convex == "routers":
            hosts = hosts[~state.routers[asked.network.topology.router_of[hosts]]]
        for near in asked.near:
            hosts = hosts[near[asked.network.cell_of[hosts]]]
        return asked.settle(hosts[:1], 1)

    # ------------------------------------------------------------------ regions

    def _regions(self, rules: Rules, asked: NetworkDemand, state: NetworkUsage) -> Iterator[Ints]:
        """Yield cells of which any may be used (`links`), or of which all must be (`routers`), to be convex."""
        strict = rules.convex == "routers"
        if self._sizes is None:
            yield from self._groups(rules, asked, state)
            return
        sizes = self._sizes
        if strict:
            usable = ~state.routers & (asked.weights > 0)
            boxes = asked.ground.once("boxes", lambda: Boxes(sizes, routers=usable))
        else:
            everyone = np.ones(sizes.routers, dtype=np.bool_)
            boxes = state.once("boxes", lambda: Boxes(sizes, links=~state.links, routers=everyone))
        sums = asked.ground.once("sums", lambda: Sums(sizes, asked.weights))
        for corner, size in find(boxes, sums, asked, strict=strict):
            yield sizes.cells(corner, size)

    def _groups(self, rules: Rules, asked: NetworkDemand, state: NetworkUsage) -> Iterator[Ints]:
        """Yield the cells with room below each switch, from the lowest level, where all of them together are convex."""
        network = asked.network
        for below in network.topology.switches():
            groups = below[asked.hosts]
            for group in np.unique(groups).tolist():
                hosts = asked.hosts[groups == group]
                cells = np.unique(network.cell_of[hosts])
                alone = Rules(convex=rules.convex)
                if rules.convex == "routers" and len(cells) > asked.most:
                    continue
                if asked.room[hosts].sum() >= asked.units and keeps(alone, asked, state, hosts):
                    yield cells


def _roomiest_first(asked: NetworkDemand, hosts: Ints) -> Ints:
    """Return hosts that stand cell by cell with the roomiest of each cell in front."""
    cells = asked.network.cell_of[hosts]
    number = np.concatenate(([False], cells[1:] != cells[:-1])).cumsum()
    return np.asarray(hosts[np.lexsort((-asked.room[hosts], number))])


def _in_range(line: HostLine, hosts: Ints) -> bool:
    """Return whether hosts are a range of a line."""
    position = np.full(int(line.hosts.max()) + 1, -1, dtype=np.int64)
    position[line.hosts] = np.arange(len(line.hosts))
    places = np.sort(position[hosts])
    gaps = np.diff(places) > 1
    if line.wrap and len(places) > 1:
        gaps = np.append(gaps, (places[0] - places[-1]) % len(line.hosts) > 1)
        return int(gaps.sum()) <= 1
    return not gaps.any()


def _leading(asked: NetworkDemand, hosts: Ints, first: int) -> Order:
    """Return hosts with one of each of the first cells in front, and the number of these.

    Args:
        asked: the job.
        hosts: cell by cell.
        first: number of cells.
    """
    cells = asked.network.cell_of[hosts]
    begins = np.concatenate(([True], cells[1:] != cells[:-1])).nonzero()[0][:first]
    return np.concatenate([hosts[begins], np.delete(hosts, begins)]), len(begins)
