"""Intervals by bootstrap: what is drawn, where BCa is not defined, and that the same values give the same ends."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from batdispatch.abilities.campaigns.statistics.bootstrap import (
    Draws,
    bootstrap,
    change_of_mean_by_bootstrap,
    geometric_mean_by_bootstrap,
    mean_by_bootstrap,
)

RATIOS = np.array([0.8, 0.9, 1.1, 0.7, 0.95, 1.3, 0.6, 0.85])


def test_a_geometric_mean_is_drawn_from_logarithms_with_bca() -> None:
    found = geometric_mean_by_bootstrap(RATIOS, Draws(seed=7))
    direct = stats.bootstrap(
        (np.log(RATIOS),), np.mean, n_resamples=9999, method="BCa", rng=np.random.default_rng(7)
    ).confidence_interval
    assert found.value == pytest.approx(np.exp(np.log(RATIOS).mean()))
    assert (found.low, found.high) == pytest.approx((np.exp(direct.low), np.exp(direct.high)))
    assert (found.n, found.method) == (8, "BCa")


def test_a_change_of_means_draws_pairs() -> None:
    old = np.array([10.0, 200.0, 3000.0, 50.0, 700.0])
    found = change_of_mean_by_bootstrap(1.5 * old, old, Draws(method="percentile"))
    # Whatever is drawn, each pair has the same ratio.
    assert found[:3] == pytest.approx((0.5, 0.5, 0.5))
    assert found.method == "percentile"
    apart = change_of_mean_by_bootstrap(old[::-1].copy(), old, Draws(method="percentile"))
    assert apart.value == pytest.approx(0.0)
    assert apart.low is not None
    assert apart.high is not None
    assert apart.low < -0.5 < 0.5 < apart.high


def test_of_two_values_the_percentiles_are_these_values() -> None:
    # A draw of two has the mean 0, 1/2 or 1 in 1, 2 and 1 of 4 cases, so 2.5 % and 97.5 % of the draws are 0 and 1.
    found = mean_by_bootstrap(np.array([0.0, 1.0]), Draws(method="percentile"))
    assert found == (0.5, 0.0, 1.0, 2, "percentile", None)


def test_one_value_has_no_interval_and_equal_ones_have_none_to_speak_of() -> None:
    assert mean_by_bootstrap(np.array([3.0])) == (3.0, None, None, 1, "none", None)
    assert mean_by_bootstrap(np.array([3.0, 3.0])) == (3.0, 3.0, 3.0, 2, "all equal", None)


def test_where_bca_is_not_defined_the_percentiles_are_taken() -> None:
    # A statistic that no single value changes has no acceleration.
    values = np.array([0.0] * 19 + [1.0])
    found = bootstrap([values], lambda sample, axis: np.median(sample, axis=axis))
    assert found.method == "percentile"
    assert (found.value, found.low, found.high) == (0.0, 0.0, 0.0)


@given(st.lists(st.floats(0.01, 100), min_size=2, max_size=12), st.sampled_from(["BCa", "percentile"]))
def test_the_same_values_give_the_same_interval_around_the_value(values: list[float], method: str) -> None:
    draws = Draws(resamples=199, method=method)  # type: ignore[arg-type]
    found = geometric_mean_by_bootstrap(np.array(values), draws)
    assert found == geometric_mean_by_bootstrap(np.array(values), draws)
    assert found.low is not None
    assert found.high is not None
    assert min(values) * (1 - 1e-9) <= found.low <= found.high <= max(values) * (1 + 1e-9)


def test_more_confidence_is_a_wider_interval() -> None:
    narrow, wide = (mean_by_bootstrap(RATIOS, Draws(level=level)) for level in (0.5, 0.99))
    assert wide.low is not None
    assert wide.high is not None
    assert narrow.low is not None
    assert narrow.high is not None
    assert wide.low < narrow.low < narrow.value < narrow.high < wide.high
