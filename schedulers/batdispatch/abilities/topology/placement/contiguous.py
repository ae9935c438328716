"""Contiguous: one range of consecutive hosts."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from batdispatch.abilities.topology.networks import topology_of
from batdispatch.abilities.topology.networks.curves import Curve, line
from batdispatch.abilities.topology.placement.geometry.rules import HostLine, Rules
from batdispatch.abilities.topology.placement.geometry.shape import Shape, ShapeOptions
from batdispatch.core.errors import InputError
from batdispatch.core.hosts import hostset
from batdispatch.core.line.options import Options
from batdispatch.core.machine.machine import Machine


class ContiguousOptions(ShapeOptions, frozen=True, kw_only=True):
    """Options of the contiguous placement.

    order: Line the compute hosts up in this order. `ids`: by number. `row-major`, `snake` and `hilbert`: along such a
        curve through the routers of a torus or mesh, the hosts of one router by number.
    wrap: Let a range go on at the beginning of the order behind its end. `false`: a range ends with the order.
    """

    order: Curve = "ids"
    wrap: bool = False


class Contiguous(Shape):
    """Takes hosts that follow each other in an order of the compute hosts, or lets the job wait.

    On whole hosts: the lowest range of exactly the job's size. On shared nodes: the shortest range of nodes that
    all have room, the lowest of those. I/O hosts do not break a range. Exact: None is returned only if no such range
    exists.

    Typical use: where neighbours in the order are near each other on the network, or a machine allots only ranges.
    """

    options_type: ClassVar[type[Options]] = ContiguousOptions
    complete = False
    stable = True

    def with_rules(self, rules: Rules, machine: Machine) -> Rules:
        hosts = np.array(hostset.ids(machine.compute), dtype=np.int64)
        try:
            order = line(hosts, topology_of(machine), self.options.order)
        except ValueError as problem:
            raise InputError(f"placement contiguous: {problem}") from None
        return replace(rules, lines=(*rules.lines, HostLine(order, self.options.wrap)))
