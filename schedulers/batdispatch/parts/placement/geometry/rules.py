"""What is asked of the hosts of a job, as one record, and whether some hosts keep it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from batdispatch.core.topology.base import Ints
from batdispatch.parts.placement.geometry.joined import is_joined
from batdispatch.parts.placement.geometry.moment import Asked, State


@dataclass(frozen=True, eq=False)
class Line:
    """Hosts must be a range of a line.

    Attributes:
        hosts: the line, int64 [position].
        wrap: whether a range may go on at its beginning.
    """

    hosts: Ints
    wrap: bool = False


@dataclass(frozen=True)
class Rules:
    """Rules of several shapes together.

    Attributes:
        lines: on each of which the hosts are a range.
        connected: whether the routers used are connected.
        convex: whether nobody else uses the links, or the routers, on routes between the hosts.
        local: whether a host is near each pinned I/O node.
        compact: whether hosts with a small gamma are preferred.
    """

    lines: tuple[Line, ...] = ()
    connected: bool = False
    convex: Literal["", "links", "routers"] = ""
    local: bool = False
    compact: bool = False

    @property
    def anywhere(self) -> bool:
        """Whether nothing is asked."""
        return not (self.lines or self.connected or self.convex or self.local or self.compact)

    @property
    def networked(self) -> bool:
        """Whether they are about the network."""
        return self.connected or bool(self.convex) or self.local or self.compact


def keeps(rules: Rules, asked: Asked, state: State, hosts: Ints) -> bool:
    """Return whether hosts keep the rules about the network, as these are defined. O(routes) for convexity.

    Args:
        rules: the rules; what is on a line is not looked at.
        asked: the job.
        state: what others use.
        hosts: different hosts, int64 [host].
    """
    network = asked.network
    cells = np.unique(network.cell_of[hosts])
    if cells[0] < 0 or not all(near[cells].any() for near in asked.near):
        return False
    if rules.connected and not is_joined(network, cells):
        return False
    if rules.convex == "links":
        return not (network.topology.links_within(hosts) & state.links).any()
    if rules.convex == "routers":
        within = network.topology.routers_within(hosts)
        own = np.zeros_like(within)
        own[network.router_of_cell[cells]] = True
        return not (within & (state.routers | ~own)).any()
    return True
