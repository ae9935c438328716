"""Dragonflies with minimal routing."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from batdispatch.abilities.topology.networks.base import Ints, Kind, Topology, opposites


class Dragonfly(Topology):
    """Groups of chassis of routers [1], with SimGrid's minimal routing.

    Routers of a chassis are joined pairwise ("green" links), so are the routers of the same number in the chassis of a
    group ("black") and the groups ("blue"): group g is joined to group g' by router g' of its first chassis. Router
    (g, c, n) has the id (g C + c) R + n for C chassis in a group and R routers in a chassis. Parallel cables of a
    dragonfly are one link with more bandwidth in SimGrid.

    To another group g', a message goes to router g' of its chassis, to the same router in the first chassis, over the
    blue link to router g of the first chassis there, then to the target's number and to its chassis; steps that lead
    nowhere are left out. At most 5 links.

    Inside a group SimGrid takes the green link to the target's number in the sender's chassis, if the number differs,
    and goes on **as if it stood in the first chassis** (in all versions known). So from a chassis c other than the
    first, to another number: into the first chassis the black link is left out; back into chassis c itself the black
    link from the first chassis is used although the message is there already. Simulated messages use these links,
    and so does this class: `hops` are then not connected, and distances are not symmetric. A route takes O(1) time.

    References:
        [1] J. Kim, W. J. Dally, S. Scott, D. Abts. Technology-driven, highly-scalable dragonfly topology. ISCA 2008,
            pp. 77-88.
    """

    kind: Kind = "dragonfly"

    def __init__(self, router_of: ArrayLike, groups: int, chassis: int, routers: int, *, shared: bool = False) -> None:
        """Build the groups and put hosts on their routers. Time: O(links log links).

        Args:
            router_of: int64 [host], the id of a host's router, -1 for a host that is not in this network.
            groups: number of groups, at most `routers`.
            chassis: chassis in a group.
            routers: routers in a chassis.
            shared: whether the two directions of a cable share its bandwidth.

        Raises:
            ValueError: a number is less than 1, or there are more groups than routers in a chassis.
        """
        if min(groups, chassis, routers) < 1 or groups > routers:
            raise ValueError(
                f"a dragonfly needs numbers from 1 and at most as many groups as routers in a chassis, not {groups} "
                f"groups of {chassis} chassis of {routers} routers"
            )
        self.groups, self.chassis, self.routers_per_chassis = groups, chassis, routers
        group, row, number = (each.ravel() for each in np.indices((groups, chassis, routers)))
        green = self._pairs(np.arange(groups * chassis * routers), routers - 1)
        ends = [np.stack([green[0], green[0] // routers * routers + _skip(number[green[0]], green[1])], axis=1)]
        black = self._pairs(np.arange(groups * chassis * routers), chassis - 1)
        there = (group[black[0]] * chassis + _skip(row[black[0]], black[1])) * routers + number[black[0]]
        ends.append(np.stack([black[0], there], axis=1))
        blue = self._pairs(np.arange(groups), groups - 1)
        other = _skip(blue[0], blue[1])
        ends.append(np.stack([blue[0] * chassis * routers + other, other * chassis * routers + blue[0]], axis=1))
        #: The number of the first black link, and of the first blue one.
        self._black, self._blue = len(ends[0]), len(ends[0]) + len(ends[1])
        total = groups * chassis * routers
        joined = np.concatenate(ends).astype(np.int64)
        super().__init__(router_of, total, joined, opposites(joined, total), shared)

    def switches(self) -> list[Ints]:
        """Return which router, chassis and group each host is below, and the whole network."""
        inside = self.router_of >= 0
        sizes = (1, self.routers_per_chassis, self.chassis * self.routers_per_chassis)
        groups = [np.where(inside, self.router_of // size, -1) for size in sizes]
        return [*groups, np.zeros_like(self.router_of)]

    @staticmethod
    def _pairs(items: Ints, others: int) -> tuple[Ints, Ints]:
        """Return each item with each of the numbers from 0 to `others` - 1, as two arrays."""
        return np.repeat(items, others), np.tile(np.arange(others), len(items))

    def _green_link(self, group: Ints, chassis: Ints, start: Ints, end: Ints) -> Ints:
        router = (group * self.chassis + chassis) * self.routers_per_chassis + start
        return router * (self.routers_per_chassis - 1) + end - (end > start)

    def _black_link(self, group: Ints, start: Ints, end: Ints, number: Ints) -> Ints:
        router = (group * self.chassis + start) * self.routers_per_chassis + number
        return self._black + router * (self.chassis - 1) + end - (end > start)

    def _router_routes(self, sources: Ints, targets: Ints) -> Ints:
        """Return the links from routers to routers, elementwise: int64 [5, ...], -1 for a step that is left out."""
        size = self.chassis * self.routers_per_chassis
        group, there = sources // size, targets // size
        chassis, its_chassis = (each // self.routers_per_chassis % self.chassis for each in (sources, targets))
        number, its_number = sources % self.routers_per_chassis, targets % self.routers_per_chassis
        first = np.zeros_like(chassis)
        leaves = group != there
        steps = [
            np.where(leaves & (number != there), self._green_link(group, chassis, number, there), -1),
            np.where(leaves & (chassis != 0), self._black_link(group, chassis, first, there), -1),
            np.where(leaves, self._blue + group * (self.groups - 1) + there - (there > group), -1),
        ]
        chassis = np.where(leaves, first, chassis)
        number = np.where(leaves, group, number)
        moves = number != its_number
        steps.append(np.where(moves, self._green_link(there, chassis, number, its_number), -1))
        # As SimGrid does, whatever chassis the message stands in.
        chassis = np.where(moves, first, chassis)
        steps.append(np.where(chassis != its_chassis, self._black_link(there, chassis, its_chassis, its_number), -1))
        table = np.stack(steps)
        table[:, sources == targets] = -1
        return table

    def router_distances(self, sources: Ints, targets: Ints) -> Ints:
        """Return the number of links from routers to routers: 0 to 5, not symmetric inside a group."""
        pairs = np.broadcast_arrays(np.asarray(sources), np.asarray(targets))
        return np.asarray((self._router_routes(*pairs) >= 0).sum(axis=0), dtype=np.int64)

    def _routes(self, sources: Ints, targets: Ints) -> Ints:
        return self._router_routes(self.router_of[sources], self.router_of[targets])


def _skip(own: Ints, other: Ints) -> Ints:
    """Return the `other`-th number that is not `own`."""
    return other + (other >= own)
