"""The interval and p of `mean_effect` beside a twin that shares no formula with it: contrasts, and SciPy's t.

The likelihood of a correlation is that of n - 2 contrasts, which no line through the windows changes.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg, optimize, stats

from batdispatch.abilities.campaigns.statistics.mean_effect import mean_effect
from batdispatch.abilities.campaigns.statistics.significance import LEAST


def twin(values: np.ndarray, size: int, *, in_time: bool) -> tuple[float, float, float]:
    """Return low, high and p."""
    n, mean = len(values), float(np.mean(values))
    if in_time:
        trend = np.vander(np.arange(n), 2)
        contrasts = linalg.null_space(trend.T)
        found = []
        for rho, prior in ((0.0, 1 - min(n / 80, 0.5)), (0.4, min(n / 80, 0.5) / 2), (0.9, min(n / 80, 0.5) / 2)):
            process = linalg.toeplitz(rho ** np.arange(n))
            shape = contrasts.T @ process @ contrasts
            square = float(contrasts.T @ values @ np.linalg.solve(shape, contrasts.T @ values))
            likelihood = -0.5 * (math.log(np.linalg.det(shape)) + (n - 2) * math.log(square))
            # The variance of a mean of n windows, of which `size` share no job.
            error = math.sqrt(square / (n - 2) * process.mean() * n / size)
            found.append((error, math.log(prior) + likelihood))
        top = max(weight for _, weight in found)
        total = sum(math.exp(weight - top) for _, weight in found)
        laws = [(stats.t(size - 2, scale=error), math.exp(weight - top) / total) for error, weight in found]
    else:
        laws = [(stats.t(size - 1, scale=values.std(ddof=1) / math.sqrt(size)), 1.0)]

    def beyond(distance: float) -> float:
        return sum(weight * 2 * float(law.sf(distance)) for law, weight in laws)

    widest = max(float(law.isf(0.025)) for law, _ in laws)
    half = optimize.bisect(lambda distance: beyond(distance) - 0.05, 0.0, widest * 1.001, xtol=1e-13, rtol=1e-12)
    p = beyond(abs(mean))
    if (values > 0).all() or (values < 0).all():
        p = min(p, 0.5 ** (size - 1))
    return max(mean - half, values.min()), min(mean + half, values.max()), p


@given(
    st.lists(st.floats(-3, 3).map(lambda value: round(value, 3)), min_size=LEAST, max_size=24, unique=True),
    st.integers(LEAST, 24),
    st.booleans(),
    st.sampled_from([0.0, 3.5]),
)
def test_interval_and_p_are_those_of_contrasts(values: list[float], size: int, in_time: bool, shift: float) -> None:
    array = np.array(values) + shift
    # On a line, rounding is all that is left.
    if np.polyfit(np.arange(len(array)), array, 1, full=True)[1].sum() < 1e-3:
        return
    size = min(size, len(array))
    found, (low, high, p) = mean_effect(array, in_time=in_time, size=size), twin(array, size, in_time=in_time)
    assert found.low is not None
    assert found.high is not None
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-5, abs=1e-7)
    assert found.p == pytest.approx(p, rel=1e-5, abs=1e-12)


@pytest.mark.parametrize("in_time", [True, False])
def test_the_sign_test_counts_windows_that_share_no_job(in_time: bool) -> None:
    # Nine windows, of which six share none: 2 of 2^6, and not 2 of 2^9. One of them alone makes Student's p large.
    values = np.array([1.0, 1.2, 0.9, 60.0, 1.1, 0.8, 1.0, 1.3, 0.7])
    assert mean_effect(values, in_time=in_time, size=6).p == 1 / 32
    assert mean_effect(values, in_time=in_time).p == 1 / 256
