"""Whether some hosts keep the rules that are asked of them."""

from __future__ import annotations

import numpy as np

from batdispatch.abilities.topology.networks.base import Ints
from batdispatch.abilities.topology.placement.geometry.connected_sets import is_joined
from batdispatch.abilities.topology.placement.geometry.moment import NetworkDemand, NetworkUsage
from batdispatch.abilities.topology.placement.geometry.rules import Rules


def keeps(rules: Rules, asked: NetworkDemand, state: NetworkUsage, hosts: Ints) -> bool:
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
