"""Columns as bytes: what is read is what was written, in as few bytes as numbers need."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.explorer.streams import LARGEST, fold_signs, pack_numbers, steps


def unpacked(content: bytes) -> Iterator[int]:
    """Read LEB128, as its definition says."""
    value = shift = 0
    for byte in content:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0
    assert shift == 0


@given(st.lists(st.one_of(st.integers(0, 300), st.integers(0, LARGEST))))
def test_what_is_read_is_what_was_written(values: list[int]) -> None:
    content = pack_numbers(np.array(values, dtype=np.int64))
    assert list(unpacked(content)) == values
    assert len(content) == sum(max(1, -(-value.bit_length() // 7)) for value in values)


@given(st.lists(st.integers(-(2**40), 2**40)))
def test_steps_with_signs_folded_add_up_again(values: list[int]) -> None:
    numbers = fold_signs(steps(np.array(values, dtype=np.int64))).tolist()
    assert all(number >= 0 for number in numbers)
    total, found = 0, []
    for number in numbers:
        total += -(number + 1) // 2 if number % 2 else number // 2
        found.append(total)
    assert found == values


def test_small_numbers_of_either_sign_stay_small() -> None:
    assert fold_signs(np.array([0, -1, 1, -2, 2], dtype=np.int64)).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("value", [-1, LARGEST + 1])
def test_what_javascript_has_no_whole_number_for_is_refused(value: int) -> None:
    with pytest.raises(ValueError, match="expected numbers from 0"):
        pack_numbers(np.array([value], dtype=np.int64))
