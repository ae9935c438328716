"""What one may want of a dispatcher, each aim with its metric and the way in which values of it are compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from batdispatch.report.replicates.table import Floats
from batdispatch.results.metrics.compute import STARVATION
from batdispatch.results.statistics.estimate import Estimate

#: Added to both waits of a ratio, s: the bounded slowdown's threshold. A replicate in which nobody waits counts as 1.
ADDED_SECONDS = 10.0


@dataclass(frozen=True)
class Aim:
    """An aim.

    Attributes:
        metric: its name.
        words: what it is called in a sentence.
        way: whether values compare by their ratio or by their difference.
        added: to both values of a ratio, in the metric's unit.
        better: which values are.
        goal: whether one chooses by it; otherwise it is but a price of what is chosen.
        unit: of differences, and how many of them one of the metric's unit makes.
        digits: decimals of differences.
        extreme: whether it is the most of all jobs, so that it grows with their number.
    """

    metric: str
    words: str
    way: Literal["ratio", "difference"] = "ratio"
    added: float = 0.0
    better: Literal["lower", "higher"] = "lower"
    goal: bool = True
    unit: tuple[str, float] = ("percentage points", 100.0)
    digits: int = 1
    extreme: bool = False

    @property
    def title(self) -> str:
        """Its words as a heading."""
        return f"{self.words[0].upper()}{self.words[1:]}"

    def apart(self, ours: Floats, theirs: Floats) -> Floats:
        """Return how far paired values are apart: logarithms of ratios, or differences."""
        if self.way == "ratio":
            return np.asarray(np.log(ours + self.added) - np.log(theirs + self.added))
        return np.asarray(ours - theirs)

    def over_all(self, ours: Floats, theirs: Floats) -> Floats:
        """Return values of equal parts of a log, whose mean is the logarithm of the ratio over all of it.

        They spread as that ratio does, to first order: a part in which much is waited has as much weight as in the log.
        """
        ours, theirs = ours + self.added, theirs + self.added
        return np.asarray(np.log(ours.mean() / theirs.mean()) + ours / ours.mean() - theirs / theirs.mean())

    def effect(self, found: Estimate) -> str:
        """Return an effect with its interval as a cell of a table."""
        if self.way == "ratio":
            return found.text()
        return found.transform(lambda value: self.unit[1] * value).text(self.digits)

    def text(self, value: float) -> str:
        """Return a ratio, or a difference with its sign, as people read it."""
        if self.way == "ratio":
            return "over 1,000" if value > 1000 else f"{value:,.2f}"
        return f"{self.unit[1] * value:+,.{self.digits}f}".replace("-", "\N{MINUS SIGN}")

    def losing(self, values: Floats) -> Floats:
        """Return values of which less is better."""
        return values if self.better == "lower" else -values


AIMS = (
    Aim("mean_waiting_time", "mean wait", added=ADDED_SECONDS),
    Aim("mean_bounded_slowdown", "mean bounded slowdown"),
    Aim("max_waiting_time", "longest wait", added=ADDED_SECONDS, extreme=True),
    Aim("p99_waiting_time", "99 % wait", added=ADDED_SECONDS, goal=False),
    Aim(STARVATION.name, "starved jobs", "difference", goal=False, unit=("starved jobs", 1.0), digits=0),
    Aim("energy", "energy", goal=False),
    Aim("energy_cost", "cost of energy", goal=False),
    Aim("energy_carbon", "carbon of energy", goal=False),
    Aim("utilisation", "utilisation", "difference", better="higher"),
)
#: What is drawn against what a user waits, where runs tell it.
BURNT = ("energy", "energy_cost", "energy_carbon")
#: What tells of jobs that starve: a price in these is named even where it may be chance.
LONG_WAITS = tuple(aim.metric for aim in AIMS[2:5])
