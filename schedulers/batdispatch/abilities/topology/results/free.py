"""How free nodes hang together over time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.topology.networks import Topology
from batdispatch.abilities.topology.networks.pieces import Pieces
from batdispatch.core.hosts.hostsets import Intervals
from batdispatch.core.machine.machine import Machine

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Most moments that are looked at.
MOMENTS = 1000


@dataclass(frozen=True)
class FreeNodes:
    """The free nodes of a machine at some moments.

    Attributes:
        moments: seconds, float64 [moment], ascending.
        weight: seconds that each moment stands for, float64 [moment].
        free: F, the free nodes, int64 [moment].
        piece: L, those of them in the largest connected piece, int64 [moment].
        run: those in the longest run of nodes with consecutive ids, int64 [moment].
    """

    moments: Floats
    weight: Floats
    free: Ints
    piece: Ints
    run: Ints

    def between(self, begin: float, end: float) -> FreeNodes:
        """Return the same of a part of the time."""
        there = (self.moments >= begin) & (self.moments <= end)
        moments, weight = self.moments[there], self.weight[there]
        return FreeNodes(moments, weight, self.free[there], self.piece[there], self.run[there])

    def outside(self, largest: Ints) -> float | None:
        """Return the share of free node-seconds that lie outside of the largest piece; None: no node was ever free."""
        total = float((self.free * self.weight).sum())
        return 1.0 - float((largest * self.weight).sum()) / total if total else None


def moments_of(start: Floats, finish: Floats, begin: float, end: float) -> tuple[Floats, Floats]:
    """Return the moments to look at and the seconds that each stands for.

    Up to `MOMENTS` stretches between two changes: the middle of each, which is exact. More: the middles of `MOMENTS`
    equal stretches of the time.

    Args:
        start: of the rows, seconds, float64 [row].
        finish: of the rows.
        begin: of the time.
        end: of the time.
    """
    edges = np.unique(np.concatenate([[begin, end], start, finish]))
    edges = edges[(edges >= begin) & (edges <= end)]
    if len(edges) > MOMENTS + 1:
        edges = np.linspace(begin, end, MOMENTS + 1)
    return (edges[1:] + edges[:-1]) / 2, np.diff(edges)


def held_at(moments: Floats, hosts: Intervals, start: Floats, finish: Floats, size: int) -> Iterator[NDArray[np.int64]]:
    """Yield how many rows hold each host at each moment, int64 [host].

    Args:
        moments: ascending, seconds.
        hosts: of the rows.
        start: of the rows, seconds; a row holds its hosts from its start up to, and without, its end.
        finish: of the rows.
        size: number of hosts.
    """
    first_seen = np.searchsorted(moments, start, side="left")[hosts.row]
    gone = np.searchsorted(moments, finish, side="left")[hosts.row]
    # What comes and goes between two moments is never seen.
    seen = np.flatnonzero(gone > first_seen)
    changes = np.concatenate([first_seen[seen], gone[seen]])
    order = np.argsort(changes, kind="stable")
    bounds = np.searchsorted(changes[order], np.arange(len(moments) + 1))
    # A host set as a step function of the host id.
    edge = np.zeros(size + 1, dtype=np.int64)
    first, behind = hosts.first[seen], hosts.last[seen] + 1
    for moment in range(len(moments)):
        part = order[bounds[moment] : bounds[moment + 1]]
        come = part < len(seen)
        for which, sign in ((part[come], 1), (part[~come] - len(seen), -1)):
            if len(which):
                edge += sign * np.bincount(first[which], minlength=size + 1)[: size + 1]
                edge -= sign * np.bincount(behind[which], minlength=size + 1)[: size + 1]
        yield np.cumsum(edge[:-1])


def free_nodes(
    machine: Machine,
    topology: Topology,
    hosts: Intervals,
    start: Floats,
    finish: Floats,
    begin: float,
    end: float,
    away: Callable[[Floats], Iterable[Ints]] | None = None,
) -> FreeNodes:
    """Return how the free nodes hang together from `begin` to `end`; a node that carries no job and is there is free.

    At most `MOMENTS` moments are looked at, and each takes time in proportion to the links.

    Args:
        machine: of the run.
        topology: its network.
        hosts: of the rows.
        start: of the rows, seconds, float64 [row].
        finish: of the rows, seconds.
        begin: of the time that is looked at, seconds.
        end: of that time.
        away: which hosts are away at each of some ascending moments; None: none is.
    """
    moments, weight = moments_of(start, finish, begin, end)
    compute = (machine.classes >= 0) & (topology.router_of >= 0)
    line = np.flatnonzero(compute)
    pieces = Pieces(topology)
    rows = []
    gone = repeat(np.zeros(0, dtype=np.int64)) if away is None else away(moments)
    for held, missing in zip(held_at(moments, hosts, start, finish, len(compute)), gone, strict=False):
        held[missing] = 1
        free = held[line] == 0
        count = int(free.sum())
        largest = int(pieces.sizes(line[free])[0]) if count else 0
        rows.append((count, largest, _longest(free)))
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return FreeNodes(moments, weight, table[:, 0], table[:, 1], table[:, 2])


def _longest(flags: NDArray[np.bool_]) -> int:
    """Return the length of the longest run of True."""
    edges = np.flatnonzero(np.diff(flags.astype(np.int8), prepend=0, append=0))
    return int((edges[1::2] - edges[::2]).max(initial=0))
