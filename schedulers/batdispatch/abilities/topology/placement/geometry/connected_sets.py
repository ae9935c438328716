"""Connected sets of cells: exact at any size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from batdispatch.abilities.topology.networks.base import Ints
from batdispatch.abilities.topology.placement.geometry.moment import NetworkDemand
from batdispatch.abilities.topology.placement.geometry.network import Network


def connected_orders(asked: NetworkDemand, among: NDArray[np.bool_]) -> Iterator[tuple[Ints, int]]:
    """Yield orders of connected cells with enough room, each with the number of first cells that must be used.

    The first cells of an order, however many, are connected. Each connected component is one order, the smallest with
    enough room first. Without I/O nodes, an order begins at the component's end (at the last cell of a search in
    breadth from its lowest cell), so that what is left over hangs together. With I/O nodes, it begins with a path that
    leads by a cell near each of them: with one I/O node always the shortest such path, with more a short one.

    Time: O(cells + links) for each component with enough room.

    Args:
        asked: the job.
        among: bool [cell], those that may be used.
    """
    graph, found = parts(asked, among)
    for inside in found:
        if asked.near:
            yield from _from_pins(asked, graph, inside)
        else:
            lowest = inside.argmax()
            end = breadth_first_order(graph, lowest, directed=False, return_predecessors=False)[-1]
            order = breadth_first_order(graph, end, directed=False, return_predecessors=False)
            yield order.astype(np.int64), 0


def parts(asked: NetworkDemand, among: NDArray[np.bool_]) -> tuple[csr_array, list[NDArray[np.bool_]]]:
    """Return the graph of the cells with room, and the connected parts of it that have enough, the smallest first.

    A part is bool [cell], and has a cell near each I/O node of the job.

    Args:
        asked: the job.
        among: bool [cell], those that may be used.
    """
    present = among & (asked.weights > 0)
    graph = _between(asked.network, present)
    _, labels = connected_components(graph, directed=False)
    room = np.bincount(labels, weights=asked.weights * present)
    enough = room >= asked.units
    for near in asked.near:
        there = np.zeros(len(enough), dtype=np.bool_)
        there[labels[near & present]] = True
        enough &= there
    found = enough.nonzero()[0]
    return graph, [(labels == label) & present for label in found[np.argsort(room[found], kind="stable")].tolist()]


def is_joined(network: Network, cells: Ints) -> bool:
    """Return whether different cells are connected."""
    present = np.zeros(network.cells, dtype=np.bool_)
    present[cells] = True
    _, labels = connected_components(_between(network, present), directed=False)
    return bool((labels[cells] == labels[cells[0]]).all())


def _between(network: Network, present: NDArray[np.bool_]) -> csr_array:
    """Return the graph of the cells that are present."""
    starts, ends = network.edges
    kept = np.repeat(present, np.diff(starts)) & present[ends]
    count = np.concatenate(([0], np.cumsum(kept)))
    kept_ends = ends[kept].astype(np.int32)
    shape = (network.cells, network.cells)
    return csr_array((np.ones(len(kept_ends), dtype=np.int8), kept_ends, count[starts].astype(np.int32)), shape=shape)


def _from_pins(asked: NetworkDemand, graph: csr_array, inside: NDArray[np.bool_]) -> Iterator[tuple[Ints, int]]:
    """Yield an order of a component's cells that begins with cells near all I/O nodes, for each first cell."""
    wanted = [near & inside & (asked.weights > 0) for near in asked.near]
    first = min(wanted, key=lambda near: int(near.sum()))
    tried: set[tuple[int, ...]] = set()
    for start in first.nonzero()[0].tolist():
        path = [start]
        while left := [near for near in wanted if not near[path].any()]:
            order, before = breadth_first_order(_from_many(graph, path), graph.shape[0], directed=True)
            near = np.logical_or.reduce(left)
            goal = int(order[near[order[1:]].argmax() + 1])
            step = []
            while goal not in path:
                step.append(goal)
                goal = int(before[goal])
            path.extend(reversed(step))
        if tuple(sorted(path)) in tried or len(path) > asked.most:
            continue
        tried.add(tuple(sorted(path)))
        order = breadth_first_order(_from_many(graph, path), graph.shape[0], directed=True, return_predecessors=False)
        others = order[1:]
        yield np.concatenate([path, others[~np.isin(others, path)]]).astype(np.int64), len(path)
        if len(wanted) == 1:
            return


def _from_many(graph: csr_array, starts: list[int]) -> csr_array:
    """Return a graph with one node more, the last one, from which edges lead to some others."""
    count = graph.shape[0]
    indices = np.concatenate([graph.indices, np.array(sorted(starts), dtype=np.int32)])
    indptr = np.append(graph.indptr, graph.indptr[-1] + len(starts)).astype(np.int32)
    return csr_array((np.ones(len(indices), dtype=np.int8), indices, indptr), shape=(count + 1, count + 1))
