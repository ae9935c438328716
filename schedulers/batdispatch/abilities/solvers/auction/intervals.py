"""Intervals: maximal runs of consecutive nodes that can each take at least one unit of a job.

For a job of cores that wants g GPUs on each node, these are the slides' intervals: runs of nodes with at least one free
core and at least g free GPUs. Whatever else keeps a job off a node ends an interval too: that the node is excluded or
not in the job's list, or has too little of another resource. So does a host that runs no jobs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class NodeLine(NamedTuple):
    """The nodes that can take a unit of a job, one after the other.

    Attributes:
        nodes: their positions in the problem, int64 [place].
        held: how many units the nodes before each place hold, int64 [place + 1]; it starts with 0.
        run: which run of consecutive host ids each place is in, counted from 0, int64 [place].
    """

    nodes: Ints
    held: Ints
    run: Ints

    @property
    def intervals(self) -> tuple[Ints, Ints]:
        """First places of the runs and the places behind their last ones, int64 [run] each."""
        changes = np.flatnonzero(np.diff(self.run)) + 1
        return np.append(0, changes)[: len(self)], np.append(changes, len(self))[: len(self)]

    def __len__(self) -> int:
        return len(self.nodes)


def line_of(room: Ints, hosts: Ints, order: Ints | None = None) -> NodeLine:
    """Return the line of the nodes with room.

    Time: O(n) for n nodes.

    Args:
        room: how many units of the job each node could take, int64 [node].
        hosts: host id of each node, int64 [node].
        order: the nodes in the order of the line, int64 [node]; ascending when None.
    """
    nodes = np.flatnonzero(room) if order is None else order[room[order] > 0]
    ids = hosts[nodes]
    run = np.zeros(len(nodes), dtype=np.int64)
    run[1:] = (ids[1:] != ids[:-1] + 1).cumsum()
    return NodeLine(nodes, np.append(0, room[nodes].cumsum()), run)
