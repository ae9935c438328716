"""Friedman's test, on the example of Demsar's paper and against its formula."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from batdispatch.results.statistics.friedman import friedman, rank_blocks
from demsar import TABLE_6


def test_demsar_table_6_average_ranks() -> None:
    average = rank_blocks(-TABLE_6).mean(axis=0)
    assert average == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)


def test_demsar_table_6_friedman_statistic_and_f() -> None:
    ranks = rank_blocks(-TABLE_6)
    chi2, f, p = friedman(ranks)
    # Demsar's formula has no correction for ties, which divides by 1 - sum(t^3 - t) / (N k (k^2 - 1)): four ranks are
    # equal on mushroom and two each on iris, lung cancer and primary tumor.
    plain = chi2 * (1 - (60 + 3 * 6) / (14 * 4 * 15))
    assert plain == pytest.approx(9.28, abs=0.005)
    assert 13 * plain / (14 * 3 - plain) == pytest.approx(3.69, abs=0.005)
    assert f == pytest.approx(13 * chi2 / (14 * 3 - chi2))
    # The critical value of F(3, 39) at 5 % is 2.85.
    assert stats.f.isf(0.05, 3, 39) == pytest.approx(2.85, abs=0.005)
    assert f > 2.85
    assert p == pytest.approx(float(stats.f.sf(f, 3, 39)))


@given(st.integers(2, 12), st.integers(3, 6), st.integers(0, 10_000))
def test_without_ties_the_statistic_is_demsars_formula(blocks: int, many: int, seed: int) -> None:
    ranks = rank_blocks(np.random.default_rng(seed).random((blocks, many)))
    average = ranks.mean(axis=0)
    plain = 12 * blocks / (many * (many + 1)) * (average @ average - many * (many + 1) ** 2 / 4)
    assert friedman(ranks)[0] == pytest.approx(plain, abs=1e-9)


def test_where_all_blocks_agree_f_has_no_end_and_p_is_none() -> None:
    assert friedman(np.array([[1.0, 2.0, 3.0]] * 6)) == (pytest.approx(12.0), np.inf, 0.0)
