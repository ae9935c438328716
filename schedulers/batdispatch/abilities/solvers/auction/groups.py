"""Nodes that no job of a window can tell apart, taken together."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.solvers.auction.problem import JobDemand, Problem


class Group(msgspec.Struct, frozen=True, eq=False):
    """Nodes with equal free amounts and equal rooms for every job of a window: a class, or a part of one.

    Attributes:
        nodes: their positions in the problem, ascending.
        free: what each of them has left, by resource.
        rooms: how many units of each asking each of them could take.
    """

    nodes: NDArray[np.int64]
    free: tuple[int, ...]
    rooms: tuple[int, ...]

    def once(self, asking: JobDemand) -> list[int]:
        """Return what a job takes of each node of the group beside its units, by resource."""
        found: list[int] = asking.once[int(self.nodes[0])].tolist()
        return found

    def least_use(self, asking: JobDemand) -> list[int]:
        """Return what a job takes at least of each node of the group that it uses, by resource."""
        units = asking.each or 1
        return [once + units * amount for once, amount in zip(self.once(asking), asking.amounts.tolist(), strict=True)]


def classes(problem: Problem, jobs: Sequence[int]) -> list[Group]:
    """Return the classes of the nodes that can take a unit of any of some jobs, by their first nodes.

    Time: O(n w) for n nodes and w jobs.
    """
    rooms = np.zeros((len(problem.askings), len(problem.hosts)), dtype=np.int64)
    for job in jobs:
        rooms[job] = problem.askings[job].room
    keys = np.concatenate((problem.free.T, rooms)).T
    distinct, first, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    which = which.reshape(-1)
    resources = problem.free.shape[1]
    return [
        Group(
            nodes=(which == index).nonzero()[0],
            free=tuple(distinct[index, :resources].tolist()),
            rooms=tuple(distinct[index, resources:].tolist()),
        )
        for index in np.argsort(first).tolist()
        if distinct[index, resources:].any()
    ]


def single_nodes(group: Group) -> list[Group]:
    """Return each node of a group as a group of its own."""
    return [
        Group(nodes=group.nodes[index : index + 1], free=group.free, rooms=group.rooms)
        for index in range(len(group.nodes))
    ]
