"""Estimates with their intervals by bootstrap (`scipy.stats.bootstrap`).

The bias-corrected and accelerated interval (BCa: B. Efron. Better bootstrap confidence intervals. Journal of the
American Statistical Association 82, 1987) is taken where it is defined, and the percentile interval elsewhere: where
values are nearly all alike, the first is not. Draws begin from one seed: the same values give the same interval.

Of few values a bootstrap's interval is too narrow: it cannot know what none of them shows.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from scipy import stats

from batdispatch.results.comparison.table import Floats

#: From samples to a number, along the last axis: ``measure(*samples, axis=-1)``.
Measure = Callable[..., Floats]


class Draws(NamedTuple):
    """How intervals are drawn.

    Attributes:
        resamples: how many.
        seed: of the draws.
        level: of confidence.
        method: of the interval.
    """

    resamples: int = 9999
    seed: int = 0
    level: float = 0.95
    method: Literal["BCa", "percentile"] = "BCa"


DRAWS = Draws()


class Estimate(NamedTuple):
    """A number and how well it is known.

    Attributes:
        value: of the sample itself.
        low, high: ends of the interval; None: of a single value there is none.
        n: size of the sample.
        method: of the interval: "BCa", "percentile", "all equal", or "none".
    """

    value: float
    low: float | None
    high: float | None
    n: int
    method: str

    def mapped(self, function: Callable[[float], float]) -> Estimate:
        """Return the estimate of an increasing function of the number."""
        ends = [None if end is None else function(end) for end in (self.low, self.high)]
        return Estimate(function(self.value), ends[0], ends[1], self.n, self.method)


def mean(values: Floats, draws: Draws = DRAWS) -> Estimate:
    """Return the mean of some values with its interval."""
    return estimate([values], np.mean, draws)


def geometric_mean(ratios: Floats, draws: Draws = DRAWS) -> Estimate:
    """Return the geometric mean of some ratios > 0 with its interval, drawn from their logarithms."""
    return mean(np.log(ratios), draws).mapped(math.exp)


def change_of_mean(ours: Floats, theirs: Floats, draws: Draws = DRAWS) -> Estimate:
    """Return mean(ours) / mean(theirs) - 1 of two paired samples with its interval."""
    return estimate([ours, theirs], lambda new, old, axis: new.mean(axis) / old.mean(axis) - 1.0, draws)


def estimate(samples: Sequence[Floats], measure: Measure, draws: Draws = DRAWS) -> Estimate:
    """Return a measure of paired samples with its interval; what belongs together is drawn together.

    Args:
        samples: one or more, of the same length of at least 1.
        measure: from samples to a number, along an axis; see `Measure`.
        draws: how.
    """
    n = len(samples[0])
    value = float(measure(*samples, axis=-1))
    if n == 1:
        return Estimate(value, None, None, 1, "none")
    if all(np.ptp(sample) == 0.0 for sample in samples):
        return Estimate(value, value, value, n, "all equal")
    for method in dict.fromkeys((draws.method, "percentile")):
        with warnings.catch_warnings():
            # Said by the method of the estimate.
            warnings.simplefilter("ignore", stats.DegenerateDataWarning)
            warnings.simplefilter("ignore", RuntimeWarning)
            found = stats.bootstrap(
                tuple(samples),
                measure,
                paired=len(samples) > 1,
                vectorized=True,
                n_resamples=draws.resamples,
                confidence_level=draws.level,
                method=method,
                rng=np.random.default_rng(draws.seed),
            ).confidence_interval
        low, high = float(found.low), float(found.high)
        if math.isfinite(low) and math.isfinite(high):
            return Estimate(value, low, high, n, method)
    return Estimate(value, None, None, n, "none")
