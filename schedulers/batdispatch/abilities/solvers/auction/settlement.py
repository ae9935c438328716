"""How an auction is settled: the greedy plan, and the program, solved once or twice over groups of nodes."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from batdispatch.abilities.solvers.auction.bid_weights import (
    Rule,
    Variant,
    alpha,
    bound,
    preferences,
    priorities,
    total_weights,
)
from batdispatch.abilities.solvers.auction.bids import Bids
from batdispatch.abilities.solvers.auction.groups import Group
from batdispatch.abilities.solvers.auction.plans import Plan, Weights, greedy, value_of
from batdispatch.abilities.solvers.auction.problem import Problem
from batdispatch.abilities.solvers.auction.sketches import (
    Sketch,
    groups_of,
    links,
    pairs,
    refine_groups,
    sketch_of,
    split,
)
from batdispatch.abilities.solvers.solving import Effort, SolverResult, result_without_solver

#: How often the program is solved again because a group of nodes had no split; the last time, over single nodes.
REFINEMENTS = 2
#: Pairs of a job and a group from which on a program is not solved again for the sake of preferences alone.
LARGE = 4_000
#: About how many entries a program has for each pair of a bid and a group that the bid holds.
LINK_ENTRIES = 3


class AuctionResult(NamedTuple):
    """What came of an auction.

    Attributes:
        found: the plan, and how it was found. Its cost is minus what is sought first: the sum of priorities, or the
            weighted sum.
        value: what is sought, in the order in which it is; larger is better. Comparable for equal rules.
        timed_out: whether the solver was stopped before it had found a plan better than the greedy one or had proved
            that there is none.
        refinements: how often the program was solved again because its plan could not be split over the nodes.
    """

    found: SolverResult[Plan]
    value: tuple[int, ...]
    timed_out: bool
    refinements: int = 0


class _Solved(NamedTuple):
    """What came of one or two solves.

    Attributes:
        found: the last sketch, and the cost and bound of the first goal.
        first: the sketch of the first solve.
        status: of the first solve.
    """

    found: SolverResult[Sketch]
    first: Sketch
    status: str


def settle(problem: Problem, bids: Bids, rule: Rule, variant: Variant, effort: Effort) -> AuctionResult:
    """Return the best plan of an auction that is found within limits.

    lexicographic: the program is solved for the largest sum of priorities, then, with that sum fixed, for the largest
    sum of preferences. A solve is left out if the plan at hand reaches a bound that needs no solver: in the first one,
    all priorities; in the second one, the best bid of every job, if all jobs that bid start.

    The program is made over groups of nodes. If its plan cannot be split over the nodes of some group, the greedy plan
    that begins with what the program granted takes its place. The group is then taken apart and the program is solved
    again, `REFINEMENTS` times at most. It is not if only preferences could gain and the program would be `LARGE`.

    Args:
        problem: the problem.
        bids: at least one bid of some job.
        rule: how preferences are weighed against priorities.
        variant: the published variant, for the rule of its code.
        effort: of the decision, with the limits of each solve. **What the solves take is added.**
    """
    if rule == "lexicographic":
        goals = [priorities(problem, bids), preferences(bids)]
    else:
        goals = [total_weights(problem, bids, alpha(rule, problem, bids, variant))]

    def value(plan: Plan) -> tuple[int, ...]:
        return tuple(value_of(plan, weights) for weights in goals)

    plan = greedy(problem, bids)
    first = -value(plan)[0]
    # If the sum of priorities is that of all jobs, all of them start.
    highest = (bound(goals[0]), *(sum(map(max, weights.values())) for weights in goals[1:]))
    if not effort.limits.work or value(plan) >= highest:
        return AuctionResult(result_without_solver(plan, first, bound=-highest[0]), value(plan), timed_out=False)
    groups = groups_of(problem, bids)
    solved: list[_Solved] = []
    failed: set[int] = set()
    while not solved or (failed and len(solved) <= REFINEMENTS and not effort.beyond):
        hint = sketch_of(problem, plan, groups)
        solved.append(_solve(problem, bids, groups, goals, hint, effort))
        sketch = solved[-1].found.solution
        if sketch is hint:
            failed = set()
            break
        divided, failed = split(problem, groups, sketch)
        if failed:
            # What could not be split is no plan; a greedy one that begins with it may be better than the one at hand.
            others = [greedy(problem, bids, one) for one in (sketch, solved[-1].first)]
            plan = max(plan, *others, key=value)
        else:
            plan = divided
        groups = refine_groups(groups, failed if len(solved) < REFINEMENTS else range(len(groups)))
        if value(plan)[0] == value_of(sketch, goals[0]) and pairs(problem, bids, groups) > LARGE:
            break
    found = solved[-1].found
    cost = -value(plan)[0]
    result = SolverResult(
        solution=plan,
        cost=cost,
        # A relaxation's optimum proves nothing about a plan that is not split from it.
        status="FEASIBLE" if failed and found.status in _PROVEN else found.status,
        # Each program is a relaxation of the one over single nodes.
        bound=min(max(one.bound for one, *_ in solved), cost),
        first=first,
        **effort.figures(),
    )
    return AuctionResult(result, value(plan), solved[-1].status not in _PROVEN and cost >= first, len(solved) - 1)


def _solve(
    problem: Problem,
    bids: Bids,
    groups: Sequence[Group],
    goals: Sequence[Weights],
    hint: Sketch,
    effort: Effort,
) -> _Solved:
    """Return the best sketch for one goal after the other."""
    # A solver takes half a second to load, which commands that only list dispatchers should not pay.
    from batdispatch.abilities.solvers.auction.auction_model import AuctionProgram

    program = functools.cache(lambda: AuctionProgram(problem, bids, groups))
    entries = LINK_ENTRIES * links(problem, bids, groups)

    def solve(sketch: Sketch, weights: Weights, highest: int, keep: Weights | None = None) -> SolverResult[Sketch]:
        cost = -value_of(sketch, weights)
        if cost <= -highest:
            return result_without_solver(sketch, cost, bound=-highest)

        def build() -> AuctionProgram:
            if keep is not None:
                program().keeping(keep, value_of(sketch, keep))
            return program().maximising(weights, sketch)

        return effort.run(build, (sketch, cost), bound=-highest, entries=entries)

    most = solve(hint, goals[0], bound(goals[0]))
    if len(goals) == 1:
        return _Solved(most, most.solution, most.status)
    # If not all jobs start, which jobs do may still change with the sum of priorities fixed.
    every = len(most.solution) == len(bids)
    highest = sum(max(own) if every else max(0, *own) for own in goals[1].values())
    liked = solve(most.solution, goals[1], highest, goals[0])
    both = msgspec.structs.replace(most, solution=liked.solution, status=_both(most.status, liked.status))
    return _Solved(both, most.solution, most.status)


#: Statuses of an optimum.
_PROVEN = ("OPTIMAL", "BOUND")


def _both(first: str, second: str) -> str:
    """Return the status of two solves of which the second began with the solution of the first."""
    if first not in _PROVEN:
        return first
    if second in _PROVEN:
        return "BOUND" if first == second == "BOUND" else "OPTIMAL"
    return "FEASIBLE" if second == "UNKNOWN" else second
