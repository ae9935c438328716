"""What is late, and what a plan allows for."""

import pytest

from batdispatch.core.plans.lateness import TOLERANCE, Lateness, overdue


@pytest.mark.parametrize(("now", "late"), [(99.0, False), (100.0, False), (100.00025, False), (100.02, True)])
def test_an_end_is_late_only_beyond_the_tolerance(now: float, late: bool) -> None:
    assert overdue(100.0, now) is late


def test_a_delay_that_covers_the_tolerance_leaves_times_exact() -> None:
    # With batsched's delay, a place that is a microsecond too short is too short, as in batsched.
    assert (Lateness(0.0).slack, Lateness(TOLERANCE).slack, Lateness(5.0).slack) == (TOLERANCE, 0.0, 0.0)
    assert Lateness(5.0).booked(60.0) == 65.0
