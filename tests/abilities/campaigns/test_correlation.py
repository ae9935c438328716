"""Spearman's correlation by its formula, the share of pairs by counting them, and where there is none."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.campaigns.statistics.correlation import rank_correlation, share_of_pairs


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


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=12))
def test_the_share_of_pairs_is_counted_one_by_one(values: list[tuple[int, int]]) -> None:
    ours, theirs = (np.array(side, dtype=float) for side in zip(*values, strict=True))
    signs = [np.sign((ours[i] - ours[j]) * (theirs[i] - theirs[j])) for i, j in combinations(range(len(values)), 2)]
    counted = [sign for sign in signs if sign]
    found = share_of_pairs(ours, theirs)
    if counted:
        assert found == pytest.approx(counted.count(1) / len(counted))
    else:
        assert np.isnan(found)
