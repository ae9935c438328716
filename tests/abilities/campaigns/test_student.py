"""Student's intervals: his own example, and how often they hold the mean."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.campaigns.statistics.student import half_width, mean_by_student

#: Hours of sleep gained by one drug over the other (Student, Biometrika 6, 1908).
SLEEP = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]


def test_students_own_example() -> None:
    found = mean_by_student(SLEEP)
    assert found[:3] == pytest.approx((1.58, 0.7001142, 2.4598858), abs=5e-8)
    assert (found.n, found.method) == (10, "t")
    assert half_width(SLEEP) == pytest.approx((2.4598858 - 0.7001142) / 2, abs=5e-8)


def test_one_value_has_no_interval_and_no_width() -> None:
    assert mean_by_student([5.0]) == (5.0, None, None, 1, "none", None)
    assert half_width([5.0]) == 0


@pytest.mark.parametrize("n", [2, 3, 10])
def test_of_normal_values_the_interval_holds_the_mean_in_95_of_100_cases(n: int) -> None:
    samples = np.random.default_rng(n).normal(7.0, 3.0, (1000, n))
    held = [abs(sample.mean() - 7.0) <= half_width(sample) for sample in samples]
    # Three standard deviations of a share of 1,000.
    assert np.mean(held) == pytest.approx(0.95, abs=3 * math.sqrt(0.95 * 0.05 / 1000))


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20),
    st.floats(0.001, 1000),
    st.floats(-1e6, 1e6),
)
def test_the_width_scales_with_the_unit_and_not_with_the_origin(
    values: list[float], unit: float, origin: float
) -> None:
    moved = [unit * value + origin for value in values]
    assert half_width(moved) == pytest.approx(unit * half_width(values), rel=1e-6, abs=1e-4)
