"""The laws of free capacity, for exclusive hosts, shared nodes and mere numbers."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.capacity.filling import fill, first_fit
from batdispatch.core.capacity.granularity import space_of
from batdispatch.core.capacity.need import resolve
from batdispatch.core.capacity.space import HostCount, HostSpace, NodeSpace, Space
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request, amounts
from batdispatch.core.machine.machine import Host, Machine
from strategies import jobs, machines, shared_machines


def some_free(data: st.DataObject, space: Space[Any]) -> tuple[Any, list[tuple[Job, Allocation]]]:
    """Free capacity after a few jobs were placed, and those jobs."""
    free, placed = space.whole(), []
    for number in range(data.draw(st.integers(0, 4))):
        job = data.draw(jobs(space.machine, f"w0!p{number}"))
        allocation = first_fit(space, free, job)
        if allocation is not None:
            free = space.take(free, job, allocation)
            placed.append((job, allocation))
    return free, placed


def frozen(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


@given(st.data())
def test_give_undoes_take_and_arguments_stay_as_they_were(data: st.DataObject) -> None:
    machine = data.draw(machines())
    space = space_of(machine)
    free, _ = some_free(data, space)
    before = frozen(free)
    job = data.draw(jobs(machine))
    allocation = first_fit(space, free, job)
    assert (allocation is not None) == space.fits(free, job)
    if allocation is None:
        return
    assert allocation.units == job.units
    assert space.lacking(free, job, allocation) is None
    less = space.take(free, job, allocation)
    nothing = job.request.demand is not None and not any(job.request.demand.values())
    assert not space.same(less, free) or nothing
    assert space.same(space.give(less, job, allocation), free)
    assert frozen(free) == before
    assert space.same(space.whole(), space_of(machine).whole())


def test_one_allocation_serves_machines_of_other_capacities() -> None:
    # The wire hands out the same object for the same text.
    allocation, job = Allocation.of([0]), Job(id="w0!1", request=Request(units=1))
    for capacity in ("core=4", "core=9", "core=4 gpu=2"):
        space = NodeSpace(Machine.flat(2, capacity))
        assert space.take(space.whole(), job, allocation)[0].tolist() == [0] * len(space.machine.resources)


@given(st.data())
def test_meet_is_the_greatest_lower_bound(data: st.DataObject) -> None:
    machine = data.draw(machines())
    space = space_of(machine)
    a, _ = some_free(data, space)
    b, _ = some_free(data, space)
    both = space.meet(a, b)
    assert space.same(both, space.meet(b, a))
    assert space.same(space.meet(a, a), a)
    assert space.same(space.meet(a, space.whole()), a)
    assert space.same(space.meet(both, a), both)
    job = data.draw(jobs(machine))
    if space.fits(both, job):
        assert space.fits(a, job)
        assert space.fits(b, job)
        allocation = first_fit(space, both, job)
        assert allocation is not None
        assert space.lacking(a, job, allocation) is None
        assert space.lacking(b, job, allocation) is None


@given(st.data())
def test_only_leaves_nothing_outside_and_everything_inside(data: st.DataObject) -> None:
    machine = data.draw(machines())
    space = space_of(machine)
    free, _ = some_free(data, space)
    kept = data.draw(st.integers(0, 2 ** len(machine.hosts) - 1))
    inside = space.only(free, kept)
    assert space.same(space.only(inside, kept), inside)
    assert space.same(space.only(free, -1), free)
    assert space.same(space.meet(inside, free), inside)
    for number in range(len(machine.hosts)):
        value, was = (inside >> number & 1, free >> number & 1) if machine.exclusive else (inside[number], free[number])
        expected = was if kept >> number & 1 else np.zeros_like(was)
        assert np.array_equal(value, expected)


@given(st.data())
def test_lacking_names_a_host_that_really_lacks(data: st.DataObject) -> None:
    machine = data.draw(machines())
    space = space_of(machine)
    free, _ = some_free(data, space)
    job = data.draw(jobs(machine))
    ideal = first_fit(space, space.whole(), job)
    assert ideal is not None
    lack = space.lacking(free, job, ideal)
    if lack is None:
        left = space.take(free, job, ideal)
        assert machine.exclusive or (left >= 0).all()
        assert space.same(space.give(left, job, ideal), free)
        return
    number, resource, have, need = lack
    assert number in ideal.ids
    assert have < need
    units = dict(ideal.per_host())[number]
    if machine.exclusive:
        assert (resource, have, need) == ("host", 0, 1)
    else:
        axis = machine.resources.index(resource)
        assert have == free[number, axis]
        demand = job.request.demand
        assert need == (machine.capacity[number, axis] if demand is None else demand.get(resource, 0) * units)


@given(st.data())
def test_plausible_keeps_order_and_loses_no_job_that_fits(data: st.DataObject) -> None:
    machine = data.draw(machines())
    space = space_of(machine)
    free, _ = some_free(data, space)
    candidates = [data.draw(jobs(machine, f"w0!{i}")) for i in range(data.draw(st.integers(0, 5)))]
    kept = space.plausible(free, candidates)
    assert [job for job in candidates if job in kept] == kept
    assert all(job in kept for job in candidates if space.fits(free, job))
    if machine.exclusive:
        pool = HostCount(machine)
        assert pool.plausible(free.bit_count(), candidates) == kept


@given(st.data())
def test_a_pool_counts_what_a_host_space_lists(data: st.DataObject) -> None:
    machine = data.draw(machines().filter(lambda machine: machine.exclusive))
    hosts, pool = HostSpace(machine), HostCount(machine)
    free, placed = some_free(data, hosts)
    assert pool.whole() == hosts.whole().bit_count()
    job = data.draw(jobs(machine))
    count = free.bit_count()
    assert pool.fits(count, job) == hosts.fits(free, job)
    allocation = first_fit(hosts, free, job)
    if allocation is not None:
        assert pool.take(count, job, allocation) == hosts.take(free, job, allocation).bit_count()
    for held, where in placed:
        assert pool.give(count, held, where) == hosts.give(free, held, where).bit_count()
    assert pool.meet(3, 5) == 3
    assert pool.same(2, 2)
    assert not pool.same(2, 3)


def test_a_pool_cannot_name_hosts() -> None:
    pool = HostCount(Machine.flat(3))
    with pytest.raises(TypeError, match="does not know which"):
        pool.only(3, 1)
    job = Job(id="w0!1", request=Request(units=3))
    assert pool.lacking(3, job, Allocation(7)) is None
    assert pool.lacking(2, job, Allocation(7)) == (-1, "host", 2, 3)


def test_the_exact_space_of_a_machine() -> None:
    assert isinstance(space_of(Machine.flat(3)), HostSpace)
    assert isinstance(space_of(Machine.flat(3, "core=2")), NodeSpace)


@given(st.lists(st.integers(0, 5), max_size=7), st.integers(1, 20), st.data())
def test_fill_uses_hosts_in_order_each_as_full_as_it_goes(room: list[int], units: int, data: st.DataObject) -> None:
    order = data.draw(st.none() | st.permutations(range(len(room))))
    need = resolve(Machine.flat(1, "core=1"), Request(units=units, per_unit=amounts({"core": 1})))
    found = fill(np.array(room, dtype=np.int64), need, None if order is None else np.array(order, dtype=np.int64))
    expected: dict[int, int] = {}
    left = units
    for number in range(len(room)) if order is None else order:
        if left and room[number]:
            expected[number] = min(room[number], left)
            left -= expected[number]
    if left:
        assert found is None
    else:
        assert found is not None
        assert dict(found.per_host()) == expected


@given(st.data())
def test_first_fit_takes_no_higher_host_while_a_lower_one_has_room(data: st.DataObject) -> None:
    machine = data.draw(shared_machines())
    space = space_of(machine)
    free, _ = some_free(data, space)
    job = data.draw(jobs(machine))
    found = first_fit(space, free, job)
    if found is None:
        return
    room = space.room(free, job)
    *full, last = found.per_host()
    assert all(count == room[number] for number, count in full)
    assert last[1] <= room[last[0]]
    skipped = set(range(last[0])) - {number for number, _ in full}
    assert all(room[number] == 0 for number in skipped)


def test_first_fit_on_exclusive_hosts_skips_storage() -> None:
    machine = Machine([Host(id=i, name=f"n{i}", storage=i in (0, 2)) for i in range(5)])
    found = first_fit(HostSpace(machine), HostSpace(machine).whole(), Job(id="w0!1", request=Request(units=2)))
    assert str(found) == "1 3"
