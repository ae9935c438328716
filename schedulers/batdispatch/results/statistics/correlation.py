"""Spearman's correlation of ranks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats


def rank_correlation(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return the correlation of the ranks of paired values, -1 to 1; nan where all values of one side are equal.

    When to use: to say whether two accounts of the same jobs put these in the same order, whatever the scale of each.

    References:
        C. Spearman: "The proof and measurement of association between two things", American Journal of Psychology 15
        (1904).
    """
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return np.nan
    return float(stats.spearmanr(one, other).statistic)
