"""Fat trees and dragonflies: SimGrid's own topologies with a master host beside them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from batdispatch.core.errors import InputError
from batdispatch.core.machine.machine import CAPACITY_PROPERTY
from batdispatch.inputs.platforms.generate.document import Links, checked_capacity, checked_count, cluster_platform

_DEFAULT_LINKS = Links()


def _properties(capacity: str | None, source: str) -> list[tuple[str, str]]:
    return [] if checked_capacity(capacity, source) is None else [(CAPACITY_PROPERTY, str(capacity))]


def fat_tree(
    down: Sequence[int],
    up: Sequence[int],
    cables: Sequence[int],
    *,
    capacity: str | None = None,
    links: Links = _DEFAULT_LINKS,
) -> bytes:
    """Return a fat tree, described from the leaves to the root as `doors.platforms.Fattree` says.

    It has as many hosts as the product of `down`.

    Raises:
        InputError: an argument is out of range or malformed, or the three have different lengths.
    """
    source = "platform generate fattree"
    for option, sizes in (("--down", down), ("--up", up), ("--cables", cables)):
        if len(sizes) != len(down) or not sizes or min(sizes) < 1:
            raise InputError(
                f"{list(sizes)} is not one number of at least 1 for each level of --down", source=source, place=option
            )
    hosts = checked_count(math.prod(down), source, "--down")
    parameters = ";".join([str(len(down)), *(",".join(map(str, sizes)) for sizes in (down, up, cables))])
    note = f"fat tree {parameters} of {hosts} hosts, written by batdispatch platform generate fattree"
    properties = _properties(capacity, source)
    return cluster_platform(
        "fattree", "FAT_TREE", parameters, hosts, links.checked(source), note, properties=properties
    )


def dragonfly(
    groups: Sequence[int],
    chassis: Sequence[int],
    routers: Sequence[int],
    nodes: int,
    *,
    capacity: str | None = None,
    links: Links = _DEFAULT_LINKS,
) -> bytes:
    """Return a dragonfly as `doors.platforms.Dragonfly` says, of at most as many groups as routers in a chassis.

    Raises:
        InputError: an argument is out of range or malformed.
    """
    source = "platform generate dragonfly"
    for option, sizes in (("--groups", groups), ("--chassis", chassis), ("--routers", routers)):
        if len(sizes) != 2 or min(sizes) < 1:
            raise InputError(
                f"{list(sizes)} is not a number and its links, both at least 1", source=source, place=option
            )
    checked_count(nodes, source, "--nodes")
    if groups[0] > routers[0]:
        raise InputError(
            f"{groups[0]} groups are more than the {routers[0]} routers in a chassis, which SimGrid cannot route",
            source=source,
            place="--groups",
        )
    hosts = checked_count(groups[0] * chassis[0] * routers[0] * nodes, source, "--groups")
    parameters = ";".join([*(",".join(map(str, sizes)) for sizes in (groups, chassis, routers)), str(nodes)])
    note = f"dragonfly {parameters} of {hosts} hosts, written by batdispatch platform generate dragonfly"
    properties = _properties(capacity, source)
    return cluster_platform(
        "dragonfly", "DRAGONFLY", parameters, hosts, links.checked(source), note, properties=properties
    )
