"""The mean of paired effects: its 95 % interval, and the p-value of the test that this interval inverts.

One procedure gives both, so that p < 0.05 holds exactly where the interval leaves out "no change". A value is an
effect on one replicate: a difference, or the logarithm of a ratio. Two tests reject a supposed mean m:

1. Student's: |x - m| is too large for the mean x of n values and its standard error.
2. The sign test: all n >= 6 values lie on one side of m, for which the chance is 2 / 2^n.

The interval holds each m that neither test rejects, so it never reaches beyond the least and the largest value, and a
dispatcher that is better on every replicate is better beyond chance. Their p-value is the lesser of the two for m = 0.

Independent replicates, such as seeds, have the standard error s / sqrt(n). Windows of one log may drift and resemble
their neighbours. Their errors around a line follow an autoregressive process of first order whose correlation is
unknown: 0, 0.4 or 0.9. Each of the three has a weight: its prior times its residual (REML) likelihood [1]. The tail
probabilities of Student's test under the three are averaged with these weights, as Bayesian model averaging does [2].
The prior of dependence grows with n, since few values cannot show it: n / 80, at most a half, shared by 0.4 and 0.9.

Guarantee: none for few windows that depend much on each other. No method can tell six values of a process with a
    correlation of 0.8 from six independent ones around another mean. `benchmarks/interval_coverage.py` measures how
    often the interval holds the true mean.
Time: O(n^3), once for each of the three correlations.

References:
    [1] D. A. Harville: "Maximum likelihood approaches to variance component estimation and to related problems",
        Journal of the American Statistical Association 72 (1977).
    [2] J. A. Hoeting, D. Madigan, A. E. Raftery, C. T. Volinsky: "Bayesian model averaging: a tutorial", Statistical
        Science 14 (1999).
    [3] F. W. Zwiers, H. von Storch: "Taking serial correlation into account in tests of the mean", Journal of Climate 8
        (1995).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.campaigns.statistics.estimate import Estimate
from batdispatch.abilities.campaigns.statistics.significance import ALPHA, LEAST

Floats = NDArray[np.float64]
#: Correlations of neighbouring windows, and by how many windows the prior of the last two reaches 1.
CORRELATIONS, PRIOR_WINDOWS, MOST_PRIOR = (0.0, 0.4, 0.9), 80, 0.5
#: Values that differ by a smaller share of the largest are equal but for rounding.
_ROUNDING = 1e-12


class _Error(NamedTuple):
    """How far a mean may be off under one model: its standard error, degrees of freedom, and the model's weight."""

    deviation: float
    freedom: int
    weight: float


def mean_effect(
    values: Floats, *, in_time: bool = False, per_replicate: Floats | None = None, size: int | None = None
) -> Estimate:
    """Return the mean of effects with its 95 % interval and p-value, in the values' unit.

    Args:
        values: float64 [replicate], at least one.
        in_time: whether they are windows of one log in order of time.
        per_replicate: float64 [replicate], the effect on each, if `values` are terms of a mean that is none of single
            effects, such as a ratio of sums; None: the values themselves. The mean lies between the least and largest.
        size: how many replicates there is room for that share no job; None: for all.

    Returns:
        An estimate whose method is "windows", "t" or "all equal"; "few" without interval and p of fewer than `LEAST`.
    """
    own = values if per_replicate is None else per_replicate
    mean, n, size = float(values.mean()), len(values), min(size or len(values), len(values))
    if size < LEAST:
        return Estimate(mean, None, None, n, "few")
    if float(np.ptp(values)) <= _ROUNDING * float(np.abs(values).max()):
        return Estimate(mean, mean, mean, n, "all equal", 1.0 if mean == 0 else 0.0)
    errors = list(_errors(values, size) if in_time else _independent(values, size))
    half = _half_width(errors)
    low, high = max(mean - half, float(own.min())), min(mean + half, float(own.max()))
    p = _tail(errors, abs(mean))
    if (own > 0).all() or (own < 0).all():
        p = min(p, 2.0 ** (1 - size))
    return Estimate(mean, low, high, n, "windows" if in_time else "t", p)


def _independent(values: Floats, size: int) -> Iterator[_Error]:
    yield _Error(float(np.std(values, ddof=1)) / math.sqrt(size), size - 1, 1.0)


def _errors(values: Floats, size: int) -> Iterator[_Error]:
    """Yield the error of the mean under each correlation of windows."""
    n = len(values)
    place = np.arange(n, dtype=np.float64)
    line = np.column_stack([np.ones(n), place / place.std()])
    dependent = min(n / PRIOR_WINDOWS, MOST_PRIOR)
    priors = (1 - dependent, *[dependent / (len(CORRELATIONS) - 1)] * (len(CORRELATIONS) - 1))
    found = []
    for correlation, prior in zip(CORRELATIONS, priors, strict=True):
        process = correlation ** np.abs(place[:, None] - place)
        inverse = np.linalg.inv(process)
        information = line.T @ inverse @ line
        residual = values - line @ np.linalg.solve(information, line.T @ inverse @ values)
        # Values on a line have no error that could be measured: what is left is rounding.
        square = max(float(residual @ inverse @ residual), (_ROUNDING * float(np.abs(values).max())) ** 2)
        likelihood = -(np.linalg.slogdet(process)[1] + np.linalg.slogdet(information)[1] + (n - 2) * math.log(square))
        deviation = math.sqrt(float(process.sum()) / (n * size) * square / (n - 2))
        found.append((deviation, math.log(prior) + float(likelihood) / 2))
    most = max(weight for _, weight in found)
    weights = [math.exp(weight - most) for _, weight in found]
    for (deviation, _), weight in zip(found, weights, strict=True):
        yield _Error(deviation, size - 2, weight / sum(weights))


def _tail(errors: list[_Error], distance: float) -> float:
    """Return the chance that a mean is off by so much or more, on either side."""
    from scipy.special import stdtr

    return sum(one.weight * 2 * float(stdtr(one.freedom, -distance / one.deviation)) for one in errors)


def _half_width(errors: list[_Error]) -> float:
    """Return the distance whose tail is `ALPHA`."""
    from scipy.optimize import brentq
    from scipy.special import stdtrit

    alone = [one.deviation * float(stdtrit(one.freedom, 1 - ALPHA / 2)) for one in errors]
    least, most = min(alone), max(alone)
    return least if least == most else float(brentq(lambda half: _tail(errors, half) - ALPHA, least, most))
