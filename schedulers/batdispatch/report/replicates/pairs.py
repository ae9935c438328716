"""Two dispatchers on the same replicates: how far apart they are, how often one wins, and whether that may be chance.

The effect size is the share of replicates that a dispatcher wins, a tie counting half: the probability of superiority
for paired values (R. J. Grissom, J. J. Kim. Effect Sizes for Research. 2nd edition, 2012). The test is Wilcoxon's on
signed ranks. Many comparisons are corrected by Holm's procedure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from batdispatch.report.replicates.aims import Aim
from batdispatch.report.replicates.table import Floats, RunMetric
from batdispatch.results.statistics.bootstrap import DRAWS, Draws, mean_by_bootstrap
from batdispatch.results.statistics.dependence import equivalent_size
from batdispatch.results.statistics.estimate import Estimate
from batdispatch.results.statistics.holm import holm
from batdispatch.results.statistics.rounding import round_significant
from batdispatch.results.statistics.signed_rank import signed_rank
from batdispatch.results.statistics.significance import ALPHA, LEAST
from batdispatch.results.statistics.student import differs_from_zero, mean_by_student


@dataclass(frozen=True)
class Pair:
    """A dispatcher against another one.

    Attributes:
        ours, theirs: the dispatchers.
        effect: geometric mean of the ratios ours / theirs, or mean of the differences ours - theirs; on the windows of
            a workload, the ratio of the means, or of what is the most of all jobs, of the largest (of several
            workloads, the geometric mean of these); None: none is common to both.
        wins, ties, losses: in how many replicates ours is better, equal, worse.
        p: that such differences come by chance, from the test alone; None: too few replicates, or one of the two has
            no value in some.
        adjusted: the same after Holm's correction.
        worth: how many independent replicates they are worth, since neighbours are alike; None: all are independent.
    """

    ours: str
    theirs: str
    effect: Estimate | None
    wins: int
    ties: int
    losses: int
    p: float | None
    adjusted: float | None = None
    worth: float | None = None

    @property
    def n(self) -> int:
        """Number of replicates common to both."""
        return self.wins + self.ties + self.losses

    @property
    def won(self) -> float:
        """Share of the replicates that ours wins, a tie counting half; nan of none."""
        return (self.wins + self.ties / 2) / self.n if self.n else math.nan

    @property
    def apart(self) -> bool:
        """Whether the two can be told apart, after Holm's correction."""
        return self.adjusted is not None and self.adjusted < ALPHA


def of_both(table: RunMetric, ours: str, theirs: str) -> tuple[Floats, Floats]:
    """Return the values of two dispatchers on the replicates that both have."""
    mine, other = table.of(ours), table.of(theirs)
    both = np.isfinite(mine) & np.isfinite(other)
    return mine[both], other[both]


def ratio_of_longest(aim: Aim, mine: Floats, other: Floats) -> float:
    """Return the ratio of two dispatchers' most of all jobs over all replicates."""
    return math.exp(float(aim.apart(mine.max(keepdims=True), other.max(keepdims=True))[0]))


def pair(table: RunMetric, aim: Aim, ours: str, theirs: str, draws: Draws = DRAWS) -> Pair:
    """Compare two dispatchers on the replicates that both have."""
    mine, other = of_both(table, ours, theirs)
    if not len(mine):
        return Pair(ours, theirs, None, 0, 0, 0, None)
    apart = aim.apart(mine, other)
    effects, size = _effects(table, aim, ours, theirs)
    alike = size < len(apart)
    lost = np.sign(aim.losing(round_significant(mine)) - aim.losing(round_significant(other)))
    p = None
    if len(mine) == len(table.blocks) and size >= LEAST:
        differences = np.where(lost == 0, 0.0, apart)
        p = max(signed_rank(differences), differs_from_zero(differences, size) if alike else 0.0)
    return Pair(
        ours,
        theirs,
        _longest(effects, len(mine)) if aim.extreme and len(effects) < len(mine) else _mean(aim, effects, size, draws),
        int((lost < 0).sum()),
        int((lost == 0).sum()),
        int((lost > 0).sum()),
        p,
        worth=size if alike else None,
    )


def _effects(table: RunMetric, aim: Aim, ours: str, theirs: str) -> tuple[Floats, float]:
    """Return values whose mean is how far two dispatchers are apart, and how many independent ones they are worth.

    Each replicate has a value, but all windows of a workload have one together if only the most of all jobs counts.
    """
    found, size = [], 0.0
    for part in map(table.on, table.workloads):
        mine, other = of_both(part, ours, theirs)
        if len(mine):
            of_log = part.kind == "window" and aim.way == "ratio"
            effects = aim.over_all(mine, other) if of_log and not aim.extreme else aim.apart(mine, other)
            size += equivalent_size(effects, part.size) if part.kind else len(effects)
            found.append(np.log([ratio_of_longest(aim, mine, other)]) if of_log and aim.extreme else effects)
    return np.concatenate(found), size


def _mean(aim: Aim, apart: Floats, size: float, draws: Draws) -> Estimate:
    effect = mean_by_student(apart, size=size) if size < len(apart) else mean_by_bootstrap(apart, draws)
    return effect.transform(math.exp) if aim.way == "ratio" else effect


def _longest(effects: Floats, n: int) -> Estimate:
    """Return the ratio of the longest of all windows, which is that of the log; over logs, the geometric mean.

    It has no interval: whatever is drawn from values, none is longer than the longest. See P. J. Bickel, D. A.
    Freedman: "Some asymptotic theory for the bootstrap", Annals of Statistics 9 (1981), section 6.
    """
    return Estimate(math.exp(float(effects.mean())), None, None, n, "longest")


def against(table: RunMetric, aim: Aim, theirs: str, draws: Draws = DRAWS) -> list[Pair]:
    """Compare every other dispatcher of a table with one, with Holm's correction for their number."""
    found = [pair(table, aim, ours, theirs, draws) for ours in table.dispatchers if ours != theirs]
    return correct_pairs(found)


def correct_pairs(pairs: Sequence[Pair]) -> list[Pair]:
    """Return pairs with their p-values corrected for the number of those that were tested."""
    adjusted = iter(holm([one.p for one in pairs if one.p is not None]))
    return [one if one.p is None else replace(one, adjusted=next(adjusted)) for one in pairs]
