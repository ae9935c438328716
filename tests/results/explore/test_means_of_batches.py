"""Batch means: by hand, how often their interval holds the mean of a process, and when there is none."""

import numpy as np
import pytest
from scipy import stats

from batdispatch.results.statistics.batches import FEWEST, LEAST, mean_by_batches, quantile
from batdispatch.results.statistics.dependence import equivalent_size
from batdispatch.results.statistics.student import half_width


def process(rng: np.random.Generator, n: int, memory: float) -> np.ndarray:
    """Values of mean 0, each `memory` times the one before and noise."""
    noise = rng.normal(size=n + 200)
    values = np.zeros(n + 200)
    for index in range(1, len(values)):
        values[index] = memory * values[index - 1] + noise[index]
    return values[200:]


def test_the_interval_is_students_of_the_means_of_20_batches_by_hand() -> None:
    # Batches are alternately all 1 and all 3: their mean is 2, and each is 1 apart from it.
    values = np.repeat(np.tile([1.0, 3.0], 10), 20)
    half = 2.093024 * np.sqrt(20 / 19 / 20)
    found = mean_by_batches(values)
    assert found[:3] == pytest.approx((2.0, 2.0 - half, 2.0 + half), rel=1e-6)
    assert (found.n, found.method) == (400, "batch means")


def test_what_cannot_be_shared_out_goes_to_the_last_batch() -> None:
    values = np.random.default_rng(3).normal(size=419)
    means = [*values[:380].reshape(19, 20).mean(axis=1), values[380:].mean()]
    found = mean_by_batches(values)
    assert found.value == pytest.approx(values.mean())
    assert found.high is not None
    assert found.high - found.value == pytest.approx(stats.t.ppf(0.975, 19) * stats.sem(means), rel=1e-5)


def test_too_few_values_have_no_interval() -> None:
    values = np.arange(LEAST * FEWEST, dtype=float) % 7
    assert mean_by_batches(values[:-1]).method == "too few values"
    assert mean_by_batches(values[:-1])[1:3] == (None, None)
    assert mean_by_batches(values).method == "batch means"


def test_fewer_values_make_fewer_batches() -> None:
    values = np.random.default_rng(3).normal(size=139)
    found = mean_by_batches(values)
    batches = np.array([part.mean() for part in np.split(values, np.arange(1, 6) * (139 // 6))])
    assert found.high is not None
    assert found.high - found.value == pytest.approx(half_width(batches, size=equivalent_size(batches)), rel=0.03)


def test_a_drift_leaves_batches_alike_which_widens_the_interval() -> None:
    drift = np.sin(np.arange(400) / 60)
    mixed = np.random.default_rng(1).permutation(drift.reshape(20, 20)).ravel()
    widths = [one.high - one.value for one in map(mean_by_batches, (drift, mixed)) if one.high is not None]
    assert widths[0] > 3 * widths[1]


def test_values_that_are_all_equal_have_an_interval_without_width() -> None:
    assert mean_by_batches(np.full(400, 3.0)) == (3.0, 3.0, 3.0, 400, "batch means")


def test_of_values_that_follow_each_other_batches_hold_the_mean_where_single_values_do_not() -> None:
    rng = np.random.default_rng(1)
    samples = [process(rng, 1000, 0.5) for _ in range(300)]
    single = np.mean([abs(sample.mean()) <= half_width(sample) for sample in samples])
    found = [one for one in map(mean_by_batches, samples) if one.low is not None]
    held = np.mean([one.low <= 0.0 <= one.high for one in found if one.low is not None and one.high is not None])
    assert len(found) > 285
    assert single < 0.80
    assert 0.91 < held < 0.98


def test_quantiles_are_students_within_three_percent() -> None:
    for freedom in np.linspace(1, 19, 400):
        assert quantile(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=0.03)
    assert [quantile(whole) for whole in range(1, 20)] == pytest.approx(stats.t.ppf(0.975, np.arange(1, 20)), rel=1e-5)
