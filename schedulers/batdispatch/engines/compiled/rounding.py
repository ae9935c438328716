"""Numbers rounded to six digits behind the point, exactly as Python rounds them.

A product such as x * 1e6 is off by its last digit, which matters where it comes out near a half. The error of a product
of doubles is a double itself [1], so that here the exact product is compared with the half.

References: [1] Dekker: "A floating-point technique for extending the available precision", Numerische Mathematik 18,
    1971, section 5.
"""

import numpy as np

from batdispatch.engines.compiled.jit import part

#: From here on neighbouring doubles are further apart than a microsecond, so rounding changes nothing.
COARSE = 2.0**33


@part
def millionths(x: float) -> float:
    """Return x * 1e6 as the nearest whole number, ties to even; x from 0 to `COARSE`."""
    scaled = x * 1e6
    high = 134217729.0 * x
    high = high - (high - x)
    # 1e6 has 14 significant bits, so that both products are exact.
    error = (high * 1e6 - scaled) + (x - high) * 1e6
    whole = np.rint(scaled)
    rest = scaled - whole
    odd = whole % 2.0 != 0.0
    above = (rest - 0.5) + error
    if above > 0.0 or (above == 0.0 and odd):
        return whole + 1.0
    below = (rest + 0.5) + error
    if below < 0.0 or (below == 0.0 and odd):
        return whole - 1.0
    return whole


@part
def round_six(x: float) -> float:
    """Return what ``round(x, 6)`` returns, for x from 0 to infinity."""
    return millionths(x) / 1e6 if x < COARSE else x
