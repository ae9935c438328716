"""From the shape of a cluster to its network: a package announces what makes networks of a kind.

An entry point is called as the kind of the shape (``torus``, ``fat-tree``), and leads to a `MakeNetwork`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.line import registry
from batdispatch.core.machine.network import Network
from batdispatch.inputs.platforms.topology import ClusterShape

#: The entry-point group.
GROUP = "batdispatch.networks"
#: Returns the network of a machine, given int64 [host], the number of the place that each host takes in the cluster,
#: counted in the order of the radical, and -1 for a host that is not in it. In a shape that a zone states, it is the
#: number of its router.
MakeNetwork = Callable[[ClusterShape, NDArray[np.int64]], Network]


def make_network(shape: ClusterShape, places: NDArray[np.int64]) -> Network | None:
    """Return the network of a shape; None: no package announces networks of its kind.

    Raises:
        InputError: what is announced cannot be loaded.
    """
    make: MakeNetwork | None = registry.load(GROUP, shape.kind.lower().replace("_", "-"), "network")
    return None if make is None else make(shape, places)
