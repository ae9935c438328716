"""Local: next to the I/O nodes that the job asks for."""

from __future__ import annotations

from dataclasses import replace

from batdispatch.abilities.topology.placement.geometry.rules import Rules
from batdispatch.abilities.topology.placement.geometry.shape import Shape
from batdispatch.core.machine.machine import Machine


class Local(Shape):
    """Takes, for each I/O node that the job is pinned to, a host at most one link from it, or lets the job wait.

    The other hosts, and those of jobs that are pinned to no I/O node, are the lowest ones that are near no I/O node, as
    far as these suffice: hosts near I/O nodes are left to jobs that need them. Exact: None is returned only if there
    are no such hosts (given up after 20,000 steps for jobs that are pinned to very many I/O nodes).

    Typical use: where jobs read and write much data at the I/O nodes that they name.
    """

    complete = False

    def with_rules(self, rules: Rules, machine: Machine) -> Rules:
        return replace(rules, local=True)
