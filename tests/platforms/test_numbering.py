"""Host numbers as Batsim 4.2.1 and Batsim 5 give them out."""

import functools
import itertools

from hypothesis import given
from hypothesis import strategies as st

from batdispatch.platforms.numbering import sort_key
from batdispatch.platforms.radical import explode

NAMES = st.text(alphabet="ab0129-._", min_size=1, max_size=8)


def batsim5_compare(left: str, right: str) -> int:
    """Compare as Batsim 5 does: walk both names, runs of digits count as numbers; then plain strings break ties."""
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i].isdigit() and right[j].isdigit():
            a = "".join(itertools.takewhile(str.isdigit, left[i:]))
            b = "".join(itertools.takewhile(str.isdigit, right[j:]))
            if int(a) != int(b):
                return int(a) - int(b)
            i, j = i + len(a), j + len(b)
        else:
            if left[i] != right[j]:
                return ord(left[i]) - ord(right[j])
            i, j = i + 1, j + 1
    if i < len(left) or j < len(right):
        return 1 if i < len(left) else -1
    return (left > right) - (left < right)


def test_batsim_4_and_5_order_numbers_differently() -> None:
    names = ["a2", "a10", "a0", "a1", "b"]
    assert sorted(names, key=sort_key(4)) == ["a0", "a1", "a10", "a2", "b"]
    assert sorted(names, key=sort_key(5)) == ["a0", "a1", "a2", "a10", "b"]


def test_documented_examples_of_batsim_5() -> None:
    names = ["machine10_153", "machine2", "machine10_12", "machine1", "machine10", "machine001"]
    expected = ["machine001", "machine1", "machine2", "machine10", "machine10_12", "machine10_153"]
    assert sorted(names, key=sort_key(5)) == expected


@given(st.lists(NAMES, unique=True, max_size=12))
def test_batsim_5_order_is_its_pairwise_comparison(names: list[str]) -> None:
    assert sorted(names, key=sort_key(5)) == sorted(names, key=functools.cmp_to_key(batsim5_compare))


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
