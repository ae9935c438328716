"""Ranks of dispatchers over many replicates or workloads, and which of them can be told apart: a critical difference.

J. Demsar. Statistical comparisons of classifiers over multiple data sets. Journal of Machine Learning Research 7, 2006,
section 3.2: Friedman's test, Iman and Davenport's F of it, and Nemenyi's critical difference.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from batdispatch.report.replicates.aims import Aim
from batdispatch.report.replicates.table import Floats, RunMetric
from batdispatch.results.statistics.friedman import friedman, rank_blocks
from batdispatch.results.statistics.geometric import geometric_mean
from batdispatch.results.statistics.nemenyi import critical_difference, groups_within
from batdispatch.results.statistics.significance import ALPHA, LEAST


@dataclass(frozen=True)
class Ranking:
    """Average ranks, 1 the best.

    Attributes:
        dispatchers: from the best rank on.
        ranks: of these.
        blocks: over how many replicates or workloads.
        f: Iman and Davenport's statistic, with k - 1 and (k - 1)(blocks - 1) degrees of freedom for k dispatchers.
        p: of f.
        difference: ranks this far apart or further differ significantly (Nemenyi).
        groups: dispatchers that cannot be told apart, from the best rank on: largest runs of at least two.
    """

    dispatchers: tuple[str, ...]
    ranks: tuple[float, ...]
    blocks: int
    f: float
    p: float
    difference: float
    groups: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class NoRanking:
    """There is no ranking.

    Attributes:
        why: a sentence.
    """

    why: str


def rank(table: RunMetric, aim: Aim, *, blocks: str = "replicates", alpha: float = ALPHA) -> Ranking | NoRanking:
    """Rank the dispatchers of a table, or say why they cannot be ranked.

    Args:
        table: each row is a block: a replicate, or a workload (see `by_workload`).
        aim: what for.
        blocks: what rows are called, in words.
        alpha: significance.
    """
    count, many = table.values.shape
    if table.size < LEAST:
        apart = "" if table.size == count else " that share no job"
        return NoRanking(
            f"Nothing is ranked: there are {table.size} {blocks}{apart}, and of fewer than {LEAST} even a dispatcher "
            f"that always wins may win by chance in more than {100 * alpha:g} % of the cases."
        )
    if many < 3:
        return NoRanking(
            "Nothing is ranked: ranks need three dispatchers. For two, the paired comparison says all there is."
        )
    if len(table.whole) < many:
        missing = ", ".join(name for name in table.dispatchers if name not in table.whole)
        return NoRanking(f"Nothing is ranked: {missing} has no value on some {blocks}, and ranks need all of them.")
    ranks = rank_blocks(aim.losing(table.values))
    average = ranks.mean(axis=0)
    if (ranks == ranks[:, :1]).all():
        return NoRanking(f"Nothing is ranked: all dispatchers are equal on all {blocks}.")
    _, f, p = friedman(ranks)
    if p >= alpha:
        return NoRanking(
            f"Nothing is ranked: Friedman's test finds no difference between the {many} dispatchers over {count} "
            f"{blocks} (F = {f:.2f}, p = {p:.2f})."
        )
    order = sorted(range(many), key=lambda column: (average[column], column))
    names = tuple(table.dispatchers[column] for column in order)
    ordered = tuple(float(average[column]) for column in order)
    least = critical_difference(many, count, alpha)
    return Ranking(names, ordered, count, f, p, least, groups_within(names, ordered, least))


def by_workload(table: RunMetric, aim: Aim) -> RunMetric:
    """Return one row for each workload: of the windows of a log, the figure of the log; else the mean over replicates.

    The mean is a geometric one of what compares by ratios. The figure of a log is the mean over its windows, or the
    largest of what is the most of all jobs.
    """
    rows = [_over_replicates(table.on(workload), aim) for workload in table.workloads]
    blocks = tuple(next(block for block in table.blocks if block.workload == name) for name in table.workloads)
    return RunMetric(table.metric, blocks, table.dispatchers, np.array(rows))


def _over_replicates(table: RunMetric, aim: Aim) -> Floats:
    if table.kind == "window":
        return np.asarray(table.values.max(axis=0) if aim.extreme else table.values.mean(axis=0))
    return geometric_mean(table.values, aim.added, axis=0) if aim.way == "ratio" else table.values.mean(axis=0)
