"""Times are rounded and written as Python does it."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.line.ticks import tick_after, tick_before
from batdispatch.native.record import call
from compiling import needs_kernels

pytestmark = needs_kernels

#: Near a half of the last digit, where a product with a million rounds the wrong way.
halves = st.builds(
    lambda whole, digits, off: math.nextafter((whole * 10**6 + digits + 0.5) / 10**6, math.inf * off),
    st.integers(0, 10**7),
    st.integers(0, 10**6 - 1),
    st.sampled_from([-1, 1]),
)
thousandths = st.builds(lambda value: value * 1000.0, halves)
ties = st.builds(lambda numerator: numerator / 128, st.integers(0, 10**9))
times = st.one_of(halves, thousandths, ties, st.floats(0, 1e17), st.floats(0, 10), st.just(math.inf))


@given(st.lists(times, min_size=1, max_size=200))
def test_rounded_as_round_does(values: list[float]) -> None:
    for name, digits in (("round_six", 6), ("round_three", 3)):
        assert [call(name, value, result=float) for value in values] == [round(value, digits) for value in values]


@given(st.lists(times, min_size=1, max_size=200))
def test_ticks_as_the_ledger_has_them(values: list[float]) -> None:
    for name, tick in (("tick_after", tick_after), ("tick_before", tick_before)):
        assert [call(name, value, result=float) for value in values] == [tick(value) for value in values]


#: As many digits as are kept and a five, or nearly.
cut = st.builds(
    lambda digits, off, exponent: math.nextafter((digits + 0.5) * 10.0**exponent, math.inf * off),
    st.integers(10**5, 10**9),
    st.sampled_from([-1, 1]),
    st.integers(-7, 8),
)
fives = st.builds(
    lambda digits, scale: (2 * digits + 1) * 5.0 * scale, st.integers(0, 10**9), st.sampled_from([1, 100])
)
rounded_up = st.builds(lambda exponent: math.nextafter(10.0**exponent, 0), st.integers(-2, 18))


@given(st.lists(st.one_of(times.filter(math.isfinite), cut, fives, rounded_up), min_size=1, max_size=200))
def test_digits_as_format_writes_them(values: list[float]) -> None:
    for digits in (6, 9):
        for value in values:
            text = np.zeros(40, dtype=np.uint8)
            call("put_significant", text, digits, value)
            assert text.tobytes().rstrip(b"\0").decode() == f"{value:.{digits}g}"
