"""Ranks of dispatchers over many replicates or workloads, and which of them can be told apart.

A rank is the mean of a dispatcher's places on the replicates, ties sharing theirs. Which two can be told apart is
said by the same procedure as everywhere, on each pair (`pairs`), so that a rank and an interval cannot disagree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import stats

from batdispatch.abilities.campaigns.page.aims import Aim
from batdispatch.abilities.campaigns.page.pairs import pair
from batdispatch.abilities.campaigns.page.table import Floats, RunMetric
from batdispatch.abilities.campaigns.statistics.geometric import geometric_mean
from batdispatch.abilities.campaigns.statistics.rounding import round_significant
from batdispatch.abilities.campaigns.statistics.significance import ALPHA, LEAST


@dataclass(frozen=True)
class Ranking:
    """Average ranks, 1 the best.

    Attributes:
        dispatchers: from the best rank on.
        ranks: of these.
        blocks: over how many replicates or workloads.
        ties: each two dispatchers that cannot be told apart, from the best rank on.
        groups: neighbours in rank of which no two can be told apart: the largest runs of at least two.
    """

    dispatchers: tuple[str, ...]
    ranks: tuple[float, ...]
    blocks: int
    ties: tuple[tuple[str, str], ...]
    groups: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class NoRanking:
    """There is no ranking.

    Attributes:
        why: a sentence.
    """

    why: str


def rank(table: RunMetric, aim: Aim, *, blocks: str = "replicates") -> Ranking | NoRanking:
    """Rank the dispatchers of a table, or say why they cannot be ranked.

    Args:
        table: each row is a block: a replicate, or a workload (see `by_workload`).
        aim: what for.
        blocks: what rows are called, in words.
    """
    count, many = table.values.shape
    if table.size < LEAST:
        there = f"are {table.size} {blocks}"
        if table.size < count:
            there = f"is room for {table.size} {blocks} that share no job"
        return NoRanking(
            f"Nothing is ranked: there {there}, and of fewer than {LEAST} even a dispatcher that always wins may win "
            f"by chance in more than {100 * ALPHA:g} % of the cases."
        )
    if many < 3:
        return NoRanking(
            "Nothing is ranked: ranks need three dispatchers. For two, the paired comparison says all there is."
        )
    if len(table.whole) < many:
        missing = ", ".join(name for name in table.dispatchers if name not in table.whole)
        return NoRanking(f"Nothing is ranked: {missing} has no value on some {blocks}, and ranks need all of them.")
    ranks = rank_blocks(aim.losing(table.values))
    if (ranks == ranks[:, :1]).all():
        return NoRanking(f"Nothing is ranked: all dispatchers are equal on all {blocks}.")
    average = ranks.mean(axis=0)
    order = sorted(range(many), key=lambda column: (average[column], column))
    names = tuple(table.dispatchers[column] for column in order)
    pairs = [pair(table, aim, one, other) for one, other in combinations(names, 2)]
    if all(one.p is None for one in pairs):
        return NoRanking(
            f"Nothing is ranked: the {aim.words} of all {blocks} together is one value of each dispatcher."
        )
    ties = tuple((one.ours, one.theirs) for one in pairs if not one.apart)
    return Ranking(names, tuple(float(average[column]) for column in order), count, ties, groups_of(names, ties))


def rank_blocks(values: Floats) -> Floats:
    """Return ranks [block, dispatcher] of values of which less is better; equal ones share the mean of their ranks."""
    return np.asarray(stats.rankdata(round_significant(values), axis=1))


def groups_of(names: Sequence[str], ties: Sequence[tuple[str, str]]) -> tuple[tuple[str, ...], ...]:
    """Return the largest runs of at least two neighbours of which each two are a tie.

    Args:
        names: from the best rank on.
        ties: pairs of these, each in the order of `names`.
    """
    tied, groups = set(ties), list[tuple[int, int]]()
    for first in range(len(names)):
        last = first
        while last + 1 < len(names) and all((names[at], names[last + 1]) in tied for at in range(first, last + 1)):
            last += 1
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return tuple(tuple(names[first : last + 1]) for first, last in groups)


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
