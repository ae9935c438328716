"""Estimates with intervals by bootstrap: the sample is drawn from itself, with replacement, many times.

Percentile: the ends are the alpha / 2 and 1 - alpha / 2 quantiles of the measure over the draws [1].

BCa (bias-corrected and accelerated) [2]: the ends are the a(alpha / 2) and a(1 - alpha / 2) quantiles,

    a(q) = Phi(z0 + (z0 + z_q) / (1 - c (z0 + z_q))),

where z_q = Phi^-1(q), and z0 = Phi^-1(share of the draws below the sample's own measure). Let d_i be the mean of all
measures that leave one value out, less the measure that leaves out value i. Then

    c = sum_i d_i^3 / (6 (sum_i d_i^2)^1.5).

BCa is not defined if the values are nearly all alike. Then the percentile interval is taken.

When to use: for means over replicates, slices or blocks, of which nothing is known of the distribution. Values must be
independent of each other (`mean_effect` is for those that are not). If there are fewer than ten, the interval is too
narrow, since no draw knows what none of the values shows (`benchmarks/interval_coverage.py` measures by how much).

Draws begin from one seed: the same values give the same interval.

References:
    [1] B. Efron, R. J. Tibshirani: "An Introduction to the Bootstrap", Chapman & Hall 1993, chapter 13.
    [2] B. Efron: "Better bootstrap confidence intervals", Journal of the American Statistical Association 82 (1987).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from batdispatch.abilities.campaigns.statistics.estimate import Estimate

Floats = NDArray[np.float64]
#: From samples to a number, along the last axis: ``measure(*samples, axis=-1)``.
Measure = Callable[..., Floats]


class Draws(NamedTuple):
    """How intervals are drawn.

    Attributes:
        resamples: how many.
        seed: of the draws.
        level: of confidence, 0 to 1.
        method: of the interval.
    """

    resamples: int = 9999
    seed: int = 0
    level: float = 0.95
    method: Literal["BCa", "percentile"] = "BCa"


DRAWS = Draws()


def mean_by_bootstrap(values: Floats, draws: Draws = DRAWS) -> Estimate:
    """Return the mean sum_i x_i / n of some values with its interval, in the values' unit."""
    return bootstrap([values], np.mean, draws)


def geometric_mean_by_bootstrap(ratios: Floats, draws: Draws = DRAWS) -> Estimate:
    """Return the geometric mean exp(sum_i log x_i / n) of some ratios > 0 with its interval, drawn from logarithms."""
    return mean_by_bootstrap(np.log(ratios), draws).transform(math.exp)


def change_of_mean_by_bootstrap(ours: Floats, theirs: Floats, draws: Draws = DRAWS) -> Estimate:
    """Return mean(ours) / mean(theirs) - 1 of two paired samples with its interval: a share, 0.1 for 10 % more."""
    return bootstrap([ours, theirs], lambda new, old, axis: new.mean(axis) / old.mean(axis) - 1.0, draws)


def bootstrap(samples: Sequence[Floats], measure: Measure, draws: Draws = DRAWS) -> Estimate:
    """Return a measure of paired samples with its interval; what belongs together is drawn together.

    Time: O(draws n) evaluations of a mean, for n values.

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
        low, high = _ends(samples, measure, draws._replace(method=method))
        if math.isfinite(low) and math.isfinite(high):
            return Estimate(value, low, high, n, method)
    return Estimate(value, None, None, n, "none")


def _ends(samples: Sequence[Floats], measure: Measure, draws: Draws) -> tuple[float, float]:
    """Return the ends of the interval; nan where the method is not defined."""
    with warnings.catch_warnings():
        # Said by the method of the estimate.
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        interval = stats.bootstrap(
            tuple(samples),
            measure,
            paired=len(samples) > 1,
            vectorized=True,
            n_resamples=draws.resamples,
            confidence_level=draws.level,
            method=draws.method,
            rng=np.random.default_rng(draws.seed),
        ).confidence_interval
    return float(interval.low), float(interval.high)
