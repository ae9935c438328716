"""Values that follow each other in time, and how many independent ones they are worth.

The autocorrelation of neighbours, with d_i the distances to the mean of n values,

    r = sum_i d_i d_(i+1) / sum_i d_i^2,    corrected for its bias [1]: r + (1 + 3 r) / n,

tells by how much a mean is known worse than n independent values would tell. If dependence fades as in an
autoregressive process of first order, they are worth n (1 - r) / (1 + r) values, and Student's interval and test hold
with this size instead of n [2].

When to use: for windows or slices of one log in order of time. A block bootstrap, the usual remedy, needs long series:
where neighbours had a correlation of 0.3, blocks of two of 10 values held the mean no more often than a bootstrap
without blocks, and this method did (`benchmarks/interval_coverage.py`).

References:
    [1] F. H. C. Marriott, J. A. Pope: "Bias in the estimation of autocorrelations", Biometrika 41 (1954).
    [2] F. W. Zwiers, H. von Storch: "Taking serial correlation into account in tests of the mean", Journal of Climate 8
        (1995).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Autocorrelation up to which values count as independent: by chance, a quarter of ten independent ones have more.
NEGLIGIBLE = 0.2
#: Most autocorrelation that few values can show; what is more is taken for this.
MOST = 0.8
#: Spread of logarithms or shares that is rounding alone.
ROUNDING = 1e-9
#: Fewest values that have an interval.
LEAST_SIZE = 2.0


def autocorrelation(values: NDArray[np.float64]) -> float:
    """Return the autocorrelation of neighbours, corrected for its bias, -1 to 1; 0 of fewer than three, or equal ones.

    Args:
        values: in order of time: logarithms, or shares.
    """
    apart = values - values.mean()
    # What is equal but for rounding resembles nothing.
    if len(values) < 3 or np.ptp(values) < ROUNDING:
        return 0.0
    found = float(apart[1:] @ apart[:-1] / (apart @ apart))
    return min(max(found + (1.0 + 3.0 * found) / len(values), -1.0), 1.0)


def equivalent_size(values: NDArray[np.float64], most: int | None = None) -> float:
    """Return how many independent values some values in order of time are worth, at least 2 and at most their number.

    Args:
        values: likewise.
        most: how many of them can be independent at all, such as windows that do not overlap; None: all.
    """
    found, size = autocorrelation(values), float(len(values))
    if found > NEGLIGIBLE:
        bounded = min(found, MOST)
        size *= (1.0 - bounded) / (1.0 + bounded)
    return min(max(min(size, float(most or len(values))), LEAST_SIZE), float(len(values)))
