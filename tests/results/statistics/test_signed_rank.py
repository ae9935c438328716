"""The signed-rank test, against all ways to give signs, and on how few pairs it can find anything."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.results.statistics.holm import holm
from batdispatch.results.statistics.signed_rank import signed_rank
from batdispatch.results.statistics.significance import ALPHA, LEAST, fewest_pairs


def every_sign(differences: list[int]) -> float:
    """Return Wilcoxon's two-sided p-value by going through all signs; zeros are ranked, and have none."""
    sizes = np.abs(differences)
    ranks = np.array([((sizes < one).sum() + (sizes <= one).sum() + 1) / 2 for one in sizes])
    ranks[sizes == 0] = 0.0
    signs = np.array(list(product((-1, 1), repeat=len(ranks))))
    sums = signs @ ranks
    return float((np.abs(sums) >= abs(np.sign(differences) @ ranks) - 1e-9).mean())


@given(st.lists(st.integers(-6, 6), min_size=2, max_size=9))
def test_the_signed_rank_test_is_that_over_all_signs(differences: list[int]) -> None:
    assert signed_rank(np.array(differences, dtype=float)) == pytest.approx(every_sign(differences))


def test_differences_that_are_equal_but_for_rounding_are_a_tie_in_size() -> None:
    # Ranks 1.5, -1.5 and 3: six of eight ways to give signs make a sum of at least 3. Ranks 2, -1 and 3 make it four.
    assert signed_rank(np.array([0.1 + 0.2, -0.3, 5.0])) == pytest.approx(0.75)


def test_of_five_pairs_none_is_significant_and_of_six_the_most_extreme_one_is() -> None:
    assert fewest_pairs() == LEAST == 6
    assert signed_rank(np.arange(1.0, 6.0)) == pytest.approx(1 / 16)
    assert signed_rank(np.arange(1.0, 7.0)) == pytest.approx(1 / 32)


@pytest.mark.parametrize("comparisons", [1, 2, 5, 20])
def test_one_that_always_wins_is_told_apart_from_others_on_the_fewest_pairs_and_not_on_one_less(
    comparisons: int,
) -> None:
    fewest = fewest_pairs(comparisons)
    for pairs, apart in ((fewest, True), (fewest - 1, False)):
        p = signed_rank(np.arange(1.0, pairs + 1.0))
        assert (max(holm([p] * comparisons)) < ALPHA) == apart
