"""Plans of an auction: which bids are granted, what they weigh, and the greedy plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from batdispatch.abilities.solvers.auction.bids import Bid, Bids, uses_all
from batdispatch.abilities.solvers.auction.intervals import Ints
from batdispatch.abilities.solvers.auction.problem import Choice, JobDemand, Problem
from batdispatch.core.capacity.filling import fill

#: For each job and each of its bids, a whole number; the plan with the largest sum is sought.
Weights = Mapping[int, Sequence[int]]


class Grant(NamedTuple):
    """A bid that is granted: its index among the job's bids, and how many units go on which node."""

    bid: int
    units: Mapping[int, int]


#: For each job that starts, its grant.
Plan = Mapping[int, Grant]


class BidGrants(Protocol):
    """Whatever says which bid of a job is granted."""

    @property
    def bid(self) -> int:
        """The index of the bid among the job's bids."""


def value_of(plan: Mapping[int, BidGrants], weights: Weights) -> int:
    """Return the sum of the weights of the bids that a plan grants."""
    return sum(weights[job][grant.bid] for job, grant in plan.items())


def choice_of(problem: Problem, plan: Plan) -> Choice:
    """Return where each job of a problem starts under a plan."""
    return [problem.allocation(plan[job].units) if job in plan else None for job in range(len(problem.askings))]


def greedy(problem: Problem, bids: Bids, wishes: Mapping[int, BidGrants] | None = None) -> Plan:
    """Grant the jobs, the most urgent first, the bid that they prefer most of those for which there is still room.

    A solution of the program, and what the dispatcher falls back to. `Problem.greedy` goes through the jobs in the same
    order, puts each on the lowest nodes wherever they are, and may therefore start others.

    Time: O(w b n) for w jobs with b bids each, and n nodes.

    Args:
        problem: the problem.
        bids: the bids.
        wishes: jobs that come before all others, each with a bid that it prefers to all others. Of these, jobs that
            take something once of each node come first: they need nodes, where others may fill what is left.
    """
    wishes = wishes or {}
    space, free = problem.ledger.space, problem.capacity
    plan: dict[int, Grant] = {}
    for job in sorted(bids, key=lambda one: (one not in wishes, one in wishes and not _once(problem, one), one)):
        asking, offered = problem.askings[job], bids[job]
        wish = wishes[job].bid if job in wishes else -1
        if not space.fits(free, asking.job):
            continue
        room = np.minimum(space.room(free, asking.job)[problem.hosts], asking.room)
        for index in sorted(range(len(offered)), key=lambda bid: (bid != wish, -offered[bid].preference)):
            units = _spread(problem, asking, offered[index], room)
            if units is not None:
                plan[job] = Grant(index, units)
                free = space.take(free, asking.job, problem.allocation(units))
                break
    return plan


def _once(problem: Problem, job: int) -> bool:
    asking = problem.askings[job]
    return bool(asking.once[asking.room > 0].any())


def _spread(problem: Problem, asking: JobDemand, bid: Bid, room: Ints) -> Mapping[int, int] | None:
    """Return units on the nodes of a bid, the first ones as full as their room allows, or None if they do not fit."""
    here = room[bid.nodes]
    if int(here.sum()) < asking.units:
        return None
    if not uses_all(asking):
        inside = np.zeros_like(room)
        inside[bid.nodes] = here
        allocation = fill(inside, problem.ledger.space.need(asking.job))
        return None if allocation is None else dict(allocation.per_host())
    if not here.all() or len(here) > asking.units:
        return None
    # Each node takes a unit, the rest fills them up in order.
    counts = np.ones_like(here)
    filled = np.minimum((here - 1).cumsum(), asking.units - len(here))
    counts += np.diff(filled, prepend=0)
    return dict(zip(bid.nodes.tolist(), counts.tolist(), strict=True))
