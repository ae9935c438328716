"""Proofs that no hosts of the idle machine can take a job, whatever the searches overlook."""

from __future__ import annotations

from batdispatch.abilities.topology.placement.geometry.cliques import CliqueSearch, any_two
from batdispatch.abilities.topology.placement.geometry.connected_sets import parts
from batdispatch.abilities.topology.placement.geometry.hits import can_hit
from batdispatch.abilities.topology.placement.geometry.moment import HostDemand, NetworkDemand
from batdispatch.abilities.topology.placement.geometry.ranges import ranges
from batdispatch.abilities.topology.placement.geometry.rules import HostLine


def has_range(line: HostLine, wanted: HostDemand) -> bool:
    """Return whether a line has a range that can take a job, whether or not the job uses all of its hosts' room."""
    room = wanted.room[line.hosts]
    found = ranges(room, wanted.units, wanted.least, wanted.most, wrap=line.wrap, longer=False)
    return any(True for _ in found)


def has_no_set(asked: NetworkDemand, *, connected: bool) -> bool:
    """Return whether it is proven that no cells near all I/O nodes of a job can take it."""
    usable = asked.weights > 0
    if not can_hit(asked.near, usable, asked.most):
        return True
    if connected and not parts(asked, usable)[1]:
        return True
    if not asked.network.small:
        return False
    search = CliqueSearch(asked, any_two(asked.network), connected=connected)
    return search.find() is None and not search.exhausted
