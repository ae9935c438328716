"""A number with its interval, as it is shown and when a function is applied to it."""

import math

from batdispatch.abilities.campaigns.statistics.estimate import Estimate


def test_it_is_shown_with_its_interval_if_there_is_one() -> None:
    assert Estimate(0.844, 0.7, 0.966, 8, "BCa").text() == "0.84 (0.70-0.97)"
    assert Estimate(0.844, None, None, 1, "none").text() == "0.84"
    # A dash would be read as a minus only before an end below 0.
    assert Estimate(0.5, 0.0, 1.0, 8, "t").text() == "0.50 (0.00-1.00)"
    assert Estimate(0.5, -0.1, 1.1, 8, "t").text() == "0.50 (-0.10 to 1.10)"


def test_a_function_applies_to_the_number_and_to_the_ends_that_are_there() -> None:
    assert Estimate(4.0, 1.0, 9.0, 8, "t").transform(math.sqrt) == (2.0, 1.0, 3.0, 8, "t", None)
    assert Estimate(4.0, None, None, 1, "none").transform(math.sqrt) == (2.0, None, None, 1, "none", None)
