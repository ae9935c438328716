"""What is asked of the hosts of a job, as one record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from batdispatch.abilities.topology.networks.base import Ints


@dataclass(frozen=True, eq=False)
class HostLine:
    """Hosts must be a range of a line.

    Attributes:
        hosts: the line, int64 [position].
        wrap: whether a range may go on at its beginning.
    """

    hosts: Ints
    wrap: bool = False


@dataclass(frozen=True)
class Rules:
    """Rules of several shapes together.

    Attributes:
        lines: on each of which the hosts are a range.
        connected: whether the routers used are connected.
        convex: whether nobody else uses the links, or the routers, on routes between the hosts.
        local: whether a host is near each pinned I/O node.
        compact: whether hosts with a small gamma are preferred.
    """

    lines: tuple[HostLine, ...] = ()
    connected: bool = False
    convex: Literal["", "links", "routers"] = ""
    local: bool = False
    compact: bool = False

    @property
    def anywhere(self) -> bool:
        """Whether nothing is asked."""
        return not (self.lines or self.connected or self.convex or self.local or self.compact)

    @property
    def networked(self) -> bool:
        """Whether they are about the network."""
        return self.connected or bool(self.convex) or self.local or self.compact
