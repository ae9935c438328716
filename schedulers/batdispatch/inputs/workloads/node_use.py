"""What the nodes of a log were used for: how much of each was in use at a time, and by which partitions.

The most that was in use on a node at a time is what the node had at least. It is worked out node by node, from all jobs
that were there together, since the largest job of a log says nothing about the nodes on which it did not run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from batdispatch.core.errors import InputError
from batdispatch.core.hosts.names import MAX_HOSTS, expand, split_list

#: Most uses of a node by a job that are looked at: more need too much memory.
MOST_USES = 30_000_000
#: Jobs of a partition from which what all of them do is its rule.
_MANY = 20


class Stay(msgspec.Struct, frozen=True, gc=False):
    """A job's time on its nodes, as the log tells it."""

    #: Names of the nodes, as Slurm writes them.
    nodes: str
    #: Seconds.
    start: float
    seconds: float
    #: Sums over the nodes, by resource.
    amounts: dict[str, int]
    #: Empty: not told.
    partition: str = ""


class NodeUse(msgspec.Struct, eq=False):
    """What was in use on each node.

    Attributes:
        names: of the nodes, in order of first use.
        peak: resource -> the most of it that was in use at a time, int64 [node], see `use_of`.
        alone: the same, of jobs that had only this node, and of none beside them: that much was surely in use.
        together: resource -> the most that was in use at a time on all nodes together.
        jobs: partition -> how many jobs of it ran.
        uses: partition -> how many of its jobs used each node, int64 [node].
        whole: partitions whose jobs all had their nodes to themselves, and all cores of these, however few they needed.
        unread: lists of nodes that could not be read.
    """

    names: list[str] = []
    peak: dict[str, NDArray[np.int64]] = {}
    alone: dict[str, NDArray[np.int64]] = {}
    together: dict[str, int] = {}
    jobs: dict[str, int] = {}
    uses: dict[str, NDArray[np.int64]] = {}
    whole: set[str] = set()
    unread: list[str] = []

    def partition_of(self, node: int) -> str:
        """Return the partition whose jobs used a node most; empty: none is told."""
        name = max(self.uses, key=lambda name: int(self.uses[name][node]), default="")
        return name if name and self.uses[name][node] else ""


def use_of(stays: Sequence[Stay]) -> NodeUse:
    """Return what nodes were used for.

    What jobs of one node used is known. A job of several nodes may have used more on some than on others (6 cores on
    nodes of 4 may lie 4 + 2), so that an equal share, rounded down for cores and memory and up for devices such as
    GPUs, is counted by itself only, and not on top of what others used. If the nodes would then be too small for all
    that ran together, the smallest ones among those that had such jobs grow alike until they are not. Of devices, equal
    shares are added up then.
    """
    found = NodeUse()
    index: dict[str, int] = {}
    lists: dict[str, NDArray[np.int64]] = {}
    listed = 0
    for stay in stays:
        if stay.nodes not in lists:
            lists[stay.nodes] = _numbered(stay.nodes, index, found)
            listed += len(lists[stay.nodes])
        if listed > MOST_USES:
            return NodeUse()
    found.names = list(index)
    known = [stay for stay in stays if len(lists[stay.nodes]) and not math.isnan(stay.start)]
    sizes = np.array([len(lists[stay.nodes]) for stay in known], dtype=np.int64)
    if not known or int(sizes.sum()) > MOST_USES:
        return NodeUse()
    node = np.concatenate([lists[stay.nodes] for stay in known])
    job = np.repeat(np.arange(len(known)), sizes)
    _count_partitions(found, known, node, job)
    start = np.array([stay.start for stay in known])
    end = start + [max(stay.seconds, 0.0) for stay in known]
    # What ends at a moment makes room for what starts then.
    order = np.lexsort((np.repeat([0, 1], len(job)), np.concatenate([end[job], start[job]]), np.tile(node, 2)))
    of_all = np.lexsort((np.repeat([0, 1], len(known)), np.concatenate([end, start])))
    first = np.flatnonzero(np.diff(np.tile(node, 2)[order], prepend=-1))
    at = np.tile(node, 2)[order][first]
    one = sizes[job] == 1
    for name in dict.fromkeys(name for stay in known for name in stay.amounts):
        total = np.array([stay.amounts.get(name, 0) for stay in known], dtype=np.int64)
        share = total // sizes if name in ("core", "memory") else -(-total // sizes)
        found.together[name] = int(np.cumsum(np.concatenate([-total, total])[of_all]).max())
        every = np.ones(len(job), dtype=bool)
        for counted in (one,) if name in ("core", "memory") else (one, every):
            use = np.where(counted, share[job], 0)
            peak = found.peak[name] = np.zeros(len(index), dtype=np.int64)
            peak[at] = np.maximum.reduceat(np.cumsum(np.concatenate([-use, use])[order]), first)
            found.alone.setdefault(name, peak.copy())
            np.maximum.at(peak, node, share[job])
            if int(peak.sum()) >= found.together[name]:
                break
        else:
            found.peak[name] = _grown(peak, found.together[name], np.unique(node[~one & (share[job] > 0)]))
        if name == "core":
            part = job[share[job] < found.peak[name][node]]
            partly = {known[row].partition for row in np.unique(part)}
            found.whole = {each for each, count in found.jobs.items() if count >= _MANY and each not in partly}
    return found


def _grown(peak: NDArray[np.int64], total: int, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return amounts of nodes of which some, the smallest first, were raised alike until all together reach a total."""
    grown = peak.copy()
    sizes = np.sort(peak[nodes])
    missing = total - int(peak.sum())
    if missing <= 0 or not len(nodes):
        return grown
    # Raising the first k + 1 nodes to the size of the next one takes so much.
    steps = np.append(np.diff(sizes), np.iinfo(np.int64).max // (2 * len(sizes)))
    needed = np.cumsum(steps * np.arange(1, len(sizes) + 1))
    last = int(np.searchsorted(needed, missing))
    spent = int(needed[last - 1]) if last else 0
    level = int(sizes[last]) + -(-(missing - spent) // (last + 1))
    grown[nodes] = np.maximum(grown[nodes], level)
    return grown


def _count_partitions(found: NodeUse, known: Sequence[Stay], node: NDArray[np.int64], job: NDArray[np.int64]) -> None:
    """Count the jobs of each partition, and their uses of each node."""
    names = list(dict.fromkeys(stay.partition for stay in known))
    number = np.array([names.index(stay.partition) for stay in known])
    for at, name in enumerate(names):
        if name:
            found.jobs[name] = int((number == at).sum())
            found.uses[name] = np.bincount(node[number[job] == at], minlength=len(found.names))


def _numbered(text: str, index: dict[str, int], found: NodeUse) -> NDArray[np.int64]:
    """Return the numbers of the nodes of a list, and give new ones a number; none if the list cannot be read."""
    try:
        names = list(host_names(text))
    except InputError:
        names = []
    if not names or len(index) + len(names) > MAX_HOSTS:
        found.unread.append(text)
        return np.zeros(0, dtype=np.int64)
    return np.array([index.setdefault(name, len(index)) for name in names], dtype=np.int64)


def host_names(text: str) -> Iterator[str]:
    """Yield the names of a list such as ``n[1-4,7],login1``.

    Raises:
        InputError: brackets hold something else than numbers and ranges.
    """
    yield from expand(*split_list(text))
