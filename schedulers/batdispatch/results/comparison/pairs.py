"""Two dispatchers on the same replicates: how far apart they are, how often one wins, and whether that may be chance.

The effect size is the share of replicates that a dispatcher wins, a tie counting half: the probability of superiority
for paired values (R. J. Grissom, J. J. Kim. Effect Sizes for Research. 2nd edition, 2012). The test is Wilcoxon's on
signed ranks, which J. Demsar (Statistical comparisons of classifiers over multiple data sets. Journal of Machine
Learning Research 7, 2006, section 3.1.3) recommends for two methods; equal values are ranked with the others (Pratt).
Many comparisons are corrected by S. Holm (A simple sequentially rejective multiple test procedure. Scandinavian Journal
of Statistics 6, 1979).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from batdispatch.results.comparison.aims import Aim
from batdispatch.results.comparison.intervals import DRAWS, Draws, Estimate, mean
from batdispatch.results.comparison.table import Floats, Measured, settled

#: Fewest replicates from which anything can be significant at 5 %: five wins of five come by chance in 2 of 2^5 cases.
LEAST = 6
#: Significance.
ALPHA = 0.05
#: With ties, signs are permuted this often at most; all permutations of up to 13 pairs are fewer.
PERMUTATIONS = 9999


@dataclass(frozen=True)
class Pair:
    """A dispatcher against another one.

    Attributes:
        ours, theirs: the dispatchers.
        effect: geometric mean of the ratios ours / theirs, or mean of the differences ours - theirs; None: no replicate
            is common to both.
        wins, ties, losses: in how many replicates ours is better, equal, worse.
        p: that such differences come by chance, from the test alone; None: too few replicates, or one of the two has
            no value in some.
        adjusted: the same after Holm's correction.
    """

    ours: str
    theirs: str
    effect: Estimate | None
    wins: int
    ties: int
    losses: int
    p: float | None
    adjusted: float | None = None

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


def pair(table: Measured, aim: Aim, ours: str, theirs: str, draws: Draws = DRAWS) -> Pair:
    """Compare two dispatchers on the replicates that both have."""
    mine, other = table.of(ours), table.of(theirs)
    both = np.isfinite(mine) & np.isfinite(other)
    whole = bool(both.all())
    mine, other = mine[both], other[both]
    if not len(mine):
        return Pair(ours, theirs, None, 0, 0, 0, None)
    apart = aim.apart(mine, other)
    effect = mean(apart, draws)
    if aim.way == "ratio":
        effect = effect.mapped(math.exp)
    lost = np.sign(aim.losing(settled(mine)) - aim.losing(settled(other)))
    p = None
    if whole and len(mine) >= LEAST:
        p = signed_rank(np.where(lost == 0, 0.0, apart))
    return Pair(ours, theirs, effect, int((lost < 0).sum()), int((lost == 0).sum()), int((lost > 0).sum()), p)


def against(table: Measured, aim: Aim, theirs: str, draws: Draws = DRAWS) -> list[Pair]:
    """Compare every other dispatcher of a table with one, with Holm's correction for their number."""
    found = [pair(table, aim, ours, theirs, draws) for ours in table.dispatchers if ours != theirs]
    return corrected(found)


def corrected(pairs: Sequence[Pair]) -> list[Pair]:
    """Return pairs with their p-values corrected for the number of those that were tested."""
    adjusted = iter(holm([one.p for one in pairs if one.p is not None]))
    return [one if one.p is None else replace(one, adjusted=next(adjusted)) for one in pairs]


def signed_rank(differences: Floats) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test: that as much comes of signs by chance.

    Exact for up to 50 differences without ties and zeros, and for up to 13 with them; else drawn with a fixed seed.
    """
    differences = settled(differences)
    sizes = np.abs(differences)
    if not sizes.any():
        return 1.0
    method: str | stats.PermutationMethod = "exact"
    if len(np.unique(sizes)) < len(sizes) or not sizes.all() or len(sizes) > 50:
        method = stats.PermutationMethod(n_resamples=PERMUTATIONS, rng=np.random.default_rng(DRAWS.seed))
    return float(stats.wilcoxon(differences, zero_method="pratt", method=method).pvalue)


def holm(values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number: the i-th smallest of m times m + 1 - i, and never decreasing."""
    found = [0.0] * len(values)
    most = 0.0
    for rank, index in enumerate(sorted(range(len(values)), key=lambda one: values[one])):
        most = max(most, min(1.0, (len(values) - rank) * values[index]))
        found[index] = most
    return found
