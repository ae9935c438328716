import math

import pytest

from batdispatch.core.numerals import number_of


@pytest.mark.parametrize(("text", "number"), [("1", 1.0), ("-2.5e3", -2500.0), (" 3 ", 3.0), ("inf", math.inf)])
def test_a_number_is_what_it_states(text: str, number: float) -> None:
    assert number_of(text) == number


@pytest.mark.parametrize("text", ["", "1_000", "ten", "1,5", "nan", "0x10"])
def test_what_is_no_number_compares_with_nothing(text: str) -> None:
    assert math.isnan(number_of(text))
