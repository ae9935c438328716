"""Wilcoxon's test on signed ranks: whether one of two wins more, and by more, than chance would let it.

The sizes |d_i| of the differences are ranked, zeros among them (Pratt); equal ones share the mean of their ranks. p is
the share of all 2^n ways to give signs to the ranks whose |sum of signed ranks| is at least that of the differences.

When to use: for two dispatchers on the same replicates. It assumes no distribution, and what counts is the order of the
differences, so that one extreme replicate weighs no more than any other.

References:
    F. Wilcoxon: "Individual comparisons by ranking methods", Biometrics Bulletin 1 (1945).
    J. W. Pratt: "Remarks on zeros and ties in the Wilcoxon signed rank procedures", Journal of the American Statistical
    Association 54 (1959).
    Demsar, section 3.1.3, who recommends it for two methods.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from batdispatch.results.statistics.rounding import round_significant

#: With ties, signs are permuted this often at most; all permutations of up to 13 pairs are fewer.
PERMUTATIONS = 9999
#: Of these permutations.
SEED = 0


def signed_rank(differences: NDArray[np.float64]) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test: the chance that random signs give as much.

    Exact for up to 50 differences without ties and zeros, and for up to 13 with them; else drawn with a fixed seed.

    Args:
        differences: float64 [pair], in any unit; 0 is a tie.
    """
    differences = round_significant(differences)
    sizes = np.abs(differences)
    if not sizes.any():
        return 1.0
    method: str | stats.PermutationMethod = "exact"
    if len(np.unique(sizes)) < len(sizes) or not sizes.all() or len(sizes) > 50:
        method = stats.PermutationMethod(n_resamples=PERMUTATIONS, rng=np.random.default_rng(SEED))
    return float(stats.wilcoxon(differences, zero_method="pratt", method=method).pvalue)
