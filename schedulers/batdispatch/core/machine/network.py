"""The network that joins the hosts of a machine, as far as the core knows it: what it is, and where the hosts stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Network(Protocol):
    """Routers and the links between them. What else a network answers, such as routes, depends on what made it."""

    @property
    def kind(self) -> str:
        """Its kind, in a word."""

    @property
    def dims(self) -> tuple[int, ...]:
        """The size of each dimension of a grid; empty for others."""

    @property
    def wrap(self) -> tuple[bool, ...]:
        """Whether the last router of each dimension is joined to its first."""

    @property
    def routers(self) -> int:
        """Number of routers."""

    @property
    def router_of(self) -> NDArray[np.int64]:
        """The router of each host, int64 [host]; -1: the host is not in the network."""

    @property
    def hosts_per_router(self) -> int:
        """Most hosts on a router."""

    @property
    def links(self) -> int:
        """Number of directed links."""

    @property
    def shared(self) -> bool:
        """Whether the two directions of a cable share its bandwidth."""

    def switches(self) -> Sequence[NDArray[np.int64]]:
        """Return which switch of each level each host is below, the lowest level first."""
