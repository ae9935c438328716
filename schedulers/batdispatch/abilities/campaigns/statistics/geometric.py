"""The geometric mean, in which half and twice as much cancel out."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def geometric_mean(values: ArrayLike, added: float = 0.0, axis: int | None = None) -> NDArray[np.float64]:
    """Return exp(sum_i log(x_i + a) / n) - a along an axis, in the values' unit; without one, of all values.

    When to use: for the mean of ratios, so that it does not matter which of two dispatchers is divided by which. For
    waits take a > 0, so that a replicate in which nobody waits does not make the mean 0. `bootstrap` has the mean with
    an interval.

    Args:
        values: each > -added.
        added: a, in the values' unit.
        axis: to go along.

    References:
        P. J. Fleming, J. J. Wallace: "How not to lie with statistics: the correct way to summarize benchmark results",
        Communications of the ACM 29 (1986).
    """
    return np.asarray(np.exp(np.log(np.asarray(values) + added).mean(axis=axis)) - added)
