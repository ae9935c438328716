"""What is equal but for rounding is equal."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.campaigns.statistics.rounding import DIGITS, round_significant


def test_what_differs_by_rounding_alone_is_equal() -> None:
    values = np.array([0.1 + 0.2, 1e9, -3.0, 0.0, 1.0])
    assert round_significant(values).tolist() == [0.3, 1e9, -3.0, 0.0, 1.0]


def test_ten_digits_count_and_the_eleventh_does_not() -> None:
    one, eleventh, tenth = round_significant(np.array([1.0, 1.00000000004, 1.000000002])).tolist()
    assert (eleventh, tenth) == (one, 1.000000002)
    large, eleventh, tenth = round_significant(np.array([-86_400.0, -86_400.000_004, -86_400.000_02])).tolist()
    assert (eleventh, tenth) == (large, -86_400.000_02)


@given(st.floats(1e-9, 1e12), st.integers(-3, 3))
def test_a_value_moves_by_half_a_unit_of_the_last_digit_at_most(value: float, ulps: int) -> None:
    found = float(round_significant(np.array([value]))[0])
    assert abs(found - value) <= 0.5 * 10.0 ** (1 - DIGITS) * value * (1 + 1e-3)
    assert found == float(round_significant(np.array([found + ulps * np.spacing(found)]))[0])
