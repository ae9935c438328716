"""ForHLR II, the cluster of the Karlsruhe Institute of Technology (2016-2020)."""

from __future__ import annotations

from batdispatch.inputs.platforms.generate.document import Group, Links, star_platform

_DEFAULT_LINKS = Links()


def forhlr2(*, links: Links = _DEFAULT_LINKS) -> bytes:
    """Return 1,152 thin nodes (20 cores, 64 GB) and 21 fat ones (48 cores, 4 GPUs, 1 TB): 1,173 nodes, 24,048 cores.

    Args:
        links: core speed, bandwidth and latency of each node's link.

    Raises:
        InputError: a value of `links` is malformed.
    """
    groups = [
        Group(zone="thin_nodes", prefix="fh2n", first=1, count=1152, width=4, capacity="core=20 memory=65536"),
        Group(zone="fat_nodes", prefix="fh2n", first=1153, count=21, width=4, capacity="core=48 gpu=4 memory=1048576"),
    ]
    note = "KIT ForHLR II: 1,173 nodes, 24,048 cores, written by batdispatch platform generate forhlr2"
    return star_platform("forhlr2", groups, links.checked("platform generate forhlr2"), note)
