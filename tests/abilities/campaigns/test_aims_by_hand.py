"""How far values are apart for an aim, and what a log's offered load is, worked out by hand."""

import math

import numpy as np
import pytest

from batdispatch.abilities.campaigns.page.aims import AIMS, Aim
from batdispatch.abilities.campaigns.statistics.estimate import Estimate
from batdispatch.inputs.workloads.lublin import offered_load


def test_ten_seconds_are_added_to_waits_and_nothing_to_slowdowns() -> None:
    by_name = {aim.metric: aim for aim in AIMS}
    ours, theirs = np.array([10.0, 0.0]), np.array([30.0, 0.0])
    # (10 + 10) / (30 + 10) = 1 / 2, and 10 / 10 = 1.
    for name in ("mean_waiting_time", "max_waiting_time", "p99_waiting_time"):
        assert by_name[name].apart(ours, theirs).tolist() == pytest.approx([math.log(0.5), 0.0])
    assert by_name["mean_bounded_slowdown"].apart(ours[:1], theirs[:1]).tolist() == pytest.approx([math.log(1 / 3)])
    assert by_name["utilisation"].apart(ours, theirs).tolist() == [-20.0, 0.0]


def test_the_ratio_of_two_figures_of_a_log_is_that_of_the_figures() -> None:
    longest = next(aim for aim in AIMS if aim.metric == "max_waiting_time")
    assert longest.ratio(90.0, 30.0) == 3.0
    # One of them is 0: 10 s are added to both.
    assert (longest.ratio(90.0, 0.0), longest.ratio(0.0, 90.0), longest.ratio(0.0, 0.0)) == (10.0, 0.1, 1.0)


@pytest.mark.parametrize(("ratio", "text"), [(999.99, "999.99"), (1000.0, "1,000.00"), (1000.01, "over 1,000")])
def test_a_ratio_beyond_a_thousand_is_told_as_that(ratio: float, text: str) -> None:
    assert AIMS[0].text(ratio) == text


def test_parts_of_a_log_spread_around_the_ratio_of_the_sums() -> None:
    # 10, 20, 30 against 60, 20, 40: sums of 60 and 120. Shares of the mean: .5, 1, 1.5 and 1.5, .5, 1.
    found, each = Aim("x", "x").over_all(np.array([10.0, 20.0, 30.0]), np.array([60.0, 20.0, 40.0]))
    assert found.tolist() == pytest.approx([math.log(0.5) - 1, math.log(0.5) + 0.5, math.log(0.5) + 0.5])
    assert found.mean() == pytest.approx(math.log(0.5))
    assert each.tolist() == pytest.approx([math.log(1 / 6), 0.0, math.log(3 / 4)])


def test_nothing_is_added_to_means_above_zero_and_ten_seconds_where_one_is_zero() -> None:
    wait = next(aim for aim in AIMS if aim.metric == "mean_waiting_time")
    terms, each = wait.over_all(np.array([0.0, 40.0]), np.array([20.0, 20.0]))
    assert terms.mean() == pytest.approx(0.0)
    assert each.tolist() == [-math.inf, pytest.approx(math.log(2))]
    # (0 + 10) / (20 + 10).
    terms, each = wait.over_all(np.zeros(2), np.array([20.0, 20.0]))
    assert terms.mean() == pytest.approx(math.log(1 / 3))
    assert each.tolist() == pytest.approx([math.log(1 / 3)] * 2)


@pytest.mark.parametrize(
    ("low", "high", "p", "ends"),
    [
        # What leaves out no change reads so: with as many digits as that takes, up to six.
        (0.91, 0.9996, 0.03, ["0.91", "0.9996"]),
        (0.91, 0.996, 0.03, ["0.91", "0.996"]),
        (1.00004, 1.2, 0.03, ["1.00004", "1.20"]),
        (0.91, 0.9996, 0.2, ["0.91", "1.00"]),
    ],
)
def test_the_ends_of_an_interval_read_like_its_verdict(low: float, high: float, p: float, ends: list[str]) -> None:
    assert Aim("x", "x").ends(Estimate(1.0, low, high, 9, "t", p)) == ends


def test_the_offered_load_is_of_the_time_between_the_first_and_the_last_submission() -> None:
    # 2 x 30 + 1 x 40 + 4 x 25 = 200 host-seconds, offered from 100 to 120 s to 5 hosts: 200 / 100.
    sizes = np.array([2, 1, 4])
    assert offered_load(np.array([100.0, 120.0, 110.0]), sizes, np.array([30.0, 40.0, 25.0]), 5) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (25 / 6, "+4.17"),
        (-25 / 6, "\N{MINUS SIGN}4.17"),
        (4.0, "+4"),
        (2951.4, "+2,951"),
        (0.0, "0"),
        (1 / 6, "+0.167"),
    ],
)
def test_a_difference_of_counts_has_the_digits_of_the_table_of_values(value: float, shown: str) -> None:
    starved = next(aim for aim in AIMS if aim.metric == "nb_jobs_starved")
    assert starved.text(value) == shown
    assert starved.effect(Estimate(value, None, None, 6, "few")) == shown
    assert starved.effect(Estimate(value, -1.5, 40.25, 6, "t", 0.5)) == f"{shown} (\N{MINUS SIGN}1.50 to +40.2)"
