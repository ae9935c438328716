"""Eurora, CINECA's hybrid cluster (2013-2015)."""

from __future__ import annotations

from batdispatch.inputs.platforms.generate.document import Group, Links, checked_count, star_platform

_SOURCE = "platform generate eurora"
#: Of a node, in MiB: 16 GB. The file that comes with the published job logs states 33554432 kB, that is 32768 MiB.
MEMORY_MIB = 16384
_DEFAULT_LINKS = Links()


def eurora(*, memory_mib: int = MEMORY_MIB, links: Links = _DEFAULT_LINKS) -> bytes:
    """Return 64 nodes of 16 cores: eurora00-31 with 2 MICs each, eurora32-63 with 2 GPUs each.

    The order is that of the node file of the published job logs, so a node's number is its id there and here.

    Args:
        memory_mib: memory of a node, in MiB.
        links: core speed, bandwidth and latency of each node's link.

    Raises:
        InputError: an argument is out of range or malformed.
    """
    checked_count(memory_mib, _SOURCE, "--memory")
    groups = [
        Group(
            zone=zone, prefix="eurora", first=first, count=32, width=2, capacity=f"core=16 {unit}=2 memory={memory_mib}"
        )
        for zone, first, unit in (("mic_nodes", 0, "mic"), ("gpu_nodes", 32, "gpu"))
    ]
    note = "CINECA Eurora: 64 nodes, written by batdispatch platform generate eurora"
    return star_platform("eurora", groups, links.checked(_SOURCE), note)
