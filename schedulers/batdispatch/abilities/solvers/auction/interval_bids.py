"""AUCSCHED's bids (variant 2): windows at the ends of intervals, windows inside them, unions of successive intervals.

    F = 1 - (c1 + c2 nodes / (1 + N) + c3 nodesets / (1 + nodesets_g))

N is the number of nodes, `nodes` how many are in the set, `nodesets_g` how many intervals there are for the job, and
`nodesets` over how many of them the set spreads. (c1, c2, c3) depends on the kind of set and on the job:

==============  ========================  ==================
set             number of nodes is fixed  it is open
==============  ========================  ==================
at an end       (0, 0, 0)                 (0, .25, 0)
inside          (.5, 0, 0)                (.25, .25, 0)
union           (.5, 0, .5)               (.5, .25, .25)
==============  ========================  ==================

A union is a window over several intervals whose gaps are left out. Windows inside an interval and unions are the
shortest ones from each place on.
"""

from __future__ import annotations

import numpy as np

from batdispatch.abilities.solvers.auction.bids import SCALE, Offers
from batdispatch.abilities.solvers.auction.intervals import Ints, line_of
from batdispatch.abilities.solvers.auction.node_sets import aligned_windows, join_windows, windows_from
from batdispatch.abilities.solvers.auction.problem import JobDemand, Problem

#: (c1, c2, c3) of sets at an end, inside, and of unions.
_FIXED = np.array([(0.0, 0.0, 0.0), (0.5, 0.0, 0.0), (0.5, 0.0, 0.5)])
_OPEN = np.array([(0.0, 0.25, 0.0), (0.25, 0.25, 0.0), (0.5, 0.25, 0.25)])
#: A set that is no window at all is preferred less than any other.
LAST_RESORT = 0


class IntervalBids:
    """Returns the node sets of a job in the order of the published code: at an end, inside, unions."""

    def __init__(self, classes: int) -> None:
        """Take at most so many sets for each job."""
        self._classes = classes

    def __call__(self, problem: Problem, asking: JobDemand) -> Offers:
        """Return the node sets of a job. Time: O(n log n) for n nodes."""
        line = line_of(asking.room, problem.hosts)
        firsts, ends = line.intervals
        shortest = windows_from(line, asking, np.arange(len(line)))
        over = line.run[shortest.end - 1] - line.run[shortest.first]
        inside = shortest.where(np.flatnonzero(over == 0))
        # A request for consecutive nodes cannot spread over intervals.
        unions = shortest.where(np.flatnonzero((over > 0) & (not asking.contiguous)))
        at_ends = aligned_windows(line, asking, firsts, ends)
        windows = join_windows([at_ends, inside, unions])
        kind = np.repeat([1, 2], [len(windows.first) - len(unions.first), len(unions.first)])
        kind[: len(at_ends.first)] = 0
        kept = np.arange(min(len(kind), self._classes))
        windows, kind = windows.where(kept), kind[kept]
        sets = line.run[windows.end - 1] - line.run[windows.first] + 1
        return Offers(
            line,
            windows,
            preference(
                kind,
                windows.end - windows.first,
                sets,
                nodes_in_all=len(problem.hosts),
                sets_in_all=len(firsts),
                fixed=asking.least == asking.most,
            ),
        )


def preference(kind: Ints, nodes: Ints, sets: Ints, *, nodes_in_all: int, sets_in_all: int, fixed: bool) -> Ints:
    """Return F for node sets, int64 [set], in units of 1 / `SCALE`.

    Args:
        kind: 0 at an end, 1 inside, 2 union, int64 [set].
        nodes: how many nodes each has, int64 [set].
        sets: over how many intervals each spreads, int64 [set].
        nodes_in_all: N.
        sets_in_all: nodesets_g.
        fixed: whether the job fixes its number of nodes.
    """
    weights = (_FIXED if fixed else _OPEN)[kind]
    shares = np.stack([np.ones(len(kind)), nodes / (1 + nodes_in_all), sets / (1 + sets_in_all)], axis=1)
    return np.asarray(np.rint(SCALE * (1 - (weights * shares).sum(axis=1))), dtype=np.int64)
