"""Host numbers as Batsim 4.2.1 and Batsim 5 give them out."""

import re

from hypothesis import given
from hypothesis import strategies as st

from batdispatch.batsim.numbering import sort_key
from batdispatch.inputs.platforms.radical import explode

NAMES = st.text(alphabet="ab0129-._", min_size=1, max_size=8)


def padded(name: str) -> tuple[str, str]:
    """Return a name whose plain order is the numeric-aware one: every run of digits has one length."""
    return re.sub("[0-9]+", lambda run: run[0].zfill(20), name), name


def test_batsim_4_and_5_order_numbers_differently() -> None:
    names = ["a2", "a10", "a0", "a1", "b"]
    assert sorted(names, key=sort_key(4)) == ["a0", "a1", "a10", "a2", "b"]
    assert sorted(names, key=sort_key(5)) == ["a0", "a1", "a2", "a10", "b"]


def test_documented_examples_of_batsim_5() -> None:
    names = ["machine10_153", "machine2", "machine10_12", "machine1", "machine10", "machine001"]
    expected = ["machine001", "machine1", "machine2", "machine10", "machine10_12", "machine10_153"]
    assert sorted(names, key=sort_key(5)) == expected


@given(st.lists(NAMES, unique=True, max_size=12))
def test_batsim_5_order_is_plain_order_of_padded_numbers(names: list[str]) -> None:
    assert sorted(names, key=sort_key(5)) == sorted(names, key=padded)


@given(st.lists(st.integers(0, 999), unique=True, min_size=1, max_size=30))
def test_padded_numbers_have_one_order(numbers: list[int]) -> None:
    names = [f"n{number:03d}" for number in numbers]
    assert sorted(names, key=sort_key(4)) == sorted(names, key=sort_key(5))


@given(st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 20)), min_size=1, max_size=6))
def test_radical_lists_its_intervals_in_order(intervals: list[tuple[int, int]]) -> None:
    text = ",".join(f"{first}-{first + more}" if more else str(first) for first, more in intervals)
    assert explode(text) == [n for first, more in intervals for n in range(first, first + more + 1)]


def test_radical_with_gaps() -> None:
    assert explode("0-3,7, 10-12") == [0, 1, 2, 3, 7, 10, 11, 12]
