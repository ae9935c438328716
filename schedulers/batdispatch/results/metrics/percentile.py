"""Median and percentiles as numpy works them out, without what it loads for them: a short run would wait for that."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def percentile(values: NDArray[np.float64], percent: float) -> float:
    """Return the number that so many percent of some values do not exceed, linear between two of them.

    It is `np.percentile`'s to the last digit.

    Args:
        values: at least one, none of them NaN.
        percent: from 0 to 100.
    """
    place = (len(values) - 1) * (percent / 100)
    below = math.floor(place)
    above, share = min(below + 1, len(values) - 1), place - below
    low, high = np.partition(values, [below, above])[[below, above]].tolist()
    step: float = high - low
    return float(high - step * (1 - share) if share >= 0.5 else low + step * share)


def median(values: NDArray[np.float64]) -> float:
    """Return the median of some values, at least one and none of them NaN: `np.median`'s to the last digit."""
    middle = len(values) // 2
    places = [middle - 1 + len(values) % 2, middle]
    low, high = np.partition(values, places)[places].tolist()
    return float((low + high) / 2)
