"""A cluster of equal nodes."""

from __future__ import annotations

from batdispatch.inputs.platforms.generate.document import (
    Group,
    Links,
    checked_capacity,
    checked_count,
    star_platform,
)

_SOURCE = "platform generate flat"
_DEFAULT_LINKS = Links()


def flat(hosts: int, *, capacity: str | None = None, links: Links = _DEFAULT_LINKS) -> bytes:
    """Return a platform of equal nodes n0.. (zero-padded), on a switch that never limits them, and `master_host`.

    `inputs.platform_kinds.Flat` says what is stated; `links` are those of the nodes.

    Raises:
        InputError: an argument is out of range or malformed.
    """
    checked_count(hosts, _SOURCE, "--hosts")
    checked_capacity(capacity, _SOURCE)
    group = Group(zone="nodes", prefix="n", first=0, count=hosts, width=len(str(hosts - 1)), capacity=capacity)
    note = f"{hosts} equal nodes, written by batdispatch platform generate flat"
    return star_platform("flat", [group], links.checked(_SOURCE), note)
