import math

import pytest

from batdispatch.core.numerals import EXACT, number, number_of, time_of


@pytest.mark.parametrize(("text", "stated"), [("1", 1.0), ("-2.5e3", -2500.0), (" 3 ", 3.0), ("inf", math.inf)])
def test_a_number_is_what_it_states(text: str, stated: float) -> None:
    assert number_of(text) == stated


@pytest.mark.parametrize("text", ["", "1_000", "ten", "1,5", "nan", "0x10"])
def test_what_is_no_number_compares_with_nothing(text: str) -> None:
    assert math.isnan(number_of(text))


@pytest.mark.parametrize("value", [3.0, -0.0, 2.5, EXACT, math.inf])
def test_only_whole_numbers_that_are_exact_become_integers(value: float) -> None:
    written = number(value)
    assert written == value
    assert isinstance(written, int) == (value in (3.0, 0.0))


@pytest.mark.parametrize(
    ("text", "number", "unit"),
    [
        ("90", 90.0, ""),
        ("12h", 12.0, "h"),
        ("5min", 5.0, "min"),
        ("5m", 5.0, "m"),
        ("1.5d", 1.5, "d"),
        ("2w", 2.0, "w"),
        ("7s", 7.0, "s"),
    ],
)
def test_times_with_a_unit(text: str, number: float, unit: str) -> None:
    assert time_of(text) == (number, unit)


@pytest.mark.parametrize("text", ["", "h", "5x", "1_0h", "5hh", "a\nb"])
def test_what_is_no_time(text: str) -> None:
    assert math.isnan(time_of(text)[0])
