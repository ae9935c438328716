"""What the searches know of one scene: what a job may use, and which links and routers others use."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.topology.networks.base import Ints
from batdispatch.abilities.topology.placement.geometry.network import Network
from batdispatch.core.capacity.need import Need
from batdispatch.core.hosts.allocation import Allocation, Place
from batdispatch.core.hosts.hostset import mask_of_flags
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.scene import Scene

#: Scenes of which is remembered what was worked out: a decision looks at a few of them again and again.
_REMEMBERED = 8

T = TypeVar("T")


class Memory:
    """Remembers what was worked out for one state of affairs, by name."""

    def __init__(self) -> None:
        self._known: dict[Any, Any] = {}

    def once(self, name: Any, make: Callable[[], T]) -> T:
        """Return what `make` returned when the name was asked for first."""
        if name not in self._known:
            self._known[name] = make()
        found: T = self._known[name]
        return found


class Traffic:
    """Counts, for each link and router, the jobs that use it: those that a scene shows, as they come and go."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._links = np.zeros(network.topology.links, dtype=np.int32)
        self._routers = np.zeros(network.topology.routers, dtype=np.int32)
        #: By identity, which the allocations kept here preserve.
        self._shown: dict[int, Allocation] = {}
        self._states: OrderedDict[frozenset[int], NetworkUsage] = OrderedDict()
        #: Ledger, its present holders, and what they use.
        self._present: tuple[Ledger, tuple[int, int], NetworkUsage] | None = None

    def of(self, scene: Scene) -> NetworkUsage:
        """Return what the jobs of a scene use."""
        present, known = scene.present_holders, self._present
        if present is None:
            return self.by(scene.held)
        if known is None or known[0] is not scene.ledger or known[1] != present:
            known = self._present = (scene.ledger, present, self.by(scene.held))
        return known[2]

    def by(self, held: Iterable[tuple[Job, Place]]) -> NetworkUsage:
        """Return what jobs use."""
        now = {id(place.allocation): place.allocation for _, place in held}
        key = frozenset(now)
        known = self._states.get(key)
        if known is not None:
            self._states.move_to_end(key)
            return known
        gone = [one for name, one in self._shown.items() if name not in now]
        come = [one for name, one in now.items() if name not in self._shown]
        for jobs, sign in ((gone, -1), (come, 1)):
            for one in jobs:
                links, routers = self._network.used_by(one, one.ids)
                self._links[links] += sign
                self._routers[routers] += sign
        self._shown = now
        found = self._states[key] = NetworkUsage(now, self._links > 0, self._routers > 0)
        if len(self._states) > _REMEMBERED:
            self._states.popitem(last=False)
        return found


class NetworkUsage(Memory):
    """Which links and routers the jobs of a scene use.

    Attributes:
        links: bool [link].
        routers: bool [router], those on routes included.
    """

    def __init__(self, shown: object, links: NDArray[np.bool_], routers: NDArray[np.bool_]) -> None:
        super().__init__()
        self._shown = shown
        self.links = links
        self.routers = routers
        self._grounds: OrderedDict[int, Ground] = OrderedDict()

    @cached_property
    def link_mask(self) -> int:
        """The links as a mask."""
        return mask_of_flags(self.links)

    def ground(self, free: int, make: Callable[[], Ground]) -> Ground:
        """Return what was made for a mask of free hosts, or make it."""
        known = self._grounds.get(free)
        if known is None:
            known = self._grounds[free] = make()
            if len(self._grounds) > _REMEMBERED:
                self._grounds.popitem(last=False)
        return known


class Ground(Memory):
    """What jobs that ask alike, whatever their sizes, may use in a scene.

    Attributes:
        network: the network.
        room: int64 [host], units that each host can take.
        plain: whether jobs of any sizes may use it.
        refused: by rules: the least number of units for which nothing was found.
    """

    def __init__(self, network: Network, room: Ints, *, plain: bool) -> None:
        super().__init__()
        self.plain = plain
        self.network = network
        self.room = room
        self.refused: dict[object, int] = {}

    @cached_property
    def hosts(self) -> Ints:
        """The hosts of the network that can take a unit, ascending, int64 [host]."""
        return np.asarray(((self.room > 0) & (self.network.cell_of >= 0)).nonzero()[0])

    @cached_property
    def weights(self) -> Ints:
        """Units that the hosts of each cell can take, int64 [cell]."""
        cells = self.network.cell_of[self.hosts]
        return np.bincount(cells, weights=self.room[self.hosts], minlength=self.network.cells).astype(np.int64)


class HostDemand:
    """What a job asks for.

    Attributes:
        units: number of units.
        least: fewest hosts used.
        most: most hosts used.
        room: int64 [host], units that each host can take.
    """

    def __init__(self, need: Need, room: Ints) -> None:
        self.units = need.units
        self.least = need.least
        self.most = min(need.most, need.units)
        self.room = room
        self._each = need.each

    def settle(self, hosts: Ints, first: int, *, ordered: bool = True) -> Allocation | None:
        """Put the units on the first of the hosts that suffice, at least one on each of these; None: they do not.

        Args:
            hosts: in the order in which they are filled, all with room.
            first: how many of the first ones must be used.
            ordered: whether later ones may be used only if all before them are.
        """
        taken = self.room[hosts].cumsum()
        if not len(taken) or taken[-1] < self.units:
            return None
        count = max(int(taken.searchsorted(self.units)) + 1, first, self.least)
        if count > len(hosts):
            return None
        if count > self.most:
            if ordered or first > self.most:
                return None
            # The roomiest suffice, beside those that must be used, or none do.
            order = np.argsort(-self.room[hosts[first:]], kind="stable")[: self.most - first] + first
            hosts, count = hosts[np.concatenate([np.arange(first), np.sort(order)])], self.most
            if self.room[hosts].sum() < self.units:
                return None
        used = hosts[:count]
        counts = self.room[used].copy() if self._each else np.ones(count, dtype=np.int64)
        left = self.units - int(counts.sum())
        if left > 0:
            more = self.room[used] - 1
            before = np.concatenate(([0], more.cumsum()[:-1]))
            counts += np.clip(left - before, 0, more)
        return Allocation.of(used.tolist(), counts.tolist())


class NetworkDemand(HostDemand):
    """What a job asks for, in cells of a network.

    Attributes:
        network: the network.
        ground: what it may use.
        hosts: the hosts that can take a unit, ascending, int64 [host].
        weights: units that the hosts of each cell can take, int64 [cell].
        near: for each pinned I/O node, bool [cell], the cells of which the job must use one.
    """

    def __init__(self, need: Need, ground: Ground, near: Sequence[NDArray[np.bool_]]) -> None:
        super().__init__(need, ground.room)
        self.network = ground.network
        self.ground = ground
        self.hosts = ground.hosts
        self.weights = ground.weights
        self.near = near

    def hosts_in(self, cells: Ints) -> Ints:
        """Return the hosts of some cells that can take a unit, in the order of the cells, then of ids."""
        order = np.full(self.network.cells, -1, dtype=np.int64)
        order[cells] = np.arange(len(cells))
        place = order[self.network.cell_of[self.hosts]]
        found = self.hosts[place >= 0]
        return np.asarray(found[np.argsort(place[place >= 0], kind="stable")])
