"""What there is to say about a platform, as data and as text."""

from __future__ import annotations

from typing import Any

import numpy as np

from batdispatch.core.hosts import hostset
from batdispatch.core.line import registry
from batdispatch.core.machine import facet
from batdispatch.core.machine.facet import Facet
from batdispatch.core.machine.network import Network
from batdispatch.inputs.platforms.platform import Platform


def summarise(platform: Platform) -> dict[str, Any]:
    """Return the facts about a platform as JSON-ready data.

    ``classes`` are the compute hosts of equal capacity, with their ids in Batsim's notation; ``total`` is the
    machine-wide capacity of each resource; ``network`` is the topology that dispatchers see, or None. Each facet that
    packages announce is there by name, or None if no host states anything of it.
    """
    machine = platform.machine
    classes = []
    for number, capacity in enumerate(machine.class_capacity):
        ids = np.flatnonzero(machine.classes == number)
        classes.append(
            {
                "hosts": len(ids),
                "ids": hostset.to_text(hostset.mask_of(ids.tolist())),
                "first": machine.hosts[ids[0]].name,
                "last": machine.hosts[ids[-1]].name,
                "capacity": dict(zip(machine.resources, capacity.tolist(), strict=True)),
                "speeds": sorted({platform.hosts[i].speed for i in ids.tolist()}),
                "cores": sorted({platform.hosts[i].cores for i in ids.tolist()}),
            }
        )
    return {
        "path": str(platform.path),
        "name": platform.name,
        "sha256": platform.digest,
        "batsim": platform.batsim,
        "master": platform.master,
        "hosts": len(platform.hosts),
        "compute_hosts": machine.size,
        "storage_hosts": [host.name for host in machine.storage],
        "whole_hosts": machine.exclusive,
        "total": dict(zip(machine.resources, machine.total().tolist(), strict=True)),
        "classes": classes,
        "topologies": [
            {
                "cluster": topology.cluster,
                "kind": topology.kind,
                "hosts": topology.hosts,
                "dims": list(topology.dims),
                "hosts_per_router": topology.hosts_per_router,
                "parameters": topology.parameters,
            }
            for topology in platform.clusters
        ],
        "network": _network(machine.topology),
        "coordinates": None if machine.coordinates is None else int(machine.coordinates.shape[1]),
        **{
            name: platform.facet(kind).facts() if kind.is_stated(machine) else None
            for name, kind in facet_kinds().items()
        },
        "remarks": list(platform.remarks),
    }


def facet_kinds() -> dict[str, type[Facet]]:
    """Return the facets of machines that packages announce, by name.

    Raises:
        InputError: one cannot be loaded.
    """
    return {name: registry.load(facet.GROUP, name, "facet") for name in registry.names(facet.GROUP)}


def as_text(facts: dict[str, Any]) -> str:
    """Return the facts of `summarise` for people."""
    storage = facts["storage_hosts"]
    lines = [
        f"platform  {facts['name']} ({facts['path']})",
        f"hosts     {facts['compute_hosts']} compute, {len(storage)} storage",
        f"master    {facts['master'] or 'none: every host is a resource'}",
        f"total     {_amounts(facts['total'])}",
    ]
    for index, entry in enumerate(facts["classes"]):
        names = entry["first"] if entry["hosts"] == 1 else f"{entry['first']} .. {entry['last']}"
        speeds = _range([speed / 1e9 for speed in entry["speeds"]])
        heading = "classes" if index == 0 else ""
        lines.append(
            f"{heading:<9} {entry['hosts']} x ({_amounts(entry['capacity'])}), {speeds} Gf a core, "
            f"ids {_short(entry['ids'])}: {names}"
        )
    for index, topology in enumerate(facts["topologies"]):
        shape = " x ".join(map(str, topology["dims"])) or topology["parameters"]
        shared = f", {topology['hosts_per_router']} hosts a router" if topology["hosts_per_router"] > 1 else ""
        heading = "topology" if index == 0 else ""
        lines.append(
            f"{heading:<9} {topology['cluster']}: {topology['kind']} {shape}".rstrip()
            + shared
            + f", {topology['hosts']} hosts"
        )
    network = facts["network"]
    if network is None:
        lines.append("network   none: the compute hosts do not all stand in one cluster or zone that states a topology")
    else:
        lines.append(f"network   {_network_in_words(network)}")
    if storage:
        lines.append(f"storage   {_short(' '.join(storage))}")
    for name, kind in facet_kinds().items():
        for index, entry in enumerate(facts[name] or ()):
            lines.append(f"{name if index == 0 else '':<9} {kind.in_words(entry)}")
    lines += [f"remark    {remark}" for remark in facts["remarks"]]
    return "\n".join(lines)


def _network(topology: Network | None) -> dict[str, Any] | None:
    if topology is None:
        return None
    return {
        "kind": topology.kind,
        "dims": list(topology.dims),
        "wrap": list(topology.wrap),
        "routers": topology.routers,
        "hosts_per_router": topology.hosts_per_router,
        "links": topology.links,
        "shared": topology.shared,
        "hosts_outside": int((topology.router_of < 0).sum()),
    }


def _network_in_words(network: dict[str, Any]) -> str:
    shape = " ".join([network["kind"], " x ".join(map(str, network["dims"]))]).strip()
    links = f"{network['links']} directed links" + (", two share a cable" if network["shared"] else "")
    outside = f", {network['hosts_outside']} storage hosts outside" if network["hosts_outside"] else ""
    return (
        f"{shape} of {network['routers']} routers with up to {network['hosts_per_router']} hosts each, {links}{outside}"
    )


def _amounts(amounts: dict[str, int]) -> str:
    return ", ".join(f"{name} {amount}" for name, amount in amounts.items())


def _range(values: list[float]) -> str:
    return f"{values[0]:g}" if len(values) == 1 else f"{values[0]:g} to {values[-1]:g}"


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60].rsplit(' ', 1)[0]} ..."
