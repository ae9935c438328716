"""Sets of hosts as runs, against Python's sets of ids."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.hosts import hostruns, hostset
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.hosts.hostruns import HostRuns

HOSTS = st.sets(st.integers(0, 40))


def bounds(ids: set[int]) -> tuple[int, ...]:
    return hostruns.bounds_of(hostset.mask_of(ids))


def proper(runs: HostRuns, ids: set[int]) -> bool:
    """Whether runs are those of a set, and as few as can be."""
    return tuple(runs.bounds) == bounds(ids) and runs.size == len(ids) and runs.mask == hostset.mask_of(ids)


@given(HOSTS)
def test_bounds_say_what_a_mask_says(ids: set[int]) -> None:
    mask = hostset.mask_of(ids)
    found = hostruns.bounds_of(mask)
    assert all(a < b for a, b in pairwise(found))
    assert hostruns.mask_of(found) == mask
    assert hostruns.ids_of(found) == sorted(ids)
    assert hostruns.size_of(found) == len(ids)
    assert hostruns.text_of(found) == hostset.to_text(mask)
    assert proper(HostRuns.of(mask), ids)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 5))))
def test_intervals_of_a_text_may_stand_in_any_order_and_overlap(pairs: list[tuple[int, int]]) -> None:
    text = " ".join(f"{first}-{first + more}" for first, more in pairs)
    assert hostruns.from_text(text) == bounds({first + i for first, more in pairs for i in range(more + 1)})
    assert hostruns.mask_of(hostruns.from_text(text)) == hostset.from_text(text)


@given(HOSTS, HOSTS)
def test_only_what_is_there_can_be_taken(ids: set[int], part: set[int]) -> None:
    runs = HostRuns.of(hostset.mask_of(ids))
    left = runs.without(bounds(part), len(part))
    if part <= ids:
        assert left is not None
        assert proper(left, ids - part)
    else:
        assert left is None
    assert proper(runs, ids), "the set itself stays as it was"


@given(HOSTS, HOSTS)
def test_what_is_put_in_joins_its_neighbours(ids: set[int], drawn: set[int]) -> None:
    part = drawn - ids
    runs = HostRuns.of(hostset.mask_of(ids))
    assert proper(runs.joined(bounds(part), len(part)), ids | part)
    assert proper(runs, ids), "the set itself stays as it was"


@given(HOSTS.filter(bool), st.data())
def test_the_lowest_hosts_are_split_from_the_others(ids: set[int], data: st.DataObject) -> None:
    count = data.draw(st.integers(1, len(ids)))
    runs = HostRuns.of(hostset.mask_of(ids))
    part, left = runs.split(count)
    assert part == bounds(set(sorted(ids)[:count]))
    assert proper(left, set(sorted(ids)[count:]))
    assert proper(runs, ids), "the set itself does not change"


@given(HOSTS, HOSTS)
def test_an_allocation_is_the_same_in_either_form(ids: set[int], others: set[int]) -> None:
    by_mask, by_runs = Allocation(hostset.mask_of(ids)), Allocation(bounds=bounds(ids))
    assert by_runs == by_mask
    assert hash(by_runs) == hash(by_mask)
    for allocation in (by_mask, by_runs):
        assert allocation.ids == sorted(ids)
        assert allocation.size == len(ids)
        assert str(allocation) == hostset.to_text(hostset.mask_of(ids))
        assert set(allocation.hosts) == ids
        assert allocation.same_hosts(Allocation(hostset.mask_of(others))) == (ids == others)
