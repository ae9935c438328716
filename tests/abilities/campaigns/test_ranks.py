"""Rankings: what is ranked, what is refused, and who can be told apart, on the example of Demsar's paper."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.campaigns.page.aims import Aim
from batdispatch.abilities.campaigns.page.ranks import NoRanking, Ranking, by_workload, groups_of, rank, rank_blocks
from batdispatch.abilities.campaigns.page.table import Block, RunMetric
from demsar import NAMES, TABLE_6

AUC = Aim("auc", "AUC", "difference", better="higher")
WAIT = Aim("mean_waiting_time", "mean wait", added=10.0)


def table(values: np.ndarray, names: tuple[str, ...] | None = None) -> RunMetric:
    blocks = tuple(Block("log", str(index)) for index in range(len(values)))
    names = names or tuple("abcdefghij"[: values.shape[1]])
    return RunMetric("x", blocks, names, np.asarray(values, dtype=float))


def test_demsar_table_6_has_the_papers_ranks_and_each_pair_its_own_verdict() -> None:
    found = rank(table(TABLE_6, NAMES), AUC)
    assert isinstance(found, Ranking)
    assert found.dispatchers == ("C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5")
    # The last row of table 6.
    assert found.ranks == pytest.approx((1.964, 2.000, 2.893, 3.143), abs=5e-4)
    # Student's t of the 14 differences, whose 97.5 % quantile is 2.1604.
    for one, other in combinations(found.dispatchers, 2):
        apart = TABLE_6[:, NAMES.index(one)] - TABLE_6[:, NAMES.index(other)]
        t = apart.mean() / (apart.std(ddof=1) / 14**0.5)
        assert ((one, other) in found.ties) == (abs(t) < 2.1604)
    assert ("C4.5+m", "C4.5") not in found.ties


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (np.arange(15.0).reshape(5, 3), "there are 5 replicates, and of fewer than 6"),
        (np.arange(20.0).reshape(10, 2), "ranks need three dispatchers"),
        (np.where(np.arange(30) == 4, np.nan, np.arange(30.0)).reshape(10, 3), "b has no value on some replicates"),
        (np.ones((10, 3)), "all dispatchers are equal"),
    ],
)
def test_what_cannot_be_ranked_is_refused_in_a_sentence(values: np.ndarray, why: str) -> None:
    found = rank(table(values), WAIT)
    assert isinstance(found, NoRanking)
    assert why in found.why
    assert found.why.startswith("Nothing is ranked: ")
    assert found.why.endswith(".")


def test_what_is_equal_but_for_rounding_shares_its_rank() -> None:
    assert rank_blocks(np.array([[3.0, 3.0 * (1 + 1e-13), 1.0], [3.0, 3.0 * (1 + 1e-8), 7.0]])).tolist() == [
        [2.5, 2.5, 1.0],
        [1.0, 2.0, 3.0],
    ]


def test_a_dispatcher_that_is_always_best_is_ranked_first_with_all_blocks_in_agreement() -> None:
    found = rank(table(np.array([[3, 2, 1]] * 6) * np.arange(1, 7)[:, None]), WAIT)
    assert isinstance(found, Ranking)
    assert found.dispatchers == ("c", "b", "a")
    assert found.ranks == (1.0, 2.0, 3.0)
    assert found.ties == found.groups == ()


def test_where_no_two_can_be_told_apart_one_group_holds_all() -> None:
    found = rank(table(np.array([[1, 2, 3], [2, 3, 1], [3, 1, 2]] * 3)), WAIT)
    assert isinstance(found, Ranking)
    assert (len(found.ties), found.groups) == (3, (("a", "b", "c"),))


@given(st.integers(2, 7), st.data())
def test_a_group_joins_only_neighbours_of_which_each_two_are_a_tie(many: int, data: st.DataObject) -> None:
    names = tuple("abcdefg"[:many])
    ties = tuple(both for both in combinations(names, 2) if data.draw(st.booleans()))
    groups = groups_of(names, ties)
    runs = [names[i:j] for i in range(many) for j in range(i + 2, many + 1)]
    whole = [run for run in runs if all(both in ties for both in combinations(run, 2))]
    assert set(groups) == {run for run in whole if not any(set(run) < set(other) for other in whole)}


@given(st.integers(6, 12), st.integers(3, 6), st.integers(0, 10_000), st.booleans())
def test_the_order_of_blocks_changes_no_rank_and_no_tie(blocks: int, many: int, seed: int, effect: bool) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(1, 50, size=(blocks, many)) + (np.arange(many) * 40 if effect else 0)
    found, again = rank(table(values), WAIT), rank(table(values[rng.permutation(blocks)]), WAIT)
    if isinstance(found, NoRanking) or isinstance(again, NoRanking):
        assert found == again
        return
    assert (found.dispatchers, found.ties) == (again.dispatchers, again.ties)
    assert found.ranks == pytest.approx(again.ranks)
    assert sum(found.ranks) == pytest.approx(many * (many + 1) / 2)


def test_workloads_count_once_each_by_their_geometric_mean() -> None:
    blocks = (Block("x", "0"), Block("y", "0"), Block("x", "1"))
    found = by_workload(RunMetric("w", blocks, ("a",), np.array([[90.0], [7.0], [390.0]])), WAIT)
    # (100 * 400) ** 0.5 - 10.
    assert found.values == pytest.approx(np.array([[190.0], [7.0]]))
    assert [block.workload for block in found.blocks] == ["x", "y"]


def test_more_is_better_where_the_aim_says_so_and_equal_ranks_keep_the_order_of_the_table() -> None:
    rows = np.array([[1, 5, 5, 9], [2, 6, 6, 9]] * 4)
    lower, higher = rank(table(rows), WAIT), rank(table(rows), AUC)
    assert isinstance(lower, Ranking)
    assert isinstance(higher, Ranking)
    assert lower.dispatchers == ("a", "b", "c", "d")
    assert higher.dispatchers == ("d", "b", "c", "a")
    assert lower.ranks == higher.ranks == (1.0, 2.5, 2.5, 4.0)


def test_blocks_that_share_jobs_count_once() -> None:
    rows = np.array([[1, 2, 3]] * 8)
    shared = replace(table(rows), independent=4)
    found = rank(shared, WAIT)
    assert isinstance(found, NoRanking)
    assert "there is room for 4 replicates that share no job" in found.why


@pytest.mark.parametrize(("part", "kind"), [("window", "window"), ("slice", "slice"), ("seed", "")])
def test_parts_of_a_log_make_one_figure(part: str, kind: str) -> None:
    blocks = tuple(Block("log", f"{part} {number}") for number in range(3))
    parts = RunMetric("w", blocks, ("a",), np.array([[1.0], [2.0], [9.0]]))
    assert parts.kind == kind
    most = Aim("max_waiting_time", "longest wait", "difference", extreme=True)
    mean = Aim("mean_waiting_time", "mean wait", "difference")
    # The mean of all is 4; the most of all is 9, if these are parts of one log.
    assert by_workload(parts, mean).values.tolist() == [[4.0]]
    assert by_workload(parts, most).values.tolist() == ([[9.0]] if kind == "window" else [[4.0]])
