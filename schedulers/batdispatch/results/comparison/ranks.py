"""Ranks of dispatchers over many replicates or workloads, and which of them can be told apart: a critical difference.

J. Demsar. Statistical comparisons of classifiers over multiple data sets. Journal of Machine Learning Research 7, 2006,
section 3.2: Friedman's test, Iman and Davenport's F of it, and Nemenyi's critical difference. Friedman's statistic is
scipy's, which corrects for ties; Demsar's formula does not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from batdispatch.results.comparison.aims import Aim
from batdispatch.results.comparison.pairs import ALPHA, LEAST
from batdispatch.results.comparison.table import Floats, Measured, settled


@dataclass(frozen=True)
class Ranking:
    """Average ranks, 1 the best.

    Attributes:
        dispatchers: from the best rank on.
        ranks: of these.
        blocks: over how many replicates or workloads.
        chi2: Friedman's statistic, with k - 1 degrees of freedom for k dispatchers.
        f: Iman and Davenport's, with k - 1 and (k - 1)(blocks - 1).
        p: of f.
        difference: ranks this far apart or further differ significantly (Nemenyi).
        groups: dispatchers that cannot be told apart, from the best rank on: largest runs of at least two.
    """

    dispatchers: tuple[str, ...]
    ranks: tuple[float, ...]
    blocks: int
    chi2: float
    f: float
    p: float
    difference: float
    groups: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Refused:
    """There is no ranking.

    Attributes:
        why: a sentence.
    """

    why: str


def rank(table: Measured, aim: Aim, *, blocks: str = "replicates", alpha: float = ALPHA) -> Ranking | Refused:
    """Rank the dispatchers of a table, or say why they cannot be ranked.

    Args:
        table: each row is a block: a replicate, or a workload (see `by_workload`).
        aim: what for.
        blocks: what rows are called, in words.
        alpha: significance.
    """
    count, many = table.values.shape
    if count < LEAST:
        return Refused(
            f"Nothing is ranked: there are {count} {blocks}, and of fewer than {LEAST} even a dispatcher that always "
            f"wins may win by chance in more than {100 * alpha:g} % of the cases."
        )
    if many < 3:
        return Refused(
            "Nothing is ranked: ranks need three dispatchers. For two, the paired comparison says all there is."
        )
    if len(table.whole) < many:
        missing = ", ".join(name for name in table.dispatchers if name not in table.whole)
        return Refused(f"Nothing is ranked: {missing} has no value on some {blocks}, and ranks need all of them.")
    ranks = ranked(aim.losing(table.values))
    average = ranks.mean(axis=0)
    if (ranks == ranks[:, :1]).all():
        return Refused(f"Nothing is ranked: all dispatchers are equal on all {blocks}.")
    chi2, f, p = friedman(ranks)
    if p >= alpha:
        return Refused(
            f"Nothing is ranked: Friedman's test finds no difference between the {many} dispatchers over {count} "
            f"{blocks} (F = {f:.2f}, p = {p:.2f})."
        )
    order = sorted(range(many), key=lambda column: (average[column], column))
    names = tuple(table.dispatchers[column] for column in order)
    ordered = tuple(float(average[column]) for column in order)
    least = critical_difference(many, count, alpha)
    return Ranking(names, ordered, count, chi2, f, p, least, groups(names, ordered, least))


def by_workload(table: Measured, aim: Aim) -> Measured:
    """Return one row for each workload: means over its replicates, geometric ones of what compares by ratios."""
    rows = []
    for workload in table.workloads:
        values = table.on(workload).values
        if aim.way == "ratio":
            rows.append(np.exp(np.log(values + aim.added).mean(axis=0)) - aim.added)
        else:
            rows.append(values.mean(axis=0))
    blocks = tuple(next(block for block in table.blocks if block.workload == name) for name in table.workloads)
    return Measured(table.metric, blocks, table.dispatchers, np.array(rows))


def ranked(losing: Floats) -> Floats:
    """Return ranks [block, dispatcher] of values of which less is better; equal ones share the mean of their ranks."""
    return np.asarray(stats.rankdata(settled(losing), axis=1))


def friedman(ranks: Floats) -> tuple[float, float, float]:
    """Return Friedman's chi-squared of ranks [block, dispatcher], Iman and Davenport's F of it, and the p-value of F.

    F = (N - 1) chi2 / (N (k - 1) - chi2) for N blocks and k >= 3 dispatchers.
    """
    blocks, many = ranks.shape
    chi2 = float(stats.friedmanchisquare(*ranks.T).statistic)
    rest = blocks * (many - 1) - chi2
    # All blocks agree in every rank.
    f = math.inf if rest <= 1e-9 else (blocks - 1) * chi2 / rest
    return chi2, f, float(stats.f.sf(f, many - 1, (many - 1) * (blocks - 1)))


def critical_difference(dispatchers: int, blocks: int, alpha: float = ALPHA) -> float:
    """Return Nemenyi's critical difference of average ranks: q sqrt(k (k + 1) / (6 N)).

    q is the quantile of the studentised range of k means with infinitely many degrees of freedom, over sqrt(2).
    """
    q = float(stats.studentized_range.ppf(1 - alpha, dispatchers, np.inf)) / math.sqrt(2)
    return q * math.sqrt(dispatchers * (dispatchers + 1) / (6 * blocks))


def groups(names: Sequence[str], ranks: Sequence[float], difference: float) -> tuple[tuple[str, ...], ...]:
    """Return the largest runs of dispatchers whose ranks, ascending, lie less than the critical difference apart."""
    found: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = max(index for index in range(first, len(ranks)) if ranks[index] - ranks[first] < difference)
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return tuple(tuple(names[first : last + 1]) for first, last in found)
