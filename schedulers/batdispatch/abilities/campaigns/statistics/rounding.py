"""Values that are equal but for rounding: sums in another order differ in the last digits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Values that agree in so many significant digits are equal.
DIGITS = 10


def round_significant(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values rounded to `DIGITS` significant digits, so that what is equal but for rounding is equal.

    When to use: before values are ranked, compared or counted as ties.
    """
    size = np.abs(values)
    with np.errstate(divide="ignore"):
        digits = np.where(size > 0, np.floor(np.log10(np.where(size > 0, size, 1.0))), 0.0)
    scale = 10.0 ** (DIGITS - 1 - digits)
    return np.asarray(np.round(values * scale) / scale)
