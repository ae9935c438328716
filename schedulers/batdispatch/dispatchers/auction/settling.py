"""How an auction is settled: the greedy plan, and the program solved once or twice."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from batdispatch.dispatchers.auction.bids import Bids
from batdispatch.dispatchers.auction.plans import Plan, Weights, greedy, value_of
from batdispatch.dispatchers.auction.problem import Problem
from batdispatch.dispatchers.auction.weighing import Rule, Variant, added, alpha, bound, preferences, priorities
from batdispatch.parts.solving import Found, Limits, run, settled


class Settled(NamedTuple):
    """What came of an auction.

    Attributes:
        found: the plan, and how it was found. Its cost is minus what is sought first: the sum of priorities, or the
            weighted sum.
        value: what is sought first and what is sought second, larger is better; comparable for equal rules.
        timed_out: whether the solver was stopped before it had found a plan better than the greedy one or had proved
            that there is none.
    """

    found: Found[Plan]
    value: tuple[int, int]
    timed_out: bool


def settle(
    problem: Problem, bids: Bids, rule: Rule, variant: Variant, limits: Limits, clock: Callable[[], float]
) -> Settled:
    """Return the best plan of an auction that is found within limits.

    lexicographic: the program is solved for the largest sum of priorities, then, with that sum fixed, for the largest
    sum of preferences. A solve is left out if the plan at hand reaches a bound that needs no solver: in the first one,
    all priorities; in the second one, the best bid of every job, if all jobs that bid start.

    Args:
        problem: the problem.
        bids: at least one bid of some job.
        rule: how preferences are weighed against priorities.
        variant: the published variant, for the rule of its code.
        limits: for each solve.
        clock: seconds, for the account.
    """
    # A solver takes half a second to load, which commands that only list dispatchers should not pay.
    from batdispatch.dispatchers.auction.auction_model import AuctionProgram

    program = functools.cache(lambda: AuctionProgram(problem, bids))

    def solve(weights: Weights, plan: Plan, highest: int, keep: Weights | None = None) -> Found[Plan]:
        cost = -value_of(plan, weights)
        if cost <= -highest or not limits.work:
            return settled(plan, cost, bound=-highest)

        def build() -> AuctionProgram:
            if keep is not None:
                program().keeping(keep, value_of(plan, keep))
            return program().maximising(weights, plan)

        return run(build, (plan, cost), bound=-highest, limits=limits, clock=clock)

    began = clock()
    plan = greedy(problem, bids)
    if rule != "lexicographic":
        weights = added(problem, bids, alpha(rule, problem, bids, variant))
        only = solve(weights, plan, bound(weights))
        return Settled(only, (-int(only.cost), 0), _timed_out(only))
    first, second = priorities(problem, bids), preferences(bids)
    started = clock()
    most = solve(first, plan, bound(first))
    # If not all jobs start, which jobs do may still change with the sum of priorities fixed.
    every = len(most.solution) == len(bids)
    likes = solve(
        second, most.solution, sum(max(own) for own in second.values()) if every else _likeable(second), first
    )
    both = msgspec.structs.replace(
        most,
        solution=likes.solution,
        status=_both(most.status, likes.status),
        variables=max(most.variables, likes.variables),
        constraints=max(most.constraints, likes.constraints),
        build_seconds=started - began + most.build_seconds + likes.build_seconds,
        solve_seconds=most.solve_seconds + likes.solve_seconds,
        work=most.work + likes.work,
        limited=most.limited or likes.limited,
    )
    return Settled(both, (-int(most.cost), -int(likes.cost)), _timed_out(most))


def _likeable(second: Weights) -> int:
    """Return a sum of preferences that no plan exceeds, whichever jobs start."""
    return sum(max(0, *own) for own in second.values())


def _both(first: str, second: str) -> str:
    """Return the status of two solves of which the second began with the solution of the first."""
    if first not in ("OPTIMAL", "BOUND"):
        return first
    if second in ("OPTIMAL", "BOUND"):
        return "BOUND" if first == second == "BOUND" else "OPTIMAL"
    return "FEASIBLE" if second in ("FEASIBLE", "UNKNOWN") else second


def _timed_out(found: Found[Plan]) -> bool:
    if found.status == "FEASIBLE":
        return found.cost >= found.first
    return not found.solved
