"""Intervals of mean effects: the p-value and the interval agree, and no verdict contradicts the windows."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.campaigns.page.aims import AIMS
from batdispatch.abilities.campaigns.page.pairs import pair
from batdispatch.abilities.campaigns.page.table import COLUMNS, Block, RunMetric, metric_of
from batdispatch.abilities.campaigns.statistics.mean_effect import mean_effect
from batdispatch.abilities.campaigns.statistics.significance import LEAST

WAIT, SLOWDOWN, *_ = AIMS
values_in_time = st.lists(st.floats(-5, 5).map(lambda value: round(value, 6)), min_size=6, max_size=14).map(np.array)


def windows(a: np.ndarray, b: np.ndarray) -> RunMetric:
    blocks = tuple(Block("log", f"window {place}") for place in range(len(a)))
    return RunMetric("x", blocks, ("a", "b"), np.column_stack([a, b]))


def test_independent_values_have_students_interval_by_hand() -> None:
    # Mean 3, s^2 = (4 + 1 + 0 + 0 + 1 + 4) / 5 = 2, t(5, 97.5 %) = 2.570582.
    found = mean_effect(np.array([1.0, 2.0, 3.0, 3.0, 4.0, 5.0]) - 3.0)
    half = 2.570582 * math.sqrt(2 / 6)
    assert (found.low, found.high) == (pytest.approx(-half), pytest.approx(half))
    assert (found.p, found.method) == (pytest.approx(1.0), "t")


def test_windows_average_the_three_correlations_by_hand() -> None:
    """The same sum, written with scipy's distributions and an inverse for each correlation."""
    from scipy import stats

    values = np.array([0.3, 0.9, 0.1, 0.5, 1.1, 0.7, 0.2, 0.8])
    n, line = 8, np.column_stack([np.ones(8), np.linspace(-1, 1, 8)])
    weights, tails = [], []
    for correlation, prior in ((0.0, 0.9), (0.4, 0.05), (0.9, 0.05)):
        process = np.array([[correlation ** abs(i - j) for j in range(n)] for i in range(n)])
        inverse = np.linalg.inv(process)
        information = line.T @ inverse @ line
        slope = np.linalg.inv(information) @ line.T @ inverse @ values
        left = values - line @ slope
        square = left @ inverse @ left
        weights.append(
            prior / math.sqrt(np.linalg.det(process) * np.linalg.det(information)) * square ** (-(n - 2) / 2)
        )
        error = math.sqrt(process.sum() / n**2 * square / (n - 2))
        tails.append(2 * stats.t.sf(values.mean() / error, n - 2))
    by_hand = np.dot(weights, tails) / sum(weights)
    # All eight lie above 0, for which the sign test has 2 / 2^8.
    assert mean_effect(values, in_time=True).p == pytest.approx(min(by_hand, 2 / 2**8))
    mixed = values - 0.4
    assert mean_effect(mixed, in_time=True).p == pytest.approx(_mixed_p(mixed, weights, line), rel=1e-9)


def _mixed_p(values: np.ndarray, weights: list[float], line: np.ndarray) -> float:
    from scipy import stats

    n, tails = len(values), []
    for correlation in (0.0, 0.4, 0.9):
        process = np.array([[correlation ** abs(i - j) for j in range(n)] for i in range(n)])
        inverse = np.linalg.inv(process)
        left = values - line @ np.linalg.inv(line.T @ inverse @ line) @ line.T @ inverse @ values
        error = math.sqrt(process.sum() / n**2 * (left @ inverse @ left) / (n - 2))
        tails.append(2 * stats.t.sf(abs(values.mean()) / error, n - 2))
    return float(np.dot(weights, tails) / sum(weights))


@given(values_in_time, st.booleans())
def test_p_is_below_five_percent_exactly_where_the_interval_leaves_out_no_change(
    values: np.ndarray, timed: bool
) -> None:
    found = mean_effect(values, in_time=timed)
    assert found.p is not None
    assert found.low is not None
    assert found.high is not None
    if abs(found.p - 0.05) > 1e-6 and min(abs(found.low), abs(found.high)) > 1e-9:
        assert (found.p < 0.05) == (found.low > 0 or found.high < 0)


@given(values_in_time, st.booleans())
def test_no_interval_reaches_beyond_the_values(values: np.ndarray, timed: bool) -> None:
    found = mean_effect(values, in_time=timed)
    assert found.low is not None
    assert found.high is not None
    assert values.min() - 1e-9 <= found.low <= found.value + 1e-9
    assert found.value - 1e-9 <= found.high <= values.max() + 1e-9


@given(st.lists(st.tuples(st.floats(1, 1e6), st.floats(1.0001, 50)), min_size=6, max_size=12), st.booleans())
def test_better_in_every_window_is_better(rows: list[tuple[float, float]], several: bool) -> None:
    theirs = np.array([value for value, _ in rows])
    ours = theirs / np.array([factor for _, factor in rows])
    found = pair(windows(ours, theirs), WAIT if several else SLOWDOWN, "a", "b")
    assert (found.wins, found.apart) == (len(rows), True)


@given(values_in_time, st.integers(-3, 3), st.floats(0.01, 1000))
def test_another_unit_and_the_windows_backwards_say_the_same(values: np.ndarray, digits: int, unit: float) -> None:
    ours, theirs = np.exp(np.round(values, 3)), np.full(len(values), 2.0)
    found = pair(windows(ours, theirs), SLOWDOWN, "a", "b").effect
    for other in (windows(ours * unit, theirs * unit), windows(ours[::-1], theirs[::-1])):
        again = pair(other, SLOWDOWN, "a", "b").effect
        assert found is not None
        assert again is not None
        assert again[:3] == pytest.approx(found[:3], rel=1e-6)
        assert again.p == pytest.approx(found.p, rel=1e-6, abs=1e-12)


def test_the_order_in_which_a_table_lists_windows_does_not_matter() -> None:
    rng = np.random.default_rng(3)
    rows = [("log", f"window {place}", name, float(rng.uniform(1, 9))) for place in range(11) for name in ("a", "b")]
    table = pd.DataFrame(rows, columns=[*COLUMNS, "wait"])
    shuffled = table.sample(frac=1.0, random_state=5)
    first, again = (pair(metric_of(one, "wait"), SLOWDOWN, "a", "b") for one in (table, shuffled))
    assert first == again
    assert [block.replicate for block in metric_of(shuffled, "wait").blocks] == [f"window {n}" for n in range(11)]


def test_five_values_have_no_interval_and_equal_ones_one_without_width() -> None:
    assert mean_effect(np.arange(LEAST - 1.0)) == (2.0, None, None, 5, "few", None)
    assert mean_effect(np.full(6, -0.25)) == (-0.25, -0.25, -0.25, 6, "all equal", 0.0)
    assert mean_effect(np.zeros(6)) == (0.0, 0.0, 0.0, 6, "all equal", 1.0)


def test_windows_that_overlap_count_for_as_many_as_share_no_job() -> None:
    values = np.array([0.1, 0.5, -0.2, 0.4, 0.3, -0.1, 0.6, 0.2, 0.1, 0.4, -0.3, 0.2])
    whole, half = mean_effect(values, in_time=True), mean_effect(values, in_time=True, size=6)
    assert whole.high is not None
    assert half.high is not None
    assert half.high - half.value > math.sqrt(2) * (whole.high - whole.value)
    assert mean_effect(values, size=5).method == "few"


def test_replicates_that_share_jobs_have_the_error_of_as_many_as_share_none() -> None:
    # Eight values of mean 0 and s^2 = 8 (1 + 9) / 2 / 7 = 40 / 7, worth six: t(5, 97.5 %) = 2.570582.
    found = mean_effect(np.array([-3.0, -1.0, 1.0, 3.0] * 2), size=6)
    assert found.high == pytest.approx(2.570582 * math.sqrt(40 / 7 / 6))


def test_a_trend_widens_the_interval_less_than_noise_of_the_same_size() -> None:
    rng = np.random.default_rng(1)
    noise = rng.normal(size=10)
    trend = np.linspace(-5, 5, 10)
    flat, rising, shuffled = (
        mean_effect(values, in_time=True) for values in (noise, noise + trend, noise + rng.permutation(trend))
    )
    widths = [float(found.high or 0) - float(found.low or 0) for found in (flat, rising, shuffled)]
    assert widths[1] < 2 * widths[0] < widths[2]


def test_neighbours_that_are_alike_widen_the_interval() -> None:
    rng = np.random.default_rng(4)
    walk = np.repeat(rng.normal(size=6), 5)
    mixed = rng.permutation(walk)
    alike, apart = (mean_effect(values, in_time=True) for values in (walk, mixed))
    assert float(alike.high or 0) - alike.value > 1.5 * (float(apart.high or 0) - apart.value)
