"""Sets of routers that hold all routers on their own routes, where these need not be boxes: fat trees and dragonflies.

The routers on the routes between two of a set belong to the set, so a set grows by *closures*: it takes a router, the
routers on the routes to and from it, those on the routes between these, and so on. A router without a usable host, such
as a switch in the middle of a fat tree, cannot be taken, nor can what needs it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from batdispatch.abilities.topology.networks.base import Ints
from batdispatch.abilities.topology.placement.geometry.connected_sets import is_joined
from batdispatch.abilities.topology.placement.geometry.moment import NetworkDemand, NetworkUsage
from batdispatch.core.hosts import hostset
from batdispatch.core.hosts.hostset import mask_of_flags

#: Most closures that the exhaustive search of a small machine works out.
STEPS = 10_000
#: On other machines: how many of the nearest routers a set tries at least, and how many all sets try together. A set of
#: many routers tries twice as many as it needs.
_TRIES, _ALL_TRIES = 48, 1152


class ClosedSearch:
    """One search for the routers of a job, all of which it is to use.

    Attributes:
        exhausted: whether it does not see all sets, so that finding nothing proves nothing.
    """

    def __init__(self, asked: NetworkDemand, state: NetworkUsage, *, connected: bool) -> None:
        """Prepare.

        Args:
            asked: the job.
            state: what others use.
            connected: whether the routers must be connected.
        """
        #: Whether several routers can be used together at all.
        self._several = asked.network.hosts_meet
        self.exhausted = self._several and not asked.network.small
        self._steps = STEPS
        self._asked, self._network, self._connected = asked, asked.network, connected
        routers = asked.network.topology.router_of[asked.hosts]
        free = ~state.routers[routers]
        self._hosts, self._router_of = asked.hosts[free], routers[free]
        there, examples, places = np.unique(self._router_of, return_index=True, return_inverse=True)
        room = np.bincount(places.ravel(), weights=asked.room[self._hosts], minlength=len(there)).astype(np.int64)
        #: For each router that may be used, the units that its hosts can take, and one of its hosts.
        self._room = dict(zip(there.tolist(), room.tolist(), strict=True))
        self._example = dict(zip(there.tolist(), self._hosts[examples].tolist(), strict=True))
        self._usable = hostset.mask_of(self._room)
        cells = asked.network.cell_of[self._hosts]
        self._near = [hostset.mask_of(self._router_of[near[cells]].tolist()) for near in asked.near]

    def find(self) -> Iterator[tuple[Ints, int]]:
        """Yield hosts in orders of which the first ones, one on each router of a set, must be used, and their number.

        Single routers come first, those with the least room before the others. Time: at most `STEPS` closures on small
        machines, some hundred on others.
        """
        for router in sorted(self._room, key=lambda one: (self._room[one], one)):
            if self._is_enough(1 << router):
                yield self._order(1 << router)
        if not self._several:
            return
        for chosen in self._all() if self._network.small else self._grown():
            if chosen.bit_count() > 1 and self._is_enough(chosen):
                yield self._order(chosen)

    def _all(self) -> Iterator[int]:
        """Yield all closed sets, as masks of routers, as long as there are steps."""
        left_out = 0
        for router in self._room:
            yield from self._with(1 << router, left_out)
            left_out |= 1 << router

    def _with(self, chosen: int, left_out: int) -> Iterator[int]:
        """Yield the closed sets that hold all of a closed one, and no router that is left out."""
        if self._units(self._usable & ~left_out) < self._asked.units:
            return
        yield chosen
        for router in hostset.ids(self._usable & ~chosen & ~left_out):
            self._steps -= 1
            if self._steps < 0:
                self.exhausted = True
                return
            larger = self._closure(chosen, router)
            if larger and not larger & left_out:
                yield from self._with(larger, left_out)
            left_out |= 1 << router

    def _grown(self) -> Iterator[int]:
        """Yield closed sets that take, from some routers on, the nearest router that can be taken again and again."""
        routers = list(self._room)
        tries = max(2 * self._asked.units // max(self._room.values(), default=1), _TRIES)
        seeds = max(_ALL_TRIES // tries, 2)
        for seed in routers[:: max(len(routers) // seeds, 1)]:
            chosen = 1 << seed
            for router in self._nearest(seed, tries):
                chosen = self._closure(chosen, router) or chosen
                yield chosen

    def _nearest(self, seed: int, count: int) -> list[int]:
        routers = np.array([router for router in self._room if router != seed], dtype=np.int64)
        far = self._network.topology.router_distances(np.array(seed), routers)
        return [int(router) for router in routers[np.argsort(far, kind="stable")][:count]]

    def _closure(self, chosen: int, router: int) -> int:
        """Return the smallest closed set that holds a closed one and a router; 0: it may not be used, or is too large.

        The answer for any larger set would be 0 as well.
        """
        added = [router]
        chosen |= 1 << router
        for one in added:
            for other in hostset.ids(chosen):
                between = self._between(one, other) & ~chosen
                if between & ~self._usable:
                    return 0
                added += hostset.ids(between)
                chosen |= between
            if chosen.bit_count() > self._asked.most:
                return 0
        return chosen

    def _between(self, one: int, other: int) -> int:
        """Return the routers on the routes between two routers, both ways, as a mask; remembered for the machine."""
        pair = (one, other) if one < other else (other, one)
        known = self._network.routers_between.get(pair)
        if known is None:
            hosts = [self._example[one], self._example[other]]
            known = self._network.routers_between[pair] = mask_of_flags(self._network.topology.routers_within(hosts))
        return known

    def _units(self, routers: int) -> int:
        return sum(self._room[router] for router in hostset.ids(routers))

    def _is_enough(self, chosen: int) -> bool:
        """Return whether a closed set can take all units, is near all I/O nodes, and is connected if it has to be."""
        if self._units(chosen) < self._asked.units or not all(chosen & near for near in self._near):
            return False
        # Only where hosts of a router have the same routes, so that routers are cells, are there any not connected.
        return not self._connected or is_joined(self._network, np.array(hostset.ids(chosen), dtype=np.int64))

    def _order(self, chosen: int) -> tuple[Ints, int]:
        """Return the hosts of a set, the roomiest one of each router in front."""
        hosts = self._hosts[np.isin(self._router_of, hostset.ids(chosen))]
        hosts = hosts[np.argsort(-self._asked.room[hosts], kind="stable")]
        first = np.unique(self._network.topology.router_of[hosts], return_index=True)[1]
        return np.concatenate([hosts[first], np.delete(hosts, first)]), len(first)
