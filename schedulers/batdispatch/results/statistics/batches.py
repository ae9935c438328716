"""Batch means: how well the mean over the jobs of one run, or of two on the same jobs, is known.

Jobs that come one after the other wait for the same queue, so single jobs are not independent, and means of batches may
be. The values are put, in their order, into at most 20 batches of at least 20 each; the last one takes the rest. The
interval is Student's of the batches' means. If batches that follow each other are alike, they count for as many
independent ones as `dependence` says.

When to use: for differences between two runs of one log. They tell of this log's stretch of time and of others like it,
and not of other machines. The explorer computes the same in the reader's browser (`report/explore/assets/changes.js`).

References:
    A. M. Law: "Simulation Modeling and Analysis", 5th edition, McGraw-Hill 2015, section 9.5.3.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from batdispatch.results.statistics.dependence import equivalent_size
from batdispatch.results.statistics.estimate import Estimate

Floats = NDArray[np.float64]

#: Most batches, fewest values of a batch, and fewest batches that have an interval.
BATCHES, FEWEST, LEAST = 20, 20, 5
#: Student's 97.5 % quantiles of 1 to 19 degrees of freedom. SciPy, which knows all, takes long to import.
QUANTILES = (
    *(12.7062, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.306, 2.26216, 2.22814),
    *(2.20099, 2.17881, 2.16037, 2.14479, 2.13145, 2.11991, 2.10982, 2.10092, 2.09302),
)


def mean_by_batches(values: Floats) -> Estimate:
    """Return the mean of values in their order with its 95 % interval, in the values' unit.

    Args:
        values: float64 [value], at least one.

    Returns:
        An estimate whose method is "batch means", or "too few values" without an interval.
    """
    mean, n = float(values.mean()), len(values)
    count = min(BATCHES, n // FEWEST)
    if count < LEAST:
        return Estimate(mean, None, None, n, "too few values")
    means = np.array([batch.mean() for batch in np.split(values, np.arange(1, count) * (n // count))])
    size = equivalent_size(means)
    half = quantile(size - 1) * float(np.std(means, ddof=1)) / math.sqrt(size)
    return Estimate(mean, mean - half, mean + half, n, "batch means")


def quantile(freedom: float) -> float:
    """Return Student's 97.5 % quantile of 1 to 19 degrees of freedom.

    Between whole ones, its logarithm is taken for linear in their inverse, which is right within 3 %.
    """
    inverse = [1 / whole for whole in range(len(QUANTILES), 0, -1)]
    return math.exp(float(np.interp(1 / freedom, inverse, np.log(QUANTILES[::-1]))))
