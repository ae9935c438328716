"""Which running jobs a window of jobs can ever meet: the part of the machine's load that a model needs to know.

A model over time x position has a box for what each running job holds. Most of these boxes decide nothing: the window
is over before the job ends, or the job ends before anything of the window fits, or other nodes offer as much sooner.
The functions here find those that decide something. Their number depends on the window, not on the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.solvers.constraint.models.problem import FixedJob


class Demand(NamedTuple):
    """A job of the window: its duration in s, its units, and what a unit takes, int64 [resource]."""

    duration: int
    units: int
    amounts: NDArray[np.int64]


class Relevance(NamedTuple):
    """What a model needs of a machine and its load.

    Attributes:
        soonest, latest: the first and the last start that matters of each job, s from now.
        capacity: int64 [node, resource], without what is full for as long as the window takes.
        held: what jobs hold that the model does not move; one entry for all that begin and end together.
        full: int64 [resource], what was taken off `capacity`, of all nodes together.
    """

    soonest: list[int]
    latest: list[int]
    capacity: NDArray[np.int64]
    held: list[FixedJob]
    full: NDArray[np.int64]


class _Pieces(NamedTuple):
    """What jobs hold on nodes, a row for each job and node: s from now, nodes, and int64 [row, resource]."""

    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    nodes: NDArray[np.intp]
    amounts: NDArray[np.int64]

    @staticmethod
    def of(held: Sequence[FixedJob], resources: int) -> _Pieces:
        sizes = [len(one.nodes) for one in held]
        return _Pieces(
            np.repeat(np.array([one.begin for one in held], dtype=np.int64), sizes),
            np.repeat(np.array([one.end for one in held], dtype=np.int64), sizes),
            np.concatenate([np.zeros(0, dtype=np.intp), *(one.nodes for one in held)]),
            np.concatenate([np.zeros((0, resources), dtype=np.int64), *(one.amounts for one in held)]),
        )

    def where(self, rows: NDArray[np.bool_]) -> _Pieces:
        return _Pieces(self.begins[rows], self.ends[rows], self.nodes[rows], self.amounts[rows])

    def on(self, shape: tuple[int, ...]) -> NDArray[np.int64]:
        """Return what is held of each node, int64 [node, resource]."""
        sums = np.zeros(shape, dtype=np.int64)
        np.add.at(sums, self.nodes, self.amounts)
        return sums


def relevance(
    demands: Sequence[Demand], capacity: NDArray[np.int64], held: Sequence[FixedJob], horizon: int
) -> Relevance:
    """Return what a model of `demands` needs to know. At least one best plan is left, and its cost is the same.

    - No job starts before its units fit beside the running jobs alone.
    - From the moment on at which each job fits alone, no best plan pauses: what starts after a pause could start
      earlier, because running jobs only give back. So a job starts at most as long after this moment as the other jobs
      take one after the other.
    - What a running job holds until after the last of these moments is full.
    - What a running job gives back on a node is full too, if as many other nodes as the window has units have at least
      as much free at any moment (`_needless`).

    Args:
        demands: the jobs that the model moves, at least one.
        capacity: int64 [node, resource], what nodes have once all jobs of `held` have ended.
        held: what jobs hold that the model does not move.
        horizon: a start that no job of a best plan exceeds, s from now.

    Time: O(n log r + g n log n) for n nodes with what r jobs hold, which have g kinds of free and given back capacity.
    """
    pieces = _Pieces.of(held, capacity.shape[1])
    # What begins later is left as it is. It has ended before the moment from which on each job fits.
    at_first = pieces.begins == 0
    running, later = pieces.where(at_first), pieces.where(~at_first)
    first = _first_fits(demands, capacity, running)
    soonest = [0 if moment is None else moment for moment in first]
    settled = max([*soonest, *later.ends.tolist()])
    total = sum(demand.duration for demand in demands)
    latest = [horizon if None in first else min(horizon, settled + total - demand.duration) for demand in demands]
    ended = running.ends <= min(soonest)
    full = running.ends > max(latest)
    useful = ~ended & ~full
    needless = _needless(demands, capacity, running, useful, full, later)
    full |= useful & needless[running.nodes]
    useful &= ~full
    taken = running.where(full).on(capacity.shape)
    left = [*_together(running.where(useful)), *_together(later)]
    return Relevance(soonest, latest, capacity - taken, left, taken.sum(axis=0))


def _first_fits(demands: Sequence[Demand], capacity: NDArray[np.int64], running: _Pieces) -> list[int | None]:
    """Return when each job first fits beside the running jobs alone, s from now; None: never."""
    moments = [0, *np.unique(running.ends).tolist()]
    free: dict[int, NDArray[np.int64]] = {}

    def fits(demand: Demand, moment: int) -> bool:
        if moment not in free:
            free[moment] = capacity - running.where(running.ends > moment).on(capacity.shape)
        used = demand.amounts > 0
        rooms = (free[moment][:, used] // demand.amounts[used]).min(axis=1, initial=demand.units)
        return int(np.maximum(rooms, 0).sum()) >= demand.units

    found: list[int | None] = []
    for demand in demands:
        # What runs only ends, so that a job which fits goes on fitting.
        low, high = 0, len(moments)
        while low < high:
            middle = 0 if low == 0 and high == len(moments) else (low + high) // 2
            if fits(demand, moments[middle]):
                high = middle
            else:
                low = middle + 1
        found.append(moments[low] if low < len(moments) else None)
    return found


def _needless(
    demands: Sequence[Demand],
    capacity: NDArray[np.int64],
    running: _Pieces,
    useful: NDArray[np.bool_],
    full: NDArray[np.bool_],
    later: _Pieces,
) -> NDArray[np.bool_]:
    """Return the nodes that need give nothing back, bool [node].

    Node a covers node b if a has as much free now and, before the first job on b ends, as much as b ever has. A window
    of u units uses at most u nodes. If u others cover b, one of them is unused in a plan that uses b, and what the plan
    has on b can go there. Covering is transitive and has no circles, so that the nodes that fewer than u others cover
    are enough.
    """
    nodes = len(capacity)
    units = sum(demand.units for demand in demands)
    # No node needs more than what the whole window takes.
    most = sum((demand.units * demand.amounts for demand in demands), np.zeros(capacity.shape[1], dtype=np.int64))
    back = running.where(useful & (running.amounts[:, most > 0] > 0).any(axis=1))
    final = np.minimum(capacity - running.where(full).on(capacity.shape), most)
    now = np.minimum(capacity - running.where(useful | full).on(capacity.shape), most)
    needless: NDArray[np.bool_] = (now == final).all(axis=1)
    # Of nodes that come free together the last in line come first: the search prefers them.
    rank = np.arange(nodes, dtype=np.int64)[::-1]
    opens = np.full(nodes, np.iinfo(np.int64).max // nodes - 1)
    np.minimum.at(opens, back.nodes, back.ends)
    opened = np.zeros(nodes, dtype=np.int64)
    np.maximum.at(opened, back.nodes, back.ends)
    opened[needless] = 0
    opens, opened = opens * nodes + rank, opened * nodes + rank
    # Nodes on which something begins later cover none, and are covered by none.
    apart = np.zeros(nodes, dtype=bool)
    apart[later.nodes] = True
    kinds, kind = np.unique(np.hstack([now, final]), axis=0, return_inverse=True)
    kind = kind.reshape(-1)
    asked = ~needless & ~apart
    for one in np.unique(kind[asked]).tolist():
        covering = np.sort(opened[(kinds >= kinds[one]).all(axis=1)[kind] & ~apart])
        mine = (asked & (kind == one)).nonzero()[0]
        needless[mine] = np.searchsorted(covering, opens[mine]) >= units
    return needless & ~apart


def _together(pieces: _Pieces) -> list[FixedJob]:
    """Return what is held as one job for all that begin and end together."""
    found = []
    order = np.lexsort((pieces.nodes, pieces.ends, pieces.begins)).tolist()
    spans = list(zip(pieces.begins.tolist(), pieces.ends.tolist(), strict=True))
    for (begin, end), group in groupby(order, key=lambda row: spans[row]):
        rows = list(group)
        nodes, place = np.unique(pieces.nodes[rows], return_inverse=True)
        amounts = np.zeros((len(nodes), pieces.amounts.shape[1]), dtype=np.int64)
        np.add.at(amounts, place.reshape(-1), pieces.amounts[rows])
        found.append(FixedJob(begin, end, nodes, amounts))
    return found
