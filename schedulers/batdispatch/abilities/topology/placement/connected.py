"""Connected: routers that hang together."""

from __future__ import annotations

from dataclasses import replace

from batdispatch.abilities.topology.placement.geometry.rules import Rules
from batdispatch.abilities.topology.placement.geometry.shape import Shape
from batdispatch.core.machine.machine import Machine


class Connected(Shape):
    """Takes hosts whose routers are connected by links between them, or lets the job wait.

    Hosts of one router are connected, and switches without hosts connect what they are linked to: in a fat tree any
    hosts are connected. Of the connected parts of what is free, the smallest that suffices is taken, from one of its
    ends. Exact: None is returned only if there are no such hosts. (With `local` and several pinned I/O nodes it is
    exact on small machines, of at most 64 routers.)

    Typical use: on tori and meshes, where the nodes of a job should hang together and a range or a box is too strict.
    """

    complete = False

    def with_rules(self, rules: Rules, machine: Machine) -> Rules:
        return replace(rules, connected=True)
