import math

import pytest

from batdispatch.core.numerals import EXACT, number, number_of


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
