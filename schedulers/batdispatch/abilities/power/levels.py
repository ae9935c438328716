"""Levels of speed: the power states in which all hosts of a machine compute, from the usual ones to the slowest."""

from __future__ import annotations

from typing import NamedTuple

from batdispatch.abilities.power.machine.facet import powers_of
from batdispatch.core.hosts import hostset
from batdispatch.core.machine.machine import Machine


class Level(NamedTuple):
    """A power state to compute in for each host."""

    #: By host.
    states: tuple[int, ...]
    #: How many times as long as at the usual speed a job takes at most, at least 1.
    ratio: float


def levels_of(machine: Machine) -> list[Level]:
    """Return the levels of a machine, the usual one first, each slower than the one before.

    On level n each host is in its n-th state below the usual one or, where it has fewer, in its slowest.
    """
    slower = [power.slower for power in powers_of(machine)]
    compute = hostset.ids(machine.compute)
    found = []
    for level in range(max(len(slower[host]) for host in compute)):
        states = tuple(each[min(level, len(each) - 1)] for each in slower)
        found.append(Level(states, max(_ratio(machine, host, states[host]) for host in compute)))
    return found


def _ratio(machine: Machine, host: int, state: int) -> float:
    power = powers_of(machine)[host]
    return 1.0 if state == power.usual else power.states[power.usual].speed / power.states[state].speed
