"""What is expected of jobs that outlived their predictions: rules by hand, and what holds for all of them."""

import math
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.plans.correction import STEPS, Correction, correct_runtime
from batdispatch.core.plans.lateness import TOLERANCE, overdue

RULES = get_args(Correction)
LENGTHS = st.floats(1.0, 1e7)


def expected_at(rule: Correction, *elapsed: float, expected: float = 100.0, limit: float = 10_000.0) -> list[float]:
    return [correct_runtime(rule, expected, time, limit) for time in elapsed]


@pytest.mark.parametrize("rule", RULES)
def test_a_job_within_its_prediction_is_expected_to_take_that(rule: Correction) -> None:
    assert expected_at(rule, 0.0, 99.0, 100.0, 100.0 + TOLERANCE / 2) == [100.0] * 4


def test_the_walltime_is_expected_at_once() -> None:
    assert expected_at("walltime", 101.0, 9_999.0) == [10_000.0] * 2


def test_steps_of_tsafrir_etsion_and_feitelson() -> None:
    """A minute more than predicted, then 5, 15 and 30 minutes, then 1, 2, 5, 10, 20, 50 and 100 hours."""
    minutes, hours = (1, 5, 15, 30), (1, 2, 5, 10, 20, 50, 100)
    assert [60.0 * n for n in minutes] + [3600.0 * n for n in hours] == list(STEPS)
    found = expected_at("steps", 101.0, 160.0, 161.0, 400.0, 401.0, limit=math.inf)
    assert found == [160.0, 160.0, 400.0, 400.0, 1000.0]
    assert expected_at("steps", 360_101.0, limit=1e6) == [1e6], "the walltime behind the last step"
    assert expected_at("steps", 360_101.0, limit=math.inf) == [409_600.0], "doubling if there is no walltime"


def test_doubling() -> None:
    assert expected_at("doubling", 101.0, 200.0, 201.0, 799.0, 6_401.0) == [200.0, 200.0, 400.0, 800.0, 10_000.0]


def test_a_second_more_at_any_time() -> None:
    assert expected_at("second", 101.0, 150.5, 9_999.5) == [102.0, 151.5, 10_000.0]


@pytest.mark.parametrize("rule", RULES)
def test_a_job_that_outlived_its_walltime_too_is_expected_to_end_soon(rule: Correction) -> None:
    assert expected_at(rule, 10_000.5, 10_001.5, 10_006.0) == [10_001.0, 10_002.0, 10_008.0]


@pytest.mark.parametrize("rule", ["walltime", "doubling"])
def test_without_a_walltime_doubling_says_when(rule: Correction) -> None:
    assert expected_at(rule, 101.0, 201.0, limit=math.inf) == [200.0, 400.0]


@given(st.sampled_from(RULES), LENGTHS, st.floats(0.0, 1e7), st.one_of(LENGTHS, st.just(math.inf)))
def test_no_rule_expects_what_has_passed_nor_more_than_the_walltime(
    rule: Correction, expected: float, elapsed: float, limit: float
) -> None:
    expected = min(expected, limit)
    found = correct_runtime(rule, expected, elapsed, limit)
    assert expected <= found < math.inf
    assert not overdue(found, elapsed)
    assert found <= limit or overdue(limit, elapsed)
    assert correct_runtime(rule, expected, elapsed / 2, limit) <= found, "what is expected never shrinks"
