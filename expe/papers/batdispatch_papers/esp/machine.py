"""The cluster of the experiments with the ESP job mix on CPU-GPU nodes."""

from __future__ import annotations

from batdispatch.inputs.platforms.generate.document import Group, Links, checked_count, star_platform

_SOURCE = "platform generate esp"
_DEFAULT_LINKS = Links()


def esp(*, nodes: int = 1024, cores: int = 8, gpus: int = 2, links: Links = _DEFAULT_LINKS) -> bytes:
    """Return `nodes` equal nodes with cores and GPUs; memory is not part of that experiment.

    Args:
        nodes: number of nodes.
        cores: of a node.
        gpus: of a node; 0 leaves GPUs out.
        links: core speed, bandwidth and latency of each node's link.

    Raises:
        InputError: an argument is out of range or malformed.
    """
    checked_count(nodes, _SOURCE, "--hosts")
    checked_count(cores, _SOURCE, "--cores")
    if gpus:
        checked_count(gpus, _SOURCE, "--gpus")
    capacity = f"core={cores} gpu={gpus}" if gpus else f"core={cores}"
    group = Group(zone="nodes", prefix="n", first=0, count=nodes, width=len(str(nodes - 1)), capacity=capacity)
    note = f"{nodes} nodes with {capacity}, written by batdispatch platform generate esp"
    return star_platform("esp", [group], links.checked(_SOURCE), note)
