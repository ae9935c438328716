"""Which space counts the capacity of a machine."""

from __future__ import annotations

from typing import Any

from batdispatch.core.capacity.licences import LicensedSpace
from batdispatch.core.capacity.space import HostSpace, NodeSpace, Space
from batdispatch.core.machine.machine import Machine


def space_of(machine: Machine) -> Space[Any]:
    """Return the exact space of a machine: of whole hosts or of nodes, with licences if it has any."""
    nodes: Space[Any] = HostSpace(machine) if machine.exclusive else NodeSpace(machine)
    return LicensedSpace(nodes) if machine.licences else nodes
