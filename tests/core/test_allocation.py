"""Allocations: hosts and the units on each."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from procset import ProcSet

from batdispatch.core.capacity.filling import first_fit
from batdispatch.core.capacity.space import HostCount, HostSpace
from batdispatch.core.errors import InputError
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.core.line.decisions import Execute
from batdispatch.core.machine.machine import Machine

HOST_UNITS = st.dictionaries(st.integers(0, 60), st.integers(1, 4), min_size=1)


@given(HOST_UNITS, st.randoms())
def test_hosts_and_counts_in_any_order(units: dict[int, int], random: object) -> None:
    hosts = list(units)
    random.shuffle(hosts)  # type: ignore[attr-defined]
    allocation = Allocation.of(hosts, [units[host] for host in hosts])
    assert allocation.per_host() == sorted(units.items())
    assert allocation.ids == sorted(units)
    assert allocation.size == len(units)
    assert allocation.units == sum(units.values())
    assert allocation.hosts == ProcSet(*hosts)


def test_one_unit_a_host_is_the_default_however_it_is_said() -> None:
    plain = Allocation.parse("0-1 4")
    assert plain == Allocation.of([4, 0, 1]) == Allocation.of([4, 0, 1], [1, 1, 1]) == Allocation.of(ProcSet((0, 1), 4))
    assert plain == Allocation.of(np.array([0, 1, 4]))
    assert hash(plain) == hash(Allocation.of([0, 1, 4], [1, 1, 1]))
    assert plain.counts is None
    assert str(plain) == "0-1 4"


def test_counts_make_a_difference() -> None:
    assert Allocation.of([0, 1], [1, 2]) != Allocation.of([0, 1])
    assert Allocation.of([0, 1], [1, 2]) != Allocation.of([0, 1], [2, 1])
    assert Allocation.of([0, 1]) != "0-1"


@pytest.mark.parametrize(
    ("hosts", "counts"),
    [([0, 1], [1]), ([0], [1, 1]), ([0, 1], [1, 0]), ([0, 1], [-1, 2]), ([2, 2], [1, 1]), ([], [1])],
)
def test_counts_must_be_one_positive_number_a_host(hosts: list[int], counts: list[int]) -> None:
    with pytest.raises(InputError, match="one positive unit count a host"):
        Allocation.of(hosts, counts)


def test_a_negative_host_is_refused() -> None:
    with pytest.raises(InputError, match="host id -1"):
        Allocation.of([0, -1])


def test_wrong_notation_is_refused() -> None:
    with pytest.raises(InputError, match="'x'"):
        Allocation.parse("0-3 x")


@given(HOST_UNITS)
def test_the_mapping_given_to_batsim_puts_each_unit_on_its_host(units: dict[int, int]) -> None:
    allocation = Allocation.of(units, units.values())
    mapping = Execute(0.0, "w0!1", allocation).executors()
    if all(count == 1 for count in units.values()):
        assert mapping is None
        return
    assert mapping is not None
    assert list(mapping) == list(range(allocation.units))
    assert [allocation.ids[index] for index in mapping.values()] == [
        host for host in sorted(units) for _ in range(units[host])
    ]


def test_a_mapping_that_was_asked_for_is_kept() -> None:
    assert Execute(0.0, "w0!1", Allocation.of([0, 1]), {0: 1, 1: 0}).executors() == {0: 1, 1: 0}


class _Uncounted(int):
    """A mask whose bits must not be counted."""

    def bit_count(self) -> int:
        raise AssertionError("the size was known")


def test_a_known_size_is_not_counted_again() -> None:
    held = Allocation(_Uncounted(0b1011), size=3)
    job = Job(id="w!1", request=Request(units=3))
    assert (held.size, held.units) == (3, 3)
    pool = HostCount(Machine.flat(8))
    assert pool.give(2, job, held) == 5
    assert pool.take(5, job, held) == 2
    assert pool.lacking(2, job, held) == (-1, "host", 2, 3)


@given(st.integers(min_value=1, max_value=2**70 - 1), st.integers(min_value=1, max_value=70))
def test_first_fit_knows_the_size_of_what_it_gives(free: int, units: int) -> None:
    found = first_fit(HostSpace(Machine.flat(70)), free, Job(id="w!1", request=Request(units=units)))
    assert (found is None) == (free.bit_count() < units)
    assert found is None or found.size == found.mask.bit_count() == units


def test_a_part_and_two_allocations_together_keep_their_units() -> None:
    both = Allocation.of([1, 2, 5], [3, 1, 2])
    assert both.without(0b100) == Allocation.of([1, 5], [3, 2])
    assert both.without(0b1) is both
    assert both.without(-1) is None
    assert Allocation(0b111).without(0b10) == Allocation(0b101)
    assert Allocation.of([1], [3]).joined(Allocation.of([2, 5], [1, 2])) == both
    assert both.joined(None) is both
    assert Allocation.of([1, 5], [2, 2]).is_within(both)
    assert not Allocation.of([1, 2], [3, 2]).is_within(both)
    assert not Allocation.of([0]).is_within(both)
