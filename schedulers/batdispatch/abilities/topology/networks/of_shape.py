"""The network that follows from the shape of a cluster; announced for every kind of shape."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.topology.networks import Dragonfly, FatTree, Flat, Grid, Topology
from batdispatch.inputs.platforms.topology import ClusterShape


def network(shape: ClusterShape, places: NDArray[np.int64]) -> Topology:
    """Return the network of a machine; a `MakeNetwork`."""
    if shape.kind == "FLAT":
        return Flat((places >= 0).tolist())
    if shape.kind == "FAT_TREE":
        _, down, up, cables = shape.sizes
        return FatTree(places, down, up, cables, shared=shape.shared)
    shared_by = 1 if shape.stated else shape.hosts_per_router
    routers = np.where(places < 0, -1, places // shared_by)
    if shape.kind == "DRAGONFLY":
        (groups, _), (chassis, _), (numbers, _), _ = shape.sizes
        return Dragonfly(routers, groups, chassis, numbers, shared=shape.shared)
    return Grid(routers, shape.dims, wrap=shape.kind == "TORUS", shared=shape.shared)
