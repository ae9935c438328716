"""Whether two accounts put the same things in the same order: Spearman's correlation, and the share of pairs."""

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


def share_of_pairs(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return in what share of the pairs the same one of the two is larger in both accounts, 0 to 1; nan of no pair.

    Pairs that are equal in one of the accounts do not count. From Kendall's tau-b [1], with n0 pairs in all, n1 and n2
    of them equal in either account and n3 in both: concordant less discordant ones are tau sqrt((n0 - n1)(n0 - n2)),
    and n0 - n1 - n2 + n3 are both together.

    When to use: to say to somebody who never had statistics how well an order is met.

    Time: O(n log n).

    References:
        [1] M. G. Kendall: "The treatment of ties in ranking problems", Biometrika 33 (1945).
    """
    n0 = len(one) * (len(one) - 1) / 2
    n1, n2, n3 = (_equal_pairs(values) for values in (one, other, np.column_stack([one, other])))
    counted = n0 - n1 - n2 + n3
    if not counted:
        return np.nan
    surplus = float(stats.kendalltau(one, other).statistic) * np.sqrt((n0 - n1) * (n0 - n2))
    return float((1 + surplus / counted) / 2)


def _equal_pairs(values: NDArray[np.float64]) -> float:
    count = np.unique(values, axis=0, return_counts=True)[1]
    return float((count * (count - 1) / 2).sum())
