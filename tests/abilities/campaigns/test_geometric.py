"""Geometric means: by hand, in either direction of a ratio, and with something added."""

import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.campaigns.statistics.geometric import geometric_mean

RATIOS = st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=20)


def test_half_and_twice_as_much_are_as_much_as_nothing() -> None:
    assert geometric_mean([0.5, 2.0]) == 1.0
    assert geometric_mean([1.0, 10.0, 100.0]) == pytest.approx(10.0)


@given(RATIOS)
def test_it_is_the_inverse_of_that_of_the_inverses_and_that_of_pythons_library(ratios: list[float]) -> None:
    found = float(geometric_mean(ratios))
    assert found * float(geometric_mean(1 / np.array(ratios))) == pytest.approx(1.0)
    assert found == pytest.approx(statistics.geometric_mean(ratios), rel=1e-12)


def test_what_is_added_lets_zeros_count_and_is_taken_off_again() -> None:
    # (10 * 40) ** 0.5 - 10 and (10 * 10) ** 0.5 - 10.
    assert geometric_mean(np.array([[0.0, 0.0], [30.0, 0.0]]), 10.0, axis=0) == pytest.approx([10.0, 0.0])
