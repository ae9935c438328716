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

import numpy as np
from numpy.typing import NDArray

from batdispatch.results.statistics.dependence import equivalent_size
from batdispatch.results.statistics.estimate import Estimate
from batdispatch.results.statistics.student import mean_by_student

Floats = NDArray[np.float64]

#: Most batches, fewest values of a batch, and fewest batches that have an interval.
BATCHES, FEWEST, LEAST = 20, 20, 5


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
    middle = mean_by_student(means, size=equivalent_size(means))
    assert middle.low is not None
    half = middle.value - middle.low
    return Estimate(mean, mean - half, mean + half, n, "batch means")
