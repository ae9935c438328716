"""What a page knows of a machine's network: where its hosts stand on a map, and how they hang together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from batdispatch.abilities.explorer.streams import Whole, fold_signs, steps
from batdispatch.abilities.topology.networks import Topology, topology_of
from batdispatch.abilities.topology.results.map_layout import layout_of
from batdispatch.core.machine.machine import Machine


def network_of(machine: Machine) -> Topology | None:
    """Return the network of a machine if it has more than one router: there is nothing to see on a map of one."""
    topology = topology_of(machine)
    return topology if topology is not None and topology.routers > 1 else None


def network_facts(topology: Topology) -> dict[str, Any]:
    """Return the header of a network, of types that JSON has."""
    layout = layout_of(topology)
    return {
        "kind": topology.kind,
        "planes": list(layout.planes),
        "wide": layout.wide,
        "high": layout.high,
        "across": layout.across,
        "up": layout.up,
        "axes": layout.axes,
        "routers": topology.routers,
        "links": topology.links,
    }


def network_columns(topology: Topology) -> Iterable[tuple[str, Whole]]:
    """Yield the place on the map and the router of each host, and the routers at the ends of each cable.

    A plane or a router of 0 says that a host is not in the network; the first one is 1.
    """
    layout = layout_of(topology)
    yield "plane", fold_signs(steps(layout.plane + 1))
    yield "column", fold_signs(steps(layout.column))
    yield "row", fold_signs(steps(layout.row))
    yield "router", fold_signs(steps(topology.router_of + 1))
    cables = np.unique(np.sort(topology.link_ends, axis=1), axis=0)
    yield "one", steps(cables[:, 0])
    yield "other", fold_signs(steps(cables[:, 1]))
