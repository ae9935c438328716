"""Rankings: what is ranked, what is refused, and who can be told apart, on the example of Demsar's paper."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.report.replicates.aims import Aim
from batdispatch.report.replicates.ranks import NoRanking, Ranking, by_workload, rank
from batdispatch.report.replicates.table import Block, RunMetric
from demsar import NAMES, TABLE_6

AUC = Aim("auc", "AUC", "difference", better="higher")
WAIT = Aim("mean_waiting_time", "mean wait", added=10.0)


def table(values: np.ndarray, names: tuple[str, ...] | None = None) -> RunMetric:
    blocks = tuple(Block("log", str(index)) for index in range(len(values)))
    names = names or tuple("abcdefghij"[: values.shape[1]])
    return RunMetric("x", blocks, names, np.asarray(values, dtype=float))


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
    assert isinstance(found, NoRanking)
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


@given(st.integers(6, 12), st.integers(3, 6), st.integers(0, 10_000), st.booleans())
def test_neither_the_order_of_blocks_nor_an_increasing_scale_changes_ranks(
    blocks: int, many: int, seed: int, effect: bool
) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(1, 50, size=(blocks, many)) + (np.arange(many) * 40 if effect else 0)
    found = rank(table(values), WAIT)
    again = rank(table(np.exp(values[rng.permutation(blocks)] / 50)), WAIT)
    if isinstance(found, NoRanking) or isinstance(again, NoRanking):
        assert isinstance(found, NoRanking)
        assert isinstance(again, NoRanking)
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
    found = by_workload(RunMetric("w", blocks, ("a",), np.array([[90.0], [7.0], [390.0]])), WAIT)
    # (100 * 400) ** 0.5 - 10.
    assert found.values == pytest.approx(np.array([[190.0], [7.0]]))
    assert [block.workload for block in found.blocks] == ["x", "y"]
