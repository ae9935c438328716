"""Friedman's test: whether the ranks of several dispatchers over many replicates or workloads differ at all.

For N blocks, k dispatchers and average ranks R_j,

    chi2 = 12 N / (k (k + 1)) (sum_j R_j^2 - k (k + 1)^2 / 4),    F = (N - 1) chi2 / (N (k - 1) - chi2).

The chi2 is scipy's, which divides by a correction for ties; Demsar's formula does not. F is Iman and Davenport's, with
k - 1 and (k - 1)(N - 1) degrees of freedom; Friedman's own chi2 finds less than there is.

When to use: before `nemenyi`, for three dispatchers or more on at least six blocks. For two take `signed_rank`.

References:
    M. Friedman: "The use of ranks to avoid the assumption of normality implicit in the analysis of variance", Journal
    of the American Statistical Association 32 (1937).
    R. L. Iman, J. M. Davenport: "Approximations of the critical region of the Friedman statistic", Communications in
    Statistics A9 (1980).
    Demsar, section 3.2.2.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from batdispatch.results.statistics.rounding import round_significant

Floats = NDArray[np.float64]


def rank_blocks(values: Floats) -> Floats:
    """Return ranks [block, dispatcher] of values of which less is better; equal ones share the mean of their ranks."""
    return np.asarray(stats.rankdata(round_significant(values), axis=1))


def friedman(ranks: Floats) -> tuple[float, float, float]:
    """Return Friedman's chi2 of ranks [block, dispatcher], Iman and Davenport's F of it, and the p-value of F.

    Args:
        ranks: as `rank_blocks` returns them, of at least 3 dispatchers that do not all have the same ones.
    """
    blocks, many = ranks.shape
    chi2 = float(stats.friedmanchisquare(*ranks.T).statistic)
    rest = blocks * (many - 1) - chi2
    # All blocks agree in every rank.
    f = math.inf if rest <= 1e-9 else (blocks - 1) * chi2 / rest
    return chi2, f, float(stats.f.sf(f, many - 1, (many - 1) * (blocks - 1)))
