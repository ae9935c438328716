"""Sums over the machine, against a list of rows."""

from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.plans.sums import Sums

AMOUNTS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=6)


@given(AMOUNTS, st.tuples(st.integers(0, 9), st.integers(0, 9)))
def test_a_step_suffices_exactly_if_no_sum_is_below_the_need(
    rows: list[tuple[int, int]], need: tuple[int, int]
) -> None:
    sums = Sums(rows[0])
    for index, row in enumerate(rows[1:], 1):
        sums.repeat(index)
        sums.put(index, row)
    numbers, least = sums.against(need)
    assert [number >= least for number in numbers] == [row[0] >= need[0] and row[1] >= need[1] for row in rows]


@given(AMOUNTS, st.data())
def test_a_copy_stays_as_it_was(rows: list[tuple[int, int]], data: st.DataObject) -> None:
    sums = Sums(rows[0])
    for index, row in enumerate(rows[1:], 1):
        sums.repeat(index)
        sums.put(index, row)
    copied = sums.copy()
    first = data.draw(st.integers(0, len(rows)))
    sums.shift(first, len(rows), (1, 0), -1)
    assert sums.against((1, 0))[0] == [row[0] - (index >= first) for index, row in enumerate(rows)]
    assert copied.against((1, 0))[0] == [row[0] for row in rows]
