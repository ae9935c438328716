"""Intervals of a mean over one long run, whose values follow each other, by batch means.

Jobs that come one after the other wait for the same queue, so the waits of single jobs are not independent. The means
of long batches of them may be. The values are put, in their order, into b = 20 batches of at least 20 each; the last
one takes the rest. With the mean m_i of batch i and the mean m of these, the interval is

    mean +- t_(b - 1) sqrt(sum_i (m_i - m)^2 / (b (b - 1))).

There is no interval if batches that follow each other are alike, which is to say that their lag-1 correlation

    sum_i (m_i - m) (m_(i + 1) - m) / sum_i (m_i - m)^2

exceeds 2 / sqrt(b), which 20 independent ones hardly do by chance: then all values tell of one stretch of time.

When to use: for a mean over the jobs of a single run, in order of submission. If there are several independent runs,
use `bootstrap` or `student` on their means. The explorer of the report computes the same in the reader's browser
(`report/explore/assets/changes.js`, with t to three decimals); a test holds the two against each other.

References:
    A. M. Law: "Simulation Modeling and Analysis", 5th edition, McGraw-Hill 2015, section 9.5.3.
    B. Schmeiser: "Batch size effects in the analysis of simulation output", Operations Research 30 (1982), which takes
    10 to 30 batches.
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
