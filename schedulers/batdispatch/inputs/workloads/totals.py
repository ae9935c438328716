"""What a log says of a job as a whole (so many cores, nodes, GPUs, so much memory), as what the job asks for."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import msgspec

from batdispatch.inputs.workloads.report import ImportReport


class Totals(msgspec.Struct, gc=False):
    """Sums over all nodes of a job; 0: unknown."""

    cores: int = 0
    #: Nodes used, or asked for where that is unknown.
    nodes: int = 0
    #: Least nodes asked for.
    least: int = 0
    #: MiB.
    memory: int = 0
    #: Further countable resources such as ``gpu``, by name.
    others: dict[str, int] = {}
    #: What exists once for the whole machine.
    licences: dict[str, int] = {}

    def add(self, other: Totals) -> None:
        """Add what another part of the same job takes. **This changes the sums.**"""
        self.cores += other.cores
        self.nodes += other.nodes
        self.least += other.least
        self.memory += other.memory
        self.others = _sums(self.others, other.others)
        self.licences = _sums(self.licences, other.licences)


def _sums(first: dict[str, int], second: dict[str, int]) -> dict[str, int]:
    names = sorted({*first, *second}) if second else first
    return {name: first.get(name, 0) + second.get(name, 0) for name in names}


class JobDemand(NamedTuple):
    """What a job asks for, in the terms of `LogJob`."""

    units: int
    demand: dict[str, int] | None
    #: Fields of the request beyond these.
    fields: dict[str, Any]


def demand_of(
    totals: Totals, units: Literal["hosts", "cores"], per_host: int, report: ImportReport, name: str
) -> JobDemand:
    """Return what a job asks for.

    In whole hosts: its nodes, or its cores over `per_host`. In cores: a unit is a core with its share of the memory,
    rounded up; other resources are asked for on each of its nodes, if they divide evenly over them or are fewer than
    the nodes. Otherwise a unit is one of these resources with its share of the cores.

    Args:
        totals: of the job.
        units: what is counted.
        per_host: cores of a host, where the nodes are unknown.
        report: what is remarkable is counted here.
        name: the job's id.
    """
    if units == "hosts":
        if totals.nodes:
            return JobDemand(totals.nodes, None, {})
        if not totals.cores:
            report.change("ran on an unknown number of processors: taken as 1", name)
        return JobDemand(-(-max(totals.cores, 1) // per_host), None, {})
    count = totals.cores or totals.nodes
    if not count:
        report.change("ran on an unknown number of processors: taken as 1", name)
        count = 1
    each = {"core": 1}
    fields: dict[str, Any] = {}
    # A job has at least a core on each node.
    nodes, least = min(totals.nodes, count), min(totals.least, count)
    if totals.others:
        nodes = nodes or least
        if nodes and all(amount % nodes == 0 for amount in totals.others.values()):
            fields["per_node"] = {resource: amount // nodes for resource, amount in totals.others.items()}
            fields["nodes"] = nodes
        elif nodes > (parts := min(count, math.gcd(*totals.others.values()))):
            # A unit with one of them would be larger than what any of its nodes gave to the job.
            fields["per_node"] = {resource: -(-amount // nodes) for resource, amount in totals.others.items()}
            fields["nodes"] = nodes
            report.change("with GPUs (or the like) on some of its nodes only: asked for on each of them", name)
        else:
            each = {"core": -(-count // parts)}
            each |= {resource: -(-amount // parts) for resource, amount in totals.others.items()}
            report.change("with GPUs (or the like) that do not divide evenly over its nodes: placed anywhere", name)
            count = parts
    elif least > 1:
        fields["nodes"] = least if nodes <= least else [least, nodes]
    if totals.memory:
        each["memory"] = -(-totals.memory // count)
    return JobDemand(count, each, fields)
