"""Windows of several logs: each log counts once, by the figure of all of it."""

import numpy as np
import pytest

from batdispatch.abilities.campaigns.page.aims import AIMS
from batdispatch.abilities.campaigns.page.answers import answer
from batdispatch.abilities.campaigns.page.pairs import pair
from batdispatch.abilities.campaigns.page.ranks import by_workload
from batdispatch.abilities.campaigns.page.table import Block, RunMetric

WAIT, SLOWDOWN, LONGEST, _, STARVED, *_ = AIMS


def table(word: str, **logs: list[tuple[float, float]]) -> RunMetric:
    """Two dispatchers, a and b: their values on each window, or draw, of some logs."""
    blocks = tuple(Block(log, f"{word} {place}") for log, rows in logs.items() for place in range(len(rows)))
    return RunMetric("x", blocks, ("a", "b"), np.array([row for rows in logs.values() for row in rows]))


#: A busy window and a quiet one, of which b is better on the busy one by less than it is worse on the quiet one.
BUSY_FIRST = [(100.0, 50.0), (1.0, 4.0)]


def test_the_ratio_over_logs_is_the_geometric_mean_of_those_of_the_whole_logs() -> None:
    found = pair(table("window", x=BUSY_FIRST, y=[(30.0, 10.0), (10.0, 10.0)]), SLOWDOWN, "a", "b")
    assert found.effect is not None
    assert found.effect.value == pytest.approx((101 / 54 * 40 / 20) ** 0.5)
    draws = pair(table("seed", x=BUSY_FIRST, y=[(30.0, 10.0), (10.0, 10.0)]), SLOWDOWN, "a", "b").effect
    assert draws is not None
    assert draws.value == pytest.approx((2 * 0.25 * 3 * 1) ** 0.25)


def test_the_longest_wait_of_a_log_is_that_of_all_its_windows() -> None:
    windows = {"x": [(990.0, 90.0), (40.0, 490.0)], "y": [(990.0, 990.0), (90.0, 40.0)]}
    found = pair(table("window", **windows), LONGEST, "a", "b")
    assert found.effect is not None
    # The longest of x are 990 and 490 s, those of y 990 s both; nothing is added.
    assert found.effect.value == pytest.approx((990 / 490) ** 0.5)
    assert found.effect.method == "longest"
    assert by_workload(table("window", **windows), LONGEST).values.tolist() == [[990.0, 490.0], [990.0, 990.0]]


def test_a_log_among_others_counts_by_the_mean_of_its_windows_and_other_replicates_by_the_geometric_mean() -> None:
    found = by_workload(table("window", x=BUSY_FIRST), SLOWDOWN).values
    assert found.tolist() == [[50.5, 27.0]]
    np.testing.assert_allclose(by_workload(table("seed", x=BUSY_FIRST), SLOWDOWN).values, [[10.0, 200**0.5]])
    assert by_workload(table("window", x=BUSY_FIRST), STARVED).values.tolist() == [[50.5, 27.0]]


def test_the_best_is_the_best_on_whole_logs() -> None:
    windows = table("window", **dict.fromkeys(("x", "y"), BUSY_FIRST * 3))
    assert answer(windows, WAIT, "a", "replicates").best == "b"
    assert answer(table("seed", x=BUSY_FIRST * 3), SLOWDOWN, "a", "replicates").best == "a"


def test_a_log_has_one_effect_of_its_windows_so_that_six_logs_have_an_interval() -> None:
    logs = dict.fromkeys("tuvwxy", BUSY_FIRST * 3)
    assert (six := pair(table("window", **logs), SLOWDOWN, "a", "b").effect) is not None
    assert (six.value, six.low, six.n) == (pytest.approx(101 / 54), pytest.approx(101 / 54), 36)
    del logs["y"]
    assert (five := pair(table("window", **logs), SLOWDOWN, "a", "b").effect) is not None
    assert five.low is None


def test_windows_of_a_drawn_workload_are_parts_of_it_and_those_of_several_draws_are_not() -> None:
    assert table("seed 0, window", x=BUSY_FIRST).kind == "window"
    assert table("window", x=BUSY_FIRST).kind == "window"
    one, other = table("seed 0, window", x=BUSY_FIRST), table("seed 1, window", x=BUSY_FIRST)
    assert RunMetric("x", one.blocks + other.blocks, ("a", "b"), np.concatenate([one.values, other.values])).kind == ""
    assert table("window", x=BUSY_FIRST, y=BUSY_FIRST).kind == ""
