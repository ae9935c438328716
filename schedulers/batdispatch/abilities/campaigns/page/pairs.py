"""Two dispatchers on the same replicates: how far apart they are, how often one wins, and whether that may be chance.

The effect, its interval and its p-value come from one procedure, `statistics.mean_effect`: a dispatcher is better
beyond chance exactly where the 95 % interval leaves out "no change". Each interval holds for itself: of twenty pairs
that do not differ, one is called different. The share of replicates that a dispatcher wins, a tie counting half, is
the probability of superiority for paired values (R. J. Grissom, J. J. Kim: "Effect Sizes for Research", 2012).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from batdispatch.abilities.campaigns.page.aims import Aim
from batdispatch.abilities.campaigns.page.table import Floats, RunMetric
from batdispatch.abilities.campaigns.statistics.estimate import Estimate
from batdispatch.abilities.campaigns.statistics.mean_effect import mean_effect
from batdispatch.abilities.campaigns.statistics.rounding import round_significant
from batdispatch.abilities.campaigns.statistics.significance import ALPHA


@dataclass(frozen=True)
class Pair:
    """A dispatcher against another one.

    Attributes:
        ours, theirs: the dispatchers.
        effect: geometric mean of the ratios ours / theirs, or mean of the differences ours - theirs; on the windows of
            a workload, the ratio of the means, or of what is the most of all jobs, of the largest (of several
            workloads, the geometric mean of these); None: none is common to both.
        wins, ties, losses: in how many replicates ours is better, equal, worse.
    """

    ours: str
    theirs: str
    effect: Estimate | None
    wins: int
    ties: int
    losses: int

    @property
    def n(self) -> int:
        """Number of replicates common to both."""
        return self.wins + self.ties + self.losses

    @property
    def won(self) -> float:
        """Share of the replicates that ours wins, a tie counting half; nan of none."""
        return (self.wins + self.ties / 2) / self.n if self.n else math.nan

    @property
    def p(self) -> float | None:
        """P-value of the test that the two do not differ; None: too few replicates, or no test."""
        return None if self.effect is None else self.effect.p

    @property
    def apart(self) -> bool:
        """Whether the two can be told apart: the interval leaves out that they are equal."""
        return self.p is not None and self.p < ALPHA


def of_both(table: RunMetric, ours: str, theirs: str) -> tuple[Floats, Floats]:
    """Return the values of two dispatchers on the replicates that both have; equal ones where only rounding differs."""
    mine, other = table.of(ours), table.of(theirs)
    both = np.isfinite(mine) & np.isfinite(other)
    mine, other = mine[both], other[both]
    return np.where(round_significant(mine) == round_significant(other), other, mine), other


def ratio_of_longest(aim: Aim, mine: Floats, other: Floats) -> float:
    """Return the ratio of two dispatchers' most of all jobs over all replicates."""
    return aim.ratio(float(mine.max()), float(other.max()))


def pair(table: RunMetric, aim: Aim, ours: str, theirs: str) -> Pair:
    """Compare two dispatchers on the replicates that both have."""
    mine, other = of_both(table, ours, theirs)
    if not len(mine):
        return Pair(ours, theirs, None, 0, 0, 0)
    lost = np.sign(aim.losing(mine) - aim.losing(other))
    effect = _effect(table, aim, ours, theirs)
    if len(mine) < len(table.blocks):
        effect = effect._replace(low=None, high=None, method="gaps", p=None)
    effect = effect.transform(math.exp) if aim.way == "ratio" else effect
    return Pair(ours, theirs, effect, int((lost < 0).sum()), int((lost == 0).sum()), int((lost > 0).sum()))


def _effect(table: RunMetric, aim: Aim, ours: str, theirs: str) -> Estimate:
    """Return the mean effect: of ratios, its logarithm. Of several logs in windows, each log has one effect."""
    parts = [part for part in map(table.on, table.workloads) if len(of_both(part, ours, theirs)[0])]
    if not any(part.kind == "window" for part in parts):
        return _of_replicates(table, aim, ours, theirs)
    if len(parts) == 1:
        return _of_windows(parts[0], aim, ours, theirs)
    logs = [(_of_windows if part.kind == "window" else _of_replicates)(part, aim, ours, theirs) for part in parts]
    values = np.array([log.value for log in logs])
    if aim.extreme:
        return Estimate(float(values.mean()), None, None, table.size, "longest")
    return mean_effect(values)._replace(n=len(table.blocks))


def _of_replicates(table: RunMetric, aim: Aim, ours: str, theirs: str) -> Estimate:
    apart = aim.apart(*of_both(table, ours, theirs))
    return mean_effect(apart, in_time=bool(table.kind), size=table.size)


def _of_windows(table: RunMetric, aim: Aim, ours: str, theirs: str) -> Estimate:
    """Return the effect over all windows of one log, which is that on the log.

    What is the most of all jobs has no interval: whatever is drawn from values, none is longer than the longest. See
    P. J. Bickel, D. A. Freedman: "Some asymptotic theory for the bootstrap", Annals of Statistics 9 (1981), section 6.
    """
    if aim.way != "ratio":
        return _of_replicates(table, aim, ours, theirs)
    mine, other = of_both(table, ours, theirs)
    if aim.extreme:
        return Estimate(math.log(ratio_of_longest(aim, mine, other)), None, None, len(mine), "longest")
    terms, each = aim.over_all(mine, other)
    return mean_effect(terms, in_time=True, per_replicate=each, size=table.size)


def against(table: RunMetric, aim: Aim, theirs: str) -> list[Pair]:
    """Compare every other dispatcher of a table with one."""
    return [pair(table, aim, ours, theirs) for ours in table.dispatchers if ours != theirs]
