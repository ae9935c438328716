"""Host sets as bit masks, against Python's sets."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.errors import InputError
from batdispatch.core.hosts import hostset

SETS = st.one_of(st.sets(st.integers(0, 70)), st.sets(st.integers(0, 300_000), max_size=20))


@given(SETS)
def test_a_mask_holds_exactly_its_ids(ids: set[int]) -> None:
    mask = hostset.mask_of(ids)
    assert mask == sum(1 << i for i in ids)
    assert hostset.ids(mask) == sorted(ids)


@given(SETS)
def test_runs_are_maximal_ascending_and_cover_the_set(ids: set[int]) -> None:
    runs = list(hostset.runs(hostset.mask_of(ids)))
    assert [i for first, last in runs for i in range(first, last + 1)] == sorted(ids)
    assert all(nxt[0] > run[1] + 1 for run, nxt in pairwise(runs))


@given(SETS, st.data())
def test_lowest_takes_the_smallest_ids(ids: set[int], data: st.DataObject) -> None:
    count = data.draw(st.integers(0, len(ids)))
    assert hostset.ids(hostset.lowest(hostset.mask_of(ids), count)) == sorted(ids)[:count]


@given(SETS, st.integers(-2, 9))
def test_at_most_takes_the_smallest_ids_that_are_there(ids: set[int], count: int) -> None:
    assert hostset.ids(hostset.at_most(hostset.mask_of(ids), count)) == sorted(ids)[: max(count, 0)]


def test_lowest_of_too_few_is_an_error() -> None:
    with pytest.raises(ValueError, match="more ids than"):
        hostset.lowest(0b1011, 4)


@given(SETS)
def test_text_and_back(ids: set[int]) -> None:
    mask = hostset.mask_of(ids)
    assert hostset.from_text(hostset.to_text(mask)) == mask


def test_batsims_notation() -> None:
    assert hostset.to_text(hostset.mask_of([0, 1, 2, 3, 5])) == "0-3 5"
    assert hostset.from_text("0-3 5") == hostset.from_text("5,0-1 1-3") == hostset.from_text(" 0,1,2  3 5 ") == 0b101111
    assert hostset.from_text("") == 0


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "1-",
        "-1",
        "1--2",
        "3-1",
        "1.5",
        "0x1",
        "1 - 2",
        "1;2",
        "²",
        "10000001",
        "0-10000001",
        "9" * 40,
        "0-" + "9" * 40,
    ],
)
def test_wrong_texts_are_refused_with_the_part_at_fault(text: str) -> None:
    with pytest.raises(InputError) as caught:
        hostset.from_text(f"7 {text} 9")
    assert any(repr(part) in str(caught.value) for part in text.split())


@pytest.mark.parametrize("wrong", [-1, hostset.MAX_HOST_ID + 1, 10**15])
def test_impossible_ids_are_refused_before_memory_is_taken_for_them(wrong: int) -> None:
    with pytest.raises(InputError, match=f"host id {wrong} "):
        hostset.mask_of([3, wrong, 5])
