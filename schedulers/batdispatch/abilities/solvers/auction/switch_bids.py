"""AUCSCHED's bids in variant 3: windows on the nodes in the order of the network's switches.

    F = 1 + nodes / N + level / maxLevel - g / gmax,       the smaller the better

`nodes` is the number of nodes in the set, N that of the machine, `level` that of the lowest switch above all of them,
counted from 0 (see `Topology.switches`), and maxLevel that of the uppermost switch. Without a known network, or with a
single switch, the level is 0. A request asks for one number of GPUs and not for a range of them: so g, the GPUs offered
on each node, is always gmax, the most that the job would take, and F = nodes / N + level / maxLevel.

The interval of a switch are the nodes below it that can take the job. The nodes are put in an order in which those
below a switch stand together, whatever the level, so that each interval is a stretch of this order.
"""

from __future__ import annotations

import numpy as np

from batdispatch.abilities.solvers.auction.bids import SCALE, Offers
from batdispatch.abilities.solvers.auction.intervals import Ints, line_of
from batdispatch.abilities.solvers.auction.node_sets import aligned_windows, join_windows, windows_from
from batdispatch.abilities.solvers.auction.problem import JobDemand, Problem

#: A set that is no window counts as all nodes below the uppermost switch.
LAST_RESORT = -2 * SCALE


class SwitchBids:
    """Returns the node sets of a job: at an end of a switch's interval, on the lowest level first; then all others."""

    def __init__(self, classes: int) -> None:
        """Take at most so many sets for each job."""
        self._classes = classes

    def __call__(self, problem: Problem, asking: JobDemand) -> Offers:
        """Return the node sets of a job. Time: O(l n log n) for n nodes and l levels."""
        topology = problem.ledger.machine.topology
        levels = topology.switches() if topology is not None else []
        alone = np.zeros_like(problem.hosts)
        above = np.stack([level[problem.hosts] for level in levels] or [alone])
        # By the uppermost switch first; np.lexsort takes the first key last.
        order = np.lexsort((problem.hosts, *above))
        line = line_of(asking.room, problem.hosts, order)
        above = above[:, line.nodes]
        found = []
        for level in range(len(above)):
            changes = np.flatnonzero(np.diff(above[level])) + 1
            ends = np.append(changes, len(line))
            found.append(aligned_windows(line, asking, np.append(0, changes), ends))
        windows = join_windows([*found, windows_from(line, asking, np.arange(len(line)))])
        if asking.contiguous:
            windows = windows.where(np.flatnonzero(line.run[windows.first] == line.run[windows.end - 1]))
        windows = windows.where(np.arange(min(len(windows.first), self._classes)))
        return Offers(
            line,
            windows,
            preference(windows.end - windows.first, level_of(above, *windows), len(above), len(problem.hosts)),
        )


def level_of(above: Ints, first: Ints, end: Ints) -> Ints:
    """Return the level of the lowest switch above all nodes of windows, int64 [window].

    Args:
        above: which switch of each level each place of the line is below, int64 [level, place].
        first: first places of the windows.
        end: the places behind their last ones.
    """
    # Nodes below one switch stand together: what the first and the last node share is shared by all.
    return np.asarray((above[:, first] != above[:, end - 1]).sum(axis=0), dtype=np.int64)


def preference(nodes: Ints, level: Ints, levels: int, nodes_in_all: int) -> Ints:
    """Return -F for node sets, int64 [set], in units of 1 / `SCALE`.

    Args:
        nodes: how many nodes each has, int64 [set].
        level: of the switch above each, int64 [set].
        levels: how many levels there are.
        nodes_in_all: N.
    """
    return -np.rint(SCALE * (nodes / nodes_in_all + level / max(levels - 1, 1))).astype(np.int64)
