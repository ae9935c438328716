"""Paired comparisons: effects, wins, and when they are tested."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.campaigns.page.aims import AIMS, Aim
from batdispatch.abilities.campaigns.page.pairs import against, pair
from batdispatch.abilities.campaigns.page.table import Block, RunMetric, metric_of
from batdispatch.core.errors import InputError
from batdispatch.results.metrics.compute import describe

WAIT, SLOWDOWN, LONGEST, *_, UTILISATION = AIMS


def table(**columns: list[float]) -> RunMetric:
    values = np.array(list(columns.values()), dtype=float).T
    return RunMetric("x", tuple(Block("log", str(row)) for row in range(len(values))), tuple(columns), values)


def test_aims_are_metrics_and_better_as_the_registry_says() -> None:
    for aim in AIMS:
        known = describe(aim.metric)
        assert known is not None
        assert known.better == aim.better
        # What is added to waits are seconds.
        assert (known.unit == "s") == (aim.added > 0)


def test_a_ratio_is_a_geometric_mean_and_a_difference_a_mean() -> None:
    found = pair(table(a=[2.0, 8.0], b=[1.0, 1.0]), SLOWDOWN, "a", "b")
    assert found.effect is not None
    assert found.effect.value == pytest.approx(4.0)
    assert (found.wins, found.ties, found.losses) == (0, 0, 2)
    found = pair(table(a=[0.7, 0.9], b=[0.6, 0.6]), UTILISATION, "a", "b")
    assert found.effect is not None
    assert found.effect.value == pytest.approx(0.2)
    assert (found.wins, found.ties, found.losses, found.won) == (2, 0, 0, 1.0)


def test_waits_of_zero_have_a_ratio() -> None:
    found = pair(table(a=[0.0, 30.0], b=[0.0, 10.0]), WAIT, "a", "b")
    assert found.effect is not None
    assert found.effect.value == pytest.approx(2**0.5)
    assert (found.wins, found.ties, found.losses, found.won) == (0, 1, 1, 0.25)


@pytest.mark.parametrize("kind", ["seed", "window"])
def test_what_only_rounding_tells_apart_is_a_tie_and_no_effect(kind: str) -> None:
    """Ten sums in another order: each is a 10^-13th more, which is no wait of anybody."""
    theirs = np.random.default_rng(1).uniform(10, 1000, 10)
    blocks = tuple(Block("log", f"{kind} {number}") for number in range(10))
    rows = RunMetric("x", blocks, ("a", "b"), np.column_stack([theirs * (1 + 1e-13), theirs]))
    for aim in (WAIT, SLOWDOWN):
        found = pair(rows, aim, "a", "b")
        assert found.effect == (1.0, 1.0, 1.0, 10, "all equal", 1.0)
        assert (found.wins, found.ties, found.losses, found.apart) == (0, 10, 0, False)


def test_replicates_that_share_jobs_count_for_as_many_as_share_none() -> None:
    """Eight logarithms of mean 0 and s^2 = 4 (.09 + .01) / 7; as six values, t(5, 97.5 %) = 2.570582."""
    ours = np.exp([0.3, 0.1, -0.1, -0.3] * 2)
    rows = replace(table(a=ours.tolist(), b=[1.0] * 8), independent=6)
    found = pair(rows, SLOWDOWN, "a", "b").effect
    assert found is not None
    assert found.high == pytest.approx(math.exp(2.570582 * math.sqrt(0.4 / 7 / 6)), rel=1e-6)
    assert pair(replace(rows, independent=5), SLOWDOWN, "a", "b").p is None


def test_the_logs_of_a_table_are_independent_of_each_other() -> None:
    """Six logs, each in two windows: Student's interval of the six logarithms of the ratio of the logs' means."""
    ratios = [0.5, 0.7, 0.9, 1.1, 0.8, 0.6]
    blocks = tuple(Block(f"log {log}", f"window {part}") for log in range(6) for part in range(2))
    theirs = np.array([each for log in range(6) for each in (2.0 + log, 4.0 + log)])
    ours = theirs * np.repeat(ratios, 2)
    found = pair(RunMetric("x", blocks, ("a", "b"), np.column_stack([ours, theirs])), SLOWDOWN, "a", "b").effect
    assert found is not None
    mean = sum(map(math.log, ratios)) / 6
    spread = math.sqrt(sum((math.log(ratio) - mean) ** 2 for ratio in ratios) / 5)
    # t(5, 97.5 %) = 2.570582.
    assert found.high == pytest.approx(math.exp(mean + 2.570582 * spread / math.sqrt(6)), rel=1e-6)
    assert found.value == pytest.approx(math.exp(mean))


def test_one_replicate_has_neither_interval_nor_test() -> None:
    found = pair(table(a=[2.0], b=[1.0]), SLOWDOWN, "a", "b")
    assert found.effect is not None
    assert found.effect == (2.0, None, None, 1, "few", None)
    assert found.p is None
    assert not found.apart


def test_five_replicates_are_not_tested_and_six_may_be_significant() -> None:
    many = [2.0 + 0.1 * step for step in range(6)]
    assert pair(table(a=many[:5], b=[1.0] * 5), SLOWDOWN, "a", "b").p is None
    found = pair(table(a=many, b=[1.0] * 6), SLOWDOWN, "a", "b")
    assert found.apart
    assert found.effect is not None
    # Nowhere is a more than 2.5 times b, and nowhere less than twice.
    assert 2.0 <= (found.effect.low or 0.0) < found.effect.value < (found.effect.high or 9.0) <= 2.5


def test_replicates_without_a_value_are_left_out_and_then_nothing_is_tested() -> None:
    found = pair(table(a=[2.0, np.nan, *[8.0] * 8], b=[1.0] * 10), SLOWDOWN, "a", "b")
    assert found.n == 9
    assert found.effect is not None
    assert (found.effect.n, found.effect.low, found.effect.method) == (9, None, "gaps")
    assert found.p is None
    nothing = pair(table(a=[np.nan], b=[1.0]), SLOWDOWN, "a", "b")
    assert nothing.effect is None
    assert nothing.n == 0


def test_each_pair_is_told_apart_by_its_own_interval() -> None:
    rng = np.random.default_rng(1)
    base = rng.uniform(1, 2, 8)
    found = against(
        table(base=list(base), a=list(base * 2), b=list(base * rng.uniform(0.9, 1.1, 8)), c=list(base)),
        SLOWDOWN,
        "base",
    )
    assert [one.ours for one in found] == ["a", "b", "c"]
    assert [one.apart for one in found] == [True, False, False]
    assert found[2].p == 1.0


@given(st.lists(st.tuples(st.floats(1, 1e6), st.floats(1, 1e6)), min_size=2, max_size=8))
def test_who_is_compared_with_whom_turns_everything_round(values: list[tuple[float, float]]) -> None:
    one = table(a=[first for first, _ in values], b=[second for _, second in values])
    for aim in (SLOWDOWN, WAIT):
        there, back = pair(one, aim, "a", "b"), pair(one, aim, "b", "a")
        assert there.effect is not None
        assert back.effect is not None
        assert there.effect.value * back.effect.value == pytest.approx(1.0)
        assert (there.wins, there.ties, there.losses) == (back.losses, back.ties, back.wins)
        assert there.won + back.won == pytest.approx(1.0)
        assert there.p == back.p


def test_what_differs_by_rounding_alone_is_equal() -> None:
    assert pair(table(a=[0.1 + 0.2], b=[0.3]), SLOWDOWN, "a", "b").ties == 1
    assert pair(table(a=[1.0 + 1e-6], b=[1.0]), SLOWDOWN, "a", "b").losses == 1


def frame() -> pd.DataFrame:
    rows = [(w, r, d) for w in ("x", "y") for r in (0, 1) for d in ("easy", "fcfs")]
    runs = pd.DataFrame(rows, columns=["workload", "replicate", "dispatcher"])
    runs["wait"] = [float(value) for value in range(8)]
    return runs


def test_a_table_has_a_row_for_each_replicate_and_gaps_where_there_is_no_run() -> None:
    runs = frame()
    runs.loc[2, "wait"] = None
    found = metric_of(runs.drop(index=5), "wait")
    assert found.blocks == (Block("x", "0"), Block("x", "1"), Block("y", "0"), Block("y", "1"))
    assert found.dispatchers == ("easy", "fcfs")
    np.testing.assert_array_equal(found.values, [[0, 1], [np.nan, 3], [4, np.nan], [6, 7]])
    assert found.whole == ()
    assert found.on("y").blocks == (Block("y", "0"), Block("y", "1"))
    assert found.on("y").whole == ("easy",)
    assert found.only(["fcfs"]).values.tolist()[0] == [1.0]


def test_two_runs_of_one_replicate_and_columns_that_are_missing_are_refused() -> None:
    runs = frame()
    with pytest.raises(InputError, match=r"the same workload, replicate and dispatcher: x / 0 / easy"):
        metric_of(pd.concat([runs, runs.iloc[:1]]), "wait")
    with pytest.raises(InputError, match="has no column 'slowdown'"):
        metric_of(runs, "slowdown")
    with pytest.raises(InputError, match="has no column 'replicate'"):
        metric_of(runs.drop(columns="replicate"), "wait")


def test_a_difference_needs_no_positive_values() -> None:
    found = pair(table(a=[-1.0, 0.0], b=[1.0, 0.0]), Aim("x", "x", "difference"), "a", "b")
    assert found.effect is not None
    assert found.effect.value == -1.0


def test_what_is_no_finite_number_is_no_value() -> None:
    runs = pd.DataFrame(
        {
            "workload": "w",
            "replicate": ["seed 0", "seed 0", "seed 1", "seed 1"],
            "dispatcher": ["a", "b"] * 2,
            "wait": [1.0, math.inf, -math.inf, 4.0],
        }
    )
    found = metric_of(runs, "wait").values
    assert np.isnan(found).tolist() == [[False, True], [True, False]]
    assert (found[0, 0], found[1, 1]) == (1.0, 4.0)
