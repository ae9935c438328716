"""Bids: which node sets each job of a window bids on, and how much it prefers each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.solvers.auction.intervals import Ints, NodeLine
from batdispatch.abilities.solvers.auction.node_sets import Windows
from batdispatch.abilities.solvers.auction.problem import JobDemand, Problem
from batdispatch.core.capacity.filling import first_fit

#: The common denominator of all preferences: a preference of 1 is this whole number. Smaller differences are lost.
SCALE = 10**9


class Bid(msgspec.Struct, frozen=True, eq=False):
    """A job's bid on a set of nodes.

    Attributes:
        nodes: positions in the problem, int64 in ascending order. A job that fixes its number of nodes uses all of
            them, and so does one that asks for consecutive nodes; another job uses some of them.
        preference: F_jc, in units of 1 / `SCALE`.
    """

    nodes: Ints
    preference: int


class Offers(NamedTuple):
    """The node sets from which the bids of a job are chosen, those of equal preference in the order of choice.

    Attributes:
        line: the nodes.
        windows: the sets.
        preferences: of the sets, whole numbers in units of 1 / `SCALE`, int64 [window].
    """

    line: NodeLine
    windows: Windows
    preferences: Ints


#: Returns the node sets that a job may bid on.
Generator = Callable[[Problem, JobDemand], Offers]
#: For each job of a problem that bids, its bids.
Bids = Mapping[int, Sequence[Bid]]


class Most(NamedTuple):
    """How many bids there may be.

    Attributes:
        each: of one job (MAXBIDPERJOB).
        all: of the window (MAXBID).
    """

    each: int
    all: int


def uses_all(asking: JobDemand) -> bool:
    """Return whether a job uses every node of a bid that is granted."""
    return asking.least == asking.most or asking.contiguous


def generate(problem: Problem, generator: Generator, last_resort: int, most: Most) -> tuple[Bids, list[int]]:
    """Let the jobs bid, one after the other, until the bids are used up.

    Each job bids on the sets that it prefers most. Of sets that it prefers alike it takes those whose nodes carry the
    fewest bids so far, so that bids are as distinct as possible. A job that fits has at least one bid as long as there
    are bids left: if no window holds it, it bids on the nodes on which first fit would put it.

    Time: O(w b (n + s)) for w jobs, b bids per job, n nodes and s sets to choose from.

    Args:
        problem: the jobs, the most urgent first, and the nodes.
        generator: returns the sets to choose from.
        last_resort: preference of a set that is no window, in units of 1 / `SCALE`.
        most: limits.

    Returns:
        The bids, and the jobs that fit and bid on nothing because all bids were used up.
    """
    load: Ints = np.zeros(len(problem.hosts), dtype=np.int64)
    offers: dict[Any, Offers] = {}
    bids: dict[int, list[Bid]] = {}
    cut: list[int] = []
    left = most.all
    for index in problem.fitting():
        if not left:
            cut.append(index)
            continue
        asking = problem.askings[index]
        request = asking.job.request
        if request not in offers:
            offers[request] = generator(problem, asking)
        count = min(most.each, left)
        bids[index] = _choose(offers[request], load, count) or [_where_first_fit_puts(problem, asking, last_resort)]
        for bid in bids[index]:
            load[bid.nodes] += 1
        left -= len(bids[index])
    return bids, cut


def _choose(offers: Offers, load: Ints, count: int) -> list[Bid]:
    """Return at most `count` bids of a job; `load` says how many bids each node carries already."""
    line, windows, preferences = offers
    load = load[line.nodes].copy()
    chosen: list[int] = []
    for preference in np.unique(preferences)[::-1].tolist():
        alike = np.flatnonzero(preferences == preference)
        if len(alike) > count - len(chosen):
            alike = _most_distinct(windows.where(alike), load, count - len(chosen), alike)
        for window in alike.tolist():
            load[windows.first[window] : windows.end[window]] += 1
        chosen += alike.tolist()
        if len(chosen) == count:
            break
    return [
        Bid(np.sort(line.nodes[windows.first[window] : windows.end[window]]), int(preferences[window]))
        for window in chosen
    ]


def _most_distinct(windows: Windows, load: Ints, count: int, names: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the names of `count` windows, one after the other those whose nodes carry the fewest bids by then."""
    load = load.copy()
    left = np.ones(len(names), dtype=bool)
    chosen = []
    for _ in range(count):
        carried = np.append(0, load.cumsum())
        # Windows that are preferred alike may differ in length only where the job leaves it open.
        on_each = (carried[windows.end] - carried[windows.first]) / (windows.end - windows.first)
        best = int(np.where(left, on_each, np.inf).argmin())
        left[best] = False
        chosen.append(best)
        load[windows.first[best] : windows.end[best]] += 1
    return names[chosen]


def _where_first_fit_puts(problem: Problem, asking: JobDemand, preference: int) -> Bid:
    """Return a bid on the nodes that first fit takes. There is one for each job that fits."""
    allocation = first_fit(problem.ledger.space, problem.capacity, asking.job)
    if allocation is None:
        raise RuntimeError(f"job {asking.job.id} fits, but first fit finds no place for it")
    return Bid(np.searchsorted(problem.hosts, allocation.ids), preference)
