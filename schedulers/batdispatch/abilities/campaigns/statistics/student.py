"""Intervals of a mean by Student's t: mean +- t s / sqrt(n), s^2 = sum_i (x_i - mean)^2 / (n - 1).

t is the 97.5 % quantile of Student's distribution with n - 1 degrees of freedom, for an interval of 95 %.

When to use: for a few independent values that are nearly normal, such as means over long runs with different seeds, or
logarithms of ratios. There it is exact, however few values there are, where a bootstrap is too narrow.

References:
    Student: "The probable error of a mean", Biometrika 6 (1908).
    A. M. Law: "Simulation Modeling and Analysis", 5th edition, McGraw-Hill 2015, sections 4.5 and 9.4.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.campaigns.statistics.estimate import Estimate

Values = Sequence[float] | NDArray[np.float64]
#: From degrees of freedom to Student's 97.5 % quantile.
Quantile = Callable[[float], float]


def student_quantile(freedom: float) -> float:
    """Return the 97.5 % quantile of Student's distribution with so many degrees of freedom, at least 1."""
    # Where it is used: a report of few jobs has no interval. It is what `scipy.stats` asks, and takes a tenth as long.
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.975))


def half_width(values: Values, quantile: Quantile = student_quantile, size: float | None = None) -> float:
    """Return half the width of the 95 % interval of the mean, t s / sqrt(n), in the values' unit; 0 for a single value.

    Args:
        values: at least one.
        quantile: which t.
        size: as for `mean_by_student`.
    """
    if len(values) == 1:
        return 0.0
    size = size or len(values)
    return quantile(size - 1) * float(np.std(values, ddof=1)) / math.sqrt(size)


def mean_by_student(values: Values, quantile: Quantile = student_quantile, size: float | None = None) -> Estimate:
    """Return the mean of some values with its 95 % interval, in the values' unit; a single value has none.

    Args:
        values: at least one.
        quantile: which t.
        size: how many independent values they are worth, above 1; None: all are independent.
    """
    mean = float(np.mean(values))
    if len(values) == 1:
        return Estimate(mean, None, None, 1, "none")
    half = half_width(values, quantile, size)
    return Estimate(mean, mean - half, mean + half, len(values), "t")
