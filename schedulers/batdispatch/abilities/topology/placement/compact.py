"""Compact: hosts close to each other."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from batdispatch.abilities.topology.placement.geometry.rules import Rules
from batdispatch.abilities.topology.placement.geometry.shape import Shape
from batdispatch.core.line.options import Options
from batdispatch.core.machine.machine import Machine


class Compact(Shape):
    """Takes hosts with a small gamma, the mean distance over all pairs of hosts of the job.

    Alone, it always finds a place if there is room. On small machines of whole hosts (at most 64 routers) the least
    gamma is found, unless the search has to stop after 50,000 steps. Elsewhere it is the best of balls around 24 free
    hosts, improved by balls around the middle of the best one. Together with other shapes, the most compact of the
    places found is taken.

    Typical use: where jobs exchange messages and should neither wait for a shape nor be spread over the network.
    """

    options_type: ClassVar[type[Options]] = Options
    complete = True

    @property
    def fallback(self) -> None:
        return None

    def with_rules(self, rules: Rules, machine: Machine) -> Rules:
        return replace(rules, compact=True)
