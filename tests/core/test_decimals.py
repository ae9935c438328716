"""Numbers as texts, beside Python's formats."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.hosts import decimals

#: Near a half of the last digit, where a product with a million rounds the wrong way.
halves = st.builds(
    lambda whole, digits, off: math.nextafter((whole * 10**6 + digits + 0.5) / 10**6, math.inf * off),
    st.integers(0, 10**7),
    st.integers(0, 10**6 - 1),
    st.sampled_from([-1, 1]),
)
ties = st.builds(lambda numerator: numerator / 128, st.integers(-(10**9), 10**9))
whole_seconds = st.integers(-(10**16), 10**16).map(float)
numbers = st.one_of(halves, ties, whole_seconds, st.floats(), st.floats(0, 1e10), st.floats(-10, 10))


@given(st.lists(numbers, max_size=60))
def test_six_digits_behind_the_point_are_those_of_a_format(listed: list[float]) -> None:
    texts, values = decimals.six_digits(np.array(listed, dtype=np.float64))
    expected = [f"{number:.6f}" for number in listed]
    assert decimals.join_texts(texts, decimals.constant(",", len(listed))).decode() == "".join(
        f"{t}," for t in expected
    )
    # Also the sign of zero.
    assert [repr(value) for value in values.tolist()] == [repr(float(text)) for text in expected]


@given(st.lists(st.one_of(st.integers(0, 10**18), st.integers(0, 2000)), max_size=60))
def test_whole_numbers_are_those_of_str(listed: list[int]) -> None:
    texts = decimals.whole(np.array(listed, dtype=np.int64))
    assert decimals.join_texts(texts, decimals.constant(";", len(listed))).decode() == "".join(f"{n};" for n in listed)


@given(st.lists(st.one_of(numbers, st.integers(0, 2 * 10**9).map(float)), min_size=1, max_size=60), st.booleans())
def test_significant_digits_are_those_of_a_format(listed: list[float], whole: bool) -> None:
    if whole:
        listed = [abs(math.floor(number)) % 10**9 * 1.0 if math.isfinite(number) else 0.0 for number in listed]
    texts = decimals.significant(np.array(listed), 9)
    assert decimals.join_texts(texts, decimals.constant(",", len(listed))).decode() == "".join(
        f"{n:.9g}," for n in listed
    )


def test_texts_are_chosen_by_row() -> None:
    texts = decimals.chosen(["long one", "b", ""], np.array([1, 0, 2, 1]))
    assert decimals.join_texts(decimals.constant("<", 4), texts, decimals.constant(">", 4)) == b"<b><long one><><b>"
