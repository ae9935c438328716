"""Holm's correction: by hand, on Demsar's example, and what it promises of any p-values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from batdispatch.results.statistics.friedman import rank_blocks
from batdispatch.results.statistics.holm import holm
from demsar import TABLE_6


def test_holm_by_hand() -> None:
    # Sorted: 0.005 * 4, 0.01 * 3, 0.03 * 2, 0.04 * 1 which may not be below 0.06.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_demsar_section_3_2_2_holm_on_the_example() -> None:
    # z = 2.416, 2.342 and 0.512 against C4.5, p = 0.016, 0.019 and 0.607: the first two are significant.
    spread = np.sqrt(4 * 5 / (6 * 14))
    ranks = rank_blocks(-TABLE_6).mean(axis=0)
    p = [2 * float(stats.norm.sf((ranks[0] - ranks[column]) / spread)) for column in (3, 1, 2)]
    assert p == pytest.approx([0.016, 0.019, 0.607], abs=2e-3)
    assert holm(p) == pytest.approx([3 * p[0], 3 * p[0], p[2]])
    assert [value < 0.05 for value in holm(p)] == [True, True, False]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_corrected_values_keep_their_order_and_lie_between_none_and_bonferronis(values: list[float]) -> None:
    adjusted = holm(values)
    for p, corrected in zip(values, adjusted, strict=True):
        assert p <= corrected <= min(1.0, len(values) * p)
    order = np.argsort(values, kind="stable")
    assert (np.diff(np.array(adjusted)[order]) >= 0).all()
    assert adjusted[order[0]] == min(1.0, len(values) * values[order[0]])
