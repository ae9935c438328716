"""What the bids weigh: priorities and preferences, and the rules for adding them up.

The slides maximise sum (P_j + alpha F_jc) b_jc, where alpha is to let preferences break ties only. No constant rule of
the sources does that:

- slides: alpha = 1 / the smallest difference between two priorities. With P = 101, F = 0 against P = 100, F = 1 the
  two tie, and sums of priorities may differ by less than any two priorities do.
- code: the smallest priority / (number of bids + 1), and a third of the smallest difference in variant 3. The former
  lets preferences win over priorities.

So by default the two are sought one after the other: the largest sum of P first, then with that sum the largest sum of
F.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Literal

from batdispatch.abilities.solvers.auction.bids import SCALE, Bids
from batdispatch.abilities.solvers.auction.plans import Weights
from batdispatch.abilities.solvers.auction.problem import Problem

#: How preferences are weighed against priorities.
Rule = Literal["lexicographic", "slides", "code"]
#: The published variants.
Variant = Literal[2, 3]
#: Largest sum of the weights of a plan.
LARGEST = 2**60
#: Largest sum of the weights of all bids. CP-SAT adds up in 64 bits with a bit to spare. It takes all bids of a job
#: together, since it does not see that one of them is granted at most.
LARGEST_OF_ALL = 2**62 - 1


def priorities(problem: Problem, bids: Bids) -> Weights:
    """Return P_j for each bid."""
    return {job: [problem.askings[job].priority] * len(offered) for job, offered in bids.items()}


def preferences(bids: Bids) -> Weights:
    """Return F_jc for each bid, in units of 1 / `SCALE`."""
    return {job: [bid.preference for bid in offered] for job, offered in bids.items()}


def alpha(rule: Rule, problem: Problem, bids: Bids, variant: Variant) -> Fraction:
    """Return alpha by the rule of the slides or of the published code.

    Jobs of equal priority have no difference; where there is no other, the difference is 1.
    """
    values = sorted({problem.askings[job].priority for job in bids})
    smallest = min((b - a for a, b in pairwise(values)), default=1)
    if rule == "slides":
        return Fraction(1, smallest)
    if variant == 3:
        return Fraction(smallest, 3)
    return Fraction(values[0], sum(len(offered) for offered in bids.values()) + 1)


def total_weights(problem: Problem, bids: Bids, factor: Fraction) -> Weights:
    """Return P_j + alpha F_jc for each bid, times a power of 2 and rounded: the largest for which no sum is too large.

    Args:
        problem: the problem.
        bids: the bids.
        factor: alpha.
    """
    weights = {
        job: [problem.askings[job].priority + factor * Fraction(bid.preference, SCALE) for bid in offered]
        for job, offered in bids.items()
    }
    total = sum(max(abs(weight) for weight in own) for own in weights.values()) or 1
    power = max(int(LARGEST / total).bit_length() - 1, 0)
    while power and _sum_of_all(_scaled(weights, power)) > LARGEST_OF_ALL:
        power -= 1
    return _scaled(weights, power)


def _scaled(weights: Mapping[int, Sequence[Fraction]], power: int) -> Weights:
    """Return weights times 2^power, rounded."""
    return {job: [round(weight * 2**power) for weight in own] for job, own in weights.items()}


def _sum_of_all(weights: Weights) -> int:
    """Return the sum of the weights of all bids that count for their plan, or of all that count against it."""
    listed = [weight for own in weights.values() for weight in own]
    return max(sum(weight for weight in listed if weight > 0), -sum(weight for weight in listed if weight < 0))


def bound(weights: Weights) -> int:
    """Return a sum that no plan exceeds: each job is granted its heaviest bid, unless that counts against it."""
    return sum(max(0, *own) for own in weights.values())
