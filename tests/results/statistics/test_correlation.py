"""Spearman's correlation by its formula, and where there is none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.results.statistics.correlation import rank_correlation


@given(st.permutations(list(range(8))))
def test_without_ties_it_is_spearmans_formula_and_asks_for_order_alone(order: list[int]) -> None:
    one, other = np.arange(8.0), np.array(order, dtype=float)
    plain = 1 - 6 * float(((one - other) ** 2).sum()) / (8 * 63)
    assert rank_correlation(one, other) == pytest.approx(plain)
    assert rank_correlation(np.exp(one), other**3) == pytest.approx(plain)


@pytest.mark.filterwarnings("error")
def test_where_all_values_are_equal_there_is_none_and_no_warning() -> None:
    assert np.isnan(rank_correlation(np.ones(3), np.arange(3.0)))
    assert np.isnan(rank_correlation(np.arange(3.0), np.ones(3)))
