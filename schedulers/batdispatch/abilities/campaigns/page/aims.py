"""What one may want of a dispatcher, each aim with its metric and the way in which values of it are compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from batdispatch.abilities.campaigns.page.table import Floats
from batdispatch.abilities.campaigns.statistics.estimate import Estimate
from batdispatch.abilities.campaigns.statistics.significance import ALPHA
from batdispatch.results.metrics.compute import STARVATION
from batdispatch.results.numbers import number

#: Added to both waits of a ratio, s: the bounded slowdown's threshold. A replicate in which nobody waits counts as 1.
#: Over the windows of a log nothing is added, unless one of the two figures of the log is 0.
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
        digits: decimals of differences; None: as many as tables of values have.
        extreme: whether it is the most of all jobs, so that it grows with their number.
    """

    metric: str
    words: str
    way: Literal["ratio", "difference"] = "ratio"
    added: float = 0.0
    better: Literal["lower", "higher"] = "lower"
    goal: bool = True
    unit: tuple[str, float] = ("percentage points", 100.0)
    digits: int | None = 1
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

    def ratio(self, ours: float, theirs: float) -> float:
        """Return the ratio of two figures of a log, to which nothing is added unless one of them is 0."""
        added = 0.0 if min(ours, theirs) > 0 else self.added
        return (ours + added) / (theirs + added)

    def over_all(self, ours: Floats, theirs: Floats) -> tuple[Floats, Floats]:
        """Return terms whose mean is the logarithm of the ratio of means, and the logarithm of each pair's ratio.

        The terms spread as that ratio does, to first order: a part of a log in which much is waited has as much weight
        as in the log. Nothing is added to means that are above 0, since they have a ratio. The logarithm of a pair is
        infinite if one value is 0, and 0 if both are.
        """
        added = 0.0 if min(ours.mean(), theirs.mean()) > 0 else self.added
        ours, theirs = ours + added, theirs + added
        terms = np.log(ours.mean() / theirs.mean()) + ours / ours.mean() - theirs / theirs.mean()
        with np.errstate(divide="ignore", invalid="ignore"):
            each = np.nan_to_num(np.log(ours) - np.log(theirs), nan=0.0, posinf=np.inf, neginf=-np.inf)
        return np.asarray(terms), each

    def effect(self, found: Estimate) -> str:
        """Return an effect with its interval as a cell of a table."""
        if self.way == "ratio":
            ends = "-".join(self.ends(found))
            return self.text(found.value) + (f" ({ends})" if ends else "")
        if self.digits is None:
            ends = " to ".join(self.ends(found))
            return self.text(found.value) + (f" ({ends})" if ends else "")
        return found.transform(lambda value: self.unit[1] * value).text(self.digits)

    def ends(self, found: Estimate) -> list[str]:
        """Return the ends of an effect's interval as people read them; none: there is no interval.

        If the interval leaves out no change, its ends have as many digits as it takes to see that.
        """
        if found.low is None or found.high is None:
            return []
        apart = found.p is not None and found.p < ALPHA
        none = 1.0 if self.way == "ratio" else 0.0
        return [
            next((text for more in range(5) if (text := self.text(end, more)) != self.text(none, more)), self.text(end))
            if apart
            else self.text(end)
            for end in (found.low, found.high)
        ]

    def text(self, value: float, more: int = 0) -> str:
        """Return a ratio, or a difference with its sign, as people read it; with so many more digits."""
        if self.way == "ratio":
            return "over 1,000" if value > 1000 else f"{value:,.{2 + more}f}"
        value *= self.unit[1]
        if self.digits is None:
            text = f"{'-' if value < 0 else '+'}{number(abs(value))}"
        else:
            text = f"{value:+,.{self.digits + more}f}"
        zero = not text.strip("+-0.,")
        return text[1:] if zero else text.replace("-", "\N{MINUS SIGN}")

    def is_better(self, found: Estimate | None) -> bool:
        """Whether an effect favours the first of a pair."""
        change = 0.0 if found is None else found.value - (1.0 if self.way == "ratio" else 0.0)
        return change < 0 if self.better == "lower" else change > 0

    def losing(self, values: Floats) -> Floats:
        """Return values of which less is better."""
        return values if self.better == "lower" else -values


AIMS = (
    Aim("mean_waiting_time", "mean wait", added=ADDED_SECONDS),
    Aim("mean_bounded_slowdown", "mean bounded slowdown"),
    Aim("max_waiting_time", "longest wait", added=ADDED_SECONDS, extreme=True),
    Aim("p99_waiting_time", "99 % wait", added=ADDED_SECONDS, goal=False),
    Aim(STARVATION.name, "starved jobs", "difference", goal=False, unit=("starved jobs", 1.0), digits=None),
    Aim("energy", "energy", goal=False),
    Aim("energy_cost", "cost of energy", goal=False),
    Aim("energy_carbon", "carbon of energy", goal=False),
    Aim("utilisation", "utilisation", "difference", better="higher"),
)
#: What is drawn against what a user waits, where runs tell it.
BURNT = ("energy", "energy_cost", "energy_carbon")
#: What tells of jobs that starve: a price in these is named even where it may be chance.
LONG_WAITS = tuple(aim.metric for aim in AIMS[2:5])
