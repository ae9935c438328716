"""Phase 1, the linear program: which share of each job goes to which of its ranges, for the least largest load.

    minimise Lambda
    Lambda >= L_i                                               for each node i     (C1)
    L_i = h_i + sum_j sum_s x_js p_j [i in range s of j] + u_i for each node i     (C2)
    sum_s x_js = 1                                              for each job j      (C3)
    x >= 0, u >= 0, sum_i u_i = U                                                   (C5, relaxed)

(C4), that a range is next to the I/O node, is in the lists of ranges. h_i is for how long node i is taken already,
and U is the work of jobs that the program does not place: it may spread over the nodes as it likes. Without both this
is the program of [1].

Jobs of equal ranges are one *kind*: only the sum of p_j x_js over the jobs of a kind matters, so the program has one
variable for each range of a kind. A load is written as the difference to the load of the node before, which makes
three entries for a variable instead of one for each node of its range. And ranges enter as they are needed: the
program is solved over a few ranges of each kind; its duals price all others, and those that would lower the largest
load enter, until there are none.

Prices pi >= 0 of nodes that sum up to 1 prove a bound, whatever they come from:

    Lambda >= sum_i pi_i h_i + sum_kinds (sum_j p_j) min_s (sum of pi_i over range s) + U min_i pi_i

The bound that is told is the best of those, and so does not depend on the solver's tolerances.

References:
    [1] R. Bleuse. Apprehending heterogeneity at (very) large scale. PhD thesis, Université Grenoble Alpes, 2017.
        (Slides of the defence: "Phase 1, dedicating nodes: linear program", C1 to C5.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from scipy.sparse import coo_array, csr_array

from batdispatch.abilities.solvers.pinned_io.ranges import Floats, Ints, Ranges
from batdispatch.abilities.solvers.solving import Limits
from batdispatch.abilities.solvers.solving.linear import minimise

#: Ranges of each kind that the first program has, evenly spread.
_FIRST = 9
#: Share of the bound by which Lambda may exceed it at the end.
_EXACT = 1e-7


class LineLoad(NamedTuple):
    """What is to be spread over a line of nodes.

    Attributes:
        held: seconds for which each node is taken already, float64 [node].
        ranges: of each kind of jobs.
        work: sum of the durations of each kind's jobs, s, float64 [kind].
        spread: node-seconds of jobs that are not placed here.
    """

    held: Floats
    ranges: Sequence[Ranges]
    work: Floats
    spread: float


class Shares(msgspec.Struct, kw_only=True):
    """Shares of jobs in ranges.

    Attributes:
        columns: for each kind, the ranges that have a share, by their positions in the kind's list, ascending.
        amounts: seconds of the kind's work in each of these, summing up to all of it.
        cost: the largest load, s; infinite where the program was stopped before it had a solution.
        bound: no shares have a smaller largest load, s.
        variables, constraints: of the last program.
        work: iterations of the solver, of all programs.
        rounds: number of programs.
        limited: whether the wall-clock limit ended the search.
    """

    columns: list[Ints]
    amounts: list[Floats]
    cost: float
    bound: float
    variables: int = 0
    constraints: int = 0
    work: float = 0.0
    rounds: int = 0
    limited: bool = False

    @property
    def optimal(self) -> bool:
        """Whether these are shares of the least largest load."""
        return self.cost <= self.bound + 2 * _EXACT * abs(self.bound)


def best_shares(loading: LineLoad, limits: Limits) -> Shares:
    """Return the shares of the least largest load.

    Time: each program has O(n + k) rows and a few variables for each of k kinds on n nodes; to price all W ranges
    takes O(n + W). Some five programs are the rule, for 10,000 jobs on 1,000 nodes too.

    Args:
        loading: what is to be spread.
        limits: when the solver stops; `work` counts iterations, and `wall` holds for each program.
    """
    kinds, nodes = len(loading.ranges), len(loading.held)
    total = float(loading.held.sum() + loading.spread) + sum(
        float(work) * float((ranges.stops - ranges.starts).min())
        for work, ranges in zip(loading.work, loading.ranges, strict=True)
    )
    even = np.full(nodes, 1.0 / nodes)
    pricing = _Pricing(loading)
    found = Shares(columns=[], amounts=[], cost=math.inf, bound=float(pricing.bound(even)[0]))
    # The solver's tolerances are absolute: let the answer be near 1.
    scale = max(total / nodes, float(loading.work.max(initial=0.0)) / 2, 1e-9)
    chosen = pricing.first()
    while True:
        kind, index = pricing.kind[chosen], pricing.index[chosen]
        rows, sides, cost = _program(loading, pricing, chosen, scale)
        left = msgspec.structs.replace(limits, work=limits.work - found.work)
        answer = minimise(cost, rows, sides, left)
        found.rounds += 1
        found.work += answer.work
        found.constraints, found.variables = rows.shape
        found.limited = answer.stopped
        if answer.values is None or answer.duals is None:
            return found
        found.cost = float(answer.values[-1]) * scale
        amounts = np.maximum(answer.values[: len(chosen)], 0.0) * scale
        found.columns, found.amounts = _by_kind(kind, index, amounts, kinds)
        duals = np.append(answer.duals[:nodes], 0.0)
        prices = np.maximum(np.diff(duals), 0.0)
        bound, costs, least = pricing.bound(prices / prices.sum())
        found.bound = max(found.bound, bound)
        if found.cost <= found.bound + _EXACT * abs(found.bound) or found.work >= limits.work:
            return found
        more = pricing.better(chosen, costs, least)
        if not len(more):
            return found
        chosen = np.union1d(chosen, more)


class _Pricing:
    """All ranges of all kinds in one list.

    Attributes:
        kind: of each range, int64 [range of any kind].
        index: its position in the kind's list, int64 [range of any kind].
        starts, stops: its ends, int64 [range of any kind].
    """

    def __init__(self, loading: LineLoad) -> None:
        self._loading = loading
        counts = np.array([len(ranges.starts) for ranges in loading.ranges], dtype=np.int64)
        self._begins = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.kind = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
        self.index = np.arange(len(self.kind), dtype=np.int64) - self._begins[self.kind]
        none = np.zeros(0, dtype=np.int64)
        self.starts = np.concatenate([none, *(ranges.starts for ranges in loading.ranges)])
        self.stops = np.concatenate([none, *(ranges.stops for ranges in loading.ranges)])

    def first(self) -> Ints:
        """Return some ranges of each kind, evenly spread, int64 [chosen]."""
        last = np.diff(self._begins)[:, None] - 1
        picked = np.rint(last * np.linspace(0.0, 1.0, _FIRST)[None, :]).astype(np.int64)
        return np.unique((self._begins[:-1, None] + picked).ravel())

    def bound(self, prices: Floats) -> tuple[float, Floats, Floats]:
        """Return the bound that prices of nodes prove, the price of each range, and the least one of each kind."""
        before = np.concatenate([[0.0], np.cumsum(prices)])
        costs = before[self.stops] - before[self.starts]
        least = np.minimum.reduceat(costs, self._begins[:-1]) if len(costs) else np.zeros(0)
        loading = self._loading
        bound = prices @ loading.held + least @ loading.work + loading.spread * prices.min()
        return float(bound), costs, least

    def better(self, chosen: Ints, costs: Floats, least: Floats) -> Ints:
        """Return ranges that cost less than all chosen ones of their kinds: the first, middle and last cheapest."""
        best = np.full(len(least), np.inf)
        np.minimum.at(best, self.kind[chosen], costs[chosen])
        gains = best - least > 1e-12
        cheapest = np.flatnonzero((costs <= least[self.kind] + 1e-15) & gains[self.kind])
        kinds = self.kind[cheapest]
        begins = np.searchsorted(kinds, np.flatnonzero(gains))
        ends = np.searchsorted(kinds, np.flatnonzero(gains), side="right") - 1
        return np.unique(cheapest[np.concatenate([begins, (begins + ends) // 2, ends])])


def _program(loading: LineLoad, pricing: _Pricing, chosen: Ints, scale: float) -> tuple[csr_array, Floats, Floats]:
    """Return rows, sides and cost of the program over chosen ranges, in units of `scale` seconds.

    Variables: work in each chosen range; w_i = Lambda - L_i for each node; u_i for each node where there is work to be
    spread; Lambda. Rows: for each node the difference of its load and the one before, 0 before the first; for each kind
    its work; the work to be spread.
    """
    nodes, kinds, count = len(loading.held), len(loading.ranges), len(chosen)
    spread = loading.spread > 0
    column, node = np.arange(count), np.arange(nodes)
    starts, stops, kind = pricing.starts[chosen], pricing.stops[chosen], pricing.kind[chosen]
    inside = stops < nodes
    # (C1) and (C2)
    parts = [(starts, column, 1.0), (stops[inside], column[inside], -1.0)]
    for slack in [count, *([count + nodes] if spread else [])]:
        parts += [(node, slack + node, 1.0), (node[1:], slack + node[:-1], -1.0)]
    width = count + nodes * (1 + spread) + 1
    parts.append((np.array([0]), np.array([width - 1]), -1.0))
    # (C3)
    parts.append((nodes + kind, column, 1.0))
    if spread:
        parts.append((np.full(nodes, nodes + kinds), count + nodes + node, 1.0))
    values = np.concatenate([np.full(len(rows), value) for rows, _, value in parts])
    place = (np.concatenate([rows for rows, _, _ in parts]), np.concatenate([columns for _, columns, _ in parts]))
    matrix = coo_array((values, place), shape=(nodes + kinds + spread, width)).tocsr()
    sides = np.concatenate([-np.diff(loading.held, prepend=0.0), loading.work, [loading.spread] * spread]) / scale
    cost = np.zeros(width)
    cost[-1] = 1.0
    return csr_array(matrix), sides, cost


def _by_kind(kind: Ints, index: Ints, amounts: Floats, kinds: int) -> tuple[list[Ints], list[Floats]]:
    """Return the ranges with a share, and the shares, of each kind; `kind` is ascending, and so is `index` in it."""
    if not kinds:
        return [], []
    keep = amounts > 0
    kind, index, amounts = kind[keep], index[keep], amounts[keep]
    cuts = np.searchsorted(kind, np.arange(1, kinds))
    return np.split(index, cuts), np.split(amounts, cuts)
