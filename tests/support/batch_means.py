"""Batch means, as the explorer computes them in the reader's browser (`report/explore/assets/changes.js`).

The values are put, in their order, into 20 batches of at least 20 each; the last one takes the rest. The interval is
Student's of the batches' means. There is none if batches that follow each other are alike: if their lag-1 correlation
exceeds what 20 independent ones hardly have by chance.

References:
    A. M. Law: "Simulation Modeling and Analysis", 5th edition, McGraw-Hill 2015, section 9.5.3.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from batdispatch.results.statistics.estimate import Estimate
from batdispatch.results.statistics.student import half_width

Floats = NDArray[np.float64]

BATCHES = 20
#: Fewest values of a batch.
FEWEST = 20


def mean_by_batches(values: Floats) -> Estimate:
    """Return the mean of values in their order with its 95 % interval, in the values' unit.

    Args:
        values: float64 [value], at least one.

    Returns:
        An estimate whose method is "batch means", or, without an interval, "too few values" or "batches alike".
    """
    mean, n = float(values.mean()), len(values)
    if n < BATCHES * FEWEST:
        return Estimate(mean, None, None, n, "too few values")
    batches = np.split(values, np.arange(1, BATCHES) * (n // BATCHES))
    means = np.array([batch.mean() for batch in batches])
    if lag_correlation(means) > 2 / math.sqrt(BATCHES):
        return Estimate(mean, None, None, n, "batches alike")
    half = half_width(means)
    return Estimate(mean, mean - half, mean + half, n, "batch means")


def lag_correlation(values: Floats) -> float:
    """Return the lag-1 correlation of values in their order, -1 to 1; 0 if all are equal."""
    apart = values - values.mean()
    square = float(apart @ apart)
    return float(apart[1:] @ apart[:-1]) / square if square else 0.0
