"""Ranks and what can be told apart, on the example of Demsar's paper (JMLR 7, 2006, table 6 and section 3.2.2)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from batdispatch.results.comparison.aims import Aim
from batdispatch.results.comparison.pairs import holm
from batdispatch.results.comparison.ranks import (
    Ranking,
    Refused,
    by_workload,
    critical_difference,
    friedman,
    groups,
    rank,
    ranked,
)
from batdispatch.results.comparison.table import Block, Measured

#: Area under the curve of C4.5 without and with m and cf tuned, on 14 data sets.
TABLE_6 = np.array(
    [
        (0.763, 0.768, 0.771, 0.798),
        (0.599, 0.591, 0.590, 0.569),
        (0.954, 0.971, 0.968, 0.967),
        (0.628, 0.661, 0.654, 0.657),
        (0.882, 0.888, 0.886, 0.898),
        (0.936, 0.931, 0.916, 0.931),
        (0.661, 0.668, 0.609, 0.685),
        (0.583, 0.583, 0.563, 0.625),
        (0.775, 0.838, 0.866, 0.875),
        (1.000, 1.000, 1.000, 1.000),
        (0.940, 0.962, 0.965, 0.962),
        (0.619, 0.666, 0.614, 0.669),
        # The paper prints 0.975 twice, with ranks 2 and 3.
        (0.972, 0.981, 0.9751, 0.975),
        (0.957, 0.978, 0.946, 0.970),
    ]
)
NAMES = ("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf")
AUC = Aim("auc", "AUC", "difference", better="higher")
WAIT = Aim("mean_waiting_time", "mean waiting time", added=10.0)


def table(values: np.ndarray, names: tuple[str, ...] | None = None) -> Measured:
    blocks = tuple(Block("log", str(index)) for index in range(len(values)))
    names = names or tuple("abcdefghij"[: values.shape[1]])
    return Measured("x", blocks, names, np.asarray(values, dtype=float))


def test_demsar_table_6_average_ranks() -> None:
    average = ranked(AUC.losing(TABLE_6)).mean(axis=0)
    assert average == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)


def test_demsar_table_6_friedman_statistic_and_f() -> None:
    ranks = ranked(AUC.losing(TABLE_6))
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


def test_demsar_table_6_critical_difference_of_nemenyi() -> None:
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)
    assert critical_difference(4, 14, 0.10) == pytest.approx(1.12, abs=0.005)


def test_demsar_table_5a_critical_values_of_nemenyi() -> None:
    # sqrt(k (k + 1) / (6 N)) is 1 for N = k (k + 1) / 6, so that the difference is the critical value itself.
    for many, q in ((2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (7, 2.949), (8, 3.031)):
        assert critical_difference(many, many * (many + 1)) * np.sqrt(6) == pytest.approx(q, abs=1.5e-3)


def test_demsar_section_3_2_2_holm_on_the_example() -> None:
    # z = 2.416, 2.342 and 0.512 against C4.5, p = 0.016, 0.019 and 0.607: the first two are significant.
    spread = np.sqrt(4 * 5 / (6 * 14))
    ranks = ranked(AUC.losing(TABLE_6)).mean(axis=0)
    p = [2 * float(stats.norm.sf((ranks[0] - ranks[column]) / spread)) for column in (3, 1, 2)]
    assert p == pytest.approx([0.016, 0.019, 0.607], abs=2e-3)
    assert holm(p) == pytest.approx([3 * p[0], 3 * p[0], p[2]])
    assert [value < 0.05 for value in holm(p)] == [True, True, False]


def test_demsar_table_6_nobody_but_the_extremes_can_be_told_apart_at_10_percent() -> None:
    # Section 3.2.2: "at p = 0.10, CD is 1.12", and C4.5 is significantly worse than C4.5+m and C4.5+m+cf.
    found = rank(table(TABLE_6, NAMES), AUC, alpha=0.10)
    assert isinstance(found, Ranking)
    assert found.dispatchers == ("C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5")
    assert found.groups == (("C4.5+m+cf", "C4.5+m", "C4.5+cf"), ("C4.5+cf", "C4.5"))


def test_demsar_table_6_the_test_at_5_percent_is_not_powerful_enough() -> None:
    # The difference between best and worst, 3.143 - 1.964 = 1.18, is smaller than 1.25.
    found = rank(table(TABLE_6, NAMES), AUC)
    assert isinstance(found, Ranking)
    assert found.groups == (("C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"),)


def test_groups_leave_out_those_within_others_and_those_of_one() -> None:
    assert groups("abcde", [1.0, 1.5, 2.4, 4.0, 4.1], 1.0) == (("a", "b"), ("b", "c"), ("d", "e"))
    assert groups("abc", [1.0, 2.0, 3.0], 1.0) == ()


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (np.arange(15.0).reshape(5, 3), "there are 5 replicates, and of fewer than 6"),
        (np.arange(20.0).reshape(10, 2), "ranks need three dispatchers"),
        (np.where(np.arange(30) == 4, np.nan, np.arange(30.0)).reshape(10, 3), "b has no value on some replicates"),
        (np.ones((10, 3)), "all dispatchers are equal"),
        (np.array([[1, 2, 3], [2, 3, 1], [3, 1, 2]] * 3), "finds no difference between the 3 dispatchers over 9"),
    ],
)
def test_what_cannot_be_ranked_is_refused_in_a_sentence(values: np.ndarray, why: str) -> None:
    found = rank(table(values), WAIT)
    assert isinstance(found, Refused)
    assert why in found.why
    assert found.why.startswith("Nothing is ranked: ")
    assert found.why.endswith(".")


def test_a_dispatcher_that_is_always_best_is_ranked_first_with_all_blocks_in_agreement() -> None:
    found = rank(table(np.array([[3, 2, 1]] * 6) * np.arange(1, 7)[:, None]), WAIT)
    assert isinstance(found, Ranking)
    assert found.dispatchers == ("c", "b", "a")
    assert found.ranks == (1.0, 2.0, 3.0)
    assert found.f == np.inf
    assert found.p == 0.0


@settings(max_examples=60, deadline=None)
@given(st.integers(6, 12), st.integers(3, 6), st.integers(0, 10_000), st.booleans())
def test_neither_the_order_of_blocks_nor_an_increasing_scale_changes_ranks(
    blocks: int, many: int, seed: int, effect: bool
) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(1, 50, size=(blocks, many)) + (np.arange(many) * 40 if effect else 0)
    found = rank(table(values), WAIT)
    again = rank(table(np.exp(values[rng.permutation(blocks)] / 50)), WAIT)
    if isinstance(found, Refused) or isinstance(again, Refused):
        assert isinstance(found, Refused)
        assert isinstance(again, Refused)
        return
    assert found.dispatchers == again.dispatchers
    assert found.ranks == pytest.approx(again.ranks)
    assert sum(found.ranks) == pytest.approx(many * (many + 1) / 2)
    for group in found.groups:
        low, high = (found.ranks[found.dispatchers.index(name)] for name in (group[0], group[-1]))
        assert high - low < found.difference
    # Two that no group holds are at least the critical difference apart.
    for i, one in enumerate(found.dispatchers):
        for j, other in enumerate(found.dispatchers):
            together = any(one in group and other in group for group in found.groups)
            assert i == j or together == (abs(found.ranks[i] - found.ranks[j]) < found.difference)


def test_workloads_count_once_each_by_their_geometric_mean() -> None:
    blocks = (Block("x", "0"), Block("y", "0"), Block("x", "1"))
    found = by_workload(Measured("w", blocks, ("a",), np.array([[90.0], [7.0], [390.0]])), WAIT)
    # (100 * 400) ** 0.5 - 10.
    assert found.values == pytest.approx(np.array([[190.0], [7.0]]))
    assert [block.workload for block in found.blocks] == ["x", "y"]
