"""Requests on tiny machines, against all allocations there are."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.core.capacity.filling import fill, first_fit
from batdispatch.core.capacity.granularity import space_of
from batdispatch.core.capacity.need import resolve
from batdispatch.core.capacity.space import Space
from batdispatch.core.errors import ImpossibleDecision, InputError
from batdispatch.core.hosts import hostset
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job
from batdispatch.core.line import events as e
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Host, Machine
from strategies import exclusive_machines, make_job, shared_machines

UNIT = [None, {"core": 1}, {"core": 2, "mem": 3}, {"core": 1, "gpu": 1}, {"mem": 5}, {"core": 0}, {}]
ONCE = [{"core": 1}, {"gpu": 1}, {"mem": 2}, {"core": 4, "mem": 0}]
A = Allocation.parse


@st.composite
def requests(draw: st.DrawFn, machine: Machine, name: str = "w0!1") -> Job:
    """A job with any restrictions, which may contradict each other."""
    known = [d for d in UNIT if d is None or set(d) <= set(machine.resources)] if not machine.exclusive else UNIT
    fields: dict[str, Any] = {}
    hosts = [host.name for host in machine.hosts]
    least = draw(st.integers(1, 3))
    offers: dict[str, st.SearchStrategy[Any]] = {
        "per_node": st.sampled_from([d for d in ONCE if machine.exclusive or set(d) <= set(machine.resources)]),
        "nodes": st.one_of(st.integers(1, 4), st.just([least, least + draw(st.integers(0, 2))])),
        "units_per_node": st.integers(1, 3),
        "whole_nodes": st.booleans(),
        "node_list": st.lists(st.sampled_from(hosts), min_size=1, unique=True),
        "exclude_nodes": st.lists(st.sampled_from(hosts), unique=True),
        "contiguous": st.booleans(),
    }
    for field in draw(st.lists(st.sampled_from(list(offers)), max_size=4, unique=True)):
        fields[field] = draw(offers[field])
    return make_job(name, draw(st.integers(1, 4)), draw(st.sampled_from(known)), **fields)


@st.composite
def scenes(draw: st.DrawFn) -> tuple[Space[Any], Any]:
    """The space of a tiny machine, and something that is free of it."""
    machine = draw(st.one_of(exclusive_machines(5), shared_machines(4)))
    space = space_of(machine)
    if machine.exclusive:
        return space, space.whole() & draw(st.integers(0, 2 ** len(machine.hosts) - 1))
    free = space.whole().copy()
    for host in range(len(free)):
        # Half of the nodes are idle: otherwise nothing would fit that takes whole ones.
        if draw(st.booleans()):
            free[host] = [draw(st.integers(0, int(most))) for most in space.machine.capacity[host]]
    return space, free


def every(machine: Machine, units: int) -> Iterator[dict[int, int]]:
    """Yield all ways to put units on hosts that run jobs."""
    hosts = hostset.ids(machine.compute)
    for counts in product(range(units + 1), repeat=len(hosts)):
        if sum(counts) == units:
            yield {host: count for host, count in zip(hosts, counts, strict=True) if count}


def satisfies(machine: Machine, free: Any, job: Job, counts: dict[int, int]) -> bool:
    """Whether an allocation is what a request asks for, and free: from the words of `core.jobs.request` alone."""
    request = job.request
    names = {machine.hosts[host].name for host in counts}
    ids = sorted(counts)
    if (
        (request.named and not names <= set(request.named))
        or names & set(request.excluded)
        or (request.nodes and not request.nodes[0] <= len(counts) <= request.nodes[1])
        or (request.units_per_node and set(counts.values()) != {request.units_per_node})
        or (request.contiguous and ids != list(range(ids[0], ids[-1] + 1)))
    ):
        return False
    if machine.exclusive:
        return all(count == 1 and free >> host & 1 for host, count in counts.items())
    unit, once = dict(request.per_unit or ()), dict(request.per_node)
    for host, count in counts.items():
        takes = [unit.get(name, 0) * count + once.get(name, 0) for name in machine.resources]
        if any(take > have for take, have in zip(takes, free[host], strict=True)):
            return False
        if (request.per_unit is None or request.whole_nodes) and (free[host] != machine.capacity[host]).any():
            return False
        if request.per_unit is None and count > 1:
            return False
        if not any(unit.values()) and not free[host].any():
            # A unit that needs nothing still needs a node that is there and has anything.
            return False
    return True


def of(counts: dict[int, int]) -> Allocation:
    return Allocation.of(list(counts), list(counts.values()))


@settings(max_examples=100)
@given(st.data())
def test_what_fits_is_found_and_is_what_was_asked_for(data: st.DataObject) -> None:
    space, free = data.draw(scenes())
    machine = space.machine
    job = data.draw(requests(machine))
    right = {of(counts) for counts in every(machine, job.units) if satisfies(machine, free, job, counts)}
    try:
        need = space.need(job)
    except InputError:
        whole = space.whole()
        assert not any(satisfies(machine, whole, job, counts) for counts in every(machine, job.units)), "refused"
        return
    assert space.fits(free, job) == bool(right)
    (room,) = space.rooms([free], job)
    assert (room is not None) == bool(right)
    assert room is None or space.enough(room, job)
    assert space.fitting(free, [job]) == ([job] if right else [])
    assert not right or space.plausible(free, [job]) == [job]
    assert not right or (space.pooled(free) >= space.pooled_need(job)).all()
    order = np.array(data.draw(st.permutations(range(len(machine.hosts)))), dtype=np.intp)
    each = space.room(free, job)
    for found in (first_fit(space, free, job), fill(each, need), fill(each, need, order)):
        assert (found is not None) == bool(right)
        if found is not None:
            assert found in right
            assert space.mismatch(job, found) == ""
            assert space.lacking(free, job, found) is None


@settings(max_examples=100)
@given(st.data())
def test_the_meet_of_rooms_is_the_room_of_the_meet(data: st.DataObject) -> None:
    space, a = data.draw(scenes())
    machine = space.machine
    b = space.whole() if data.draw(st.booleans()) else space.only(a, data.draw(st.integers(0, 31)))
    job = data.draw(requests(machine))
    try:
        space.need(job)
    except InputError:
        return
    one, other = space.rooms([a, b], job)
    both = space.meet(a, b)
    (expected,) = space.rooms([both], job)
    if one is None or other is None:
        assert expected is None
    else:
        met = space.meet(one, other)
        assert space.enough(met, job) == space.fits(both, job)
        assert expected is None or np.array_equal(np.array(met), np.array(expected))


@settings(max_examples=100)
@given(st.data())
def test_the_ledger_starts_a_job_on_exactly_what_it_asks_for(data: st.DataObject) -> None:
    machine = data.draw(st.one_of(exclusive_machines(4), shared_machines(3)))
    ledger = Ledger(e.SimulationBegins(0.0, machine))
    other = data.draw(requests(machine, "w0!other"))
    ledger.apply_submitted(e.JobSubmitted(0.0, other))
    if ledger.why_impossible(other) == "":
        place = ledger.place(other)
        assert place is not None, "the machine is idle"
        ledger.start(other, place)
    job = data.draw(requests(machine))
    ledger.apply_submitted(e.JobSubmitted(0.0, job))
    every_way = list(every(machine, job.units))
    possible = [counts for counts in every_way if satisfies(machine, ledger.space.whole(), job, counts)]
    assert (ledger.why_impossible(job) == "") == bool(possible)
    if not possible:
        return
    counts = data.draw(st.sampled_from(every_way))
    right = satisfies(machine, ledger.free, job, counts)
    if right:
        ledger.start(job, of(counts))
        ledger.check()
        return
    demand = job.request.demand
    if machine.exclusive or demand is None:
        # Batsim runs several executors of a job on a host that the job has to itself.
        right = satisfies(machine, ledger.free, make_folded(job, len(counts)), dict.fromkeys(counts, 1))
    elif not any(demand.values()):
        # Who needs nothing may also go where nothing is left.
        return
    need = ledger.space.need(job)
    if need.per_host is not None and any(count > need.per_host[host] for host, count in counts.items()):
        # See test_no_whole_node_is_given_more_units_than_it_holds.
        return
    if not right:
        with pytest.raises(ImpossibleDecision):
            ledger.start(job, of(counts))
        ledger.check()


def make_folded(job: Job, hosts: int) -> Job:
    """The same request with one unit on each of some hosts."""
    fields = {name: value for name, value in job.extra.items() if name != "demand"}
    return make_job("w0!f", hosts, None, **fields)


REFUSED = [
    ({"units": 4, "units_per_node": 3}, "core=4", "asks for 4 units, 3 on each node: 4 is no multiple of 3"),
    ({"units": 4, "units_per_node": 2, "nodes": 3}, "core=4", "asks for 3 to 3 nodes, its 4 units take 2"),
    ({"units": 2, "nodes": 3}, "core=4", "asks for at least 3 nodes, and has only 2 units to put there"),
    ({"units": 2, "nodes": [1, 1]}, None, "asks for 1 to 1 nodes, its 2 units take 2"),
    ({"units": 2, "units_per_node": 2}, None, "asks for 2 units on each node, a unit is a whole node"),
    ({"per_node": {"mic": 1}}, "core=4", "needs resource 'mic', the machine has core"),
    ({"node_list": ["n0", "x"]}, None, "node_list names host 'x', which the machine does not have"),
    ({"exclude_nodes": ["x"]}, None, "exclude_nodes names host 'x', which the machine does not have"),
    ({"io_node": "n0"}, None, "is pinned to I/O node 'n0', which is no storage host of the machine"),
    ({"io_node": ["n1", "n0"]}, None, "is pinned to I/O node 'n1', which is no storage host of the machine"),
]


@pytest.mark.parametrize(("fields", "capacity", "message"), REFUSED, ids=[case[2] for case in REFUSED])
def test_requests_that_contradict_the_machine_or_themselves(
    fields: dict[str, Any], capacity: str | None, message: str
) -> None:
    demand = None if capacity is None else {"core": 1}
    ledger = Ledger(e.SimulationBegins(0.0, Machine.flat(3, capacity)))
    assert ledger.why_impossible(make_job(demand=demand, **fields)) == message


IMPOSSIBLE = [
    ({"units": 3, "contiguous": True}, "asks for 3 hosts on consecutive nodes, which the whole machine does not have"),
    ({"units": 3, "node_list": ["n0", "n3"]}, "asks for 3 hosts, the whole machine has room for 2"),
    ({"units": 2, "exclude_nodes": ["n0", "n1", "n3"]}, "asks for 2 hosts, the whole machine has room for 1"),
]


@pytest.mark.parametrize(("fields", "message"), IMPOSSIBLE, ids=[case[1] for case in IMPOSSIBLE])
def test_why_a_restricted_job_can_never_run(fields: dict[str, Any], message: str) -> None:
    # Host 2 is a disk, which breaks the range.
    machine = Machine([Host(id=i, name=f"n{i}", storage=i == 2) for i in range(5)])
    assert Ledger(e.SimulationBegins(0.0, machine)).why_impossible(make_job(**fields)) == message


def test_why_a_restricted_job_can_never_run_on_shared_nodes() -> None:
    ledger = Ledger(e.SimulationBegins(0.0, Machine.flat(3, "core=4 gpu=1")))
    assert ledger.why_impossible(make_job(units=4, demand={"core": 1}, per_node={"gpu": 2})) == (
        "asks for 4 units of 1 core with 2 gpu on each node, the whole machine has room for 0"
    )
    assert ledger.why_impossible(make_job(units=9, demand={"core": 1}, nodes=[1, 2])) == (
        "asks for 9 units of 1 core on 1 to 2 nodes, which the whole machine does not have"
    )


MISMATCHED = [
    ({"node_list": ["n1", "n2"]}, "0", "host 0 (n0) is not in its node list"),
    ({"exclude_nodes": ["n2"]}, "2", "host 2 (n2) is excluded"),
    ({"units": 2, "nodes": 2}, {0: 2}, "it asks for 2 to 2 nodes, the allocation has 1"),
    ({"units": 2, "units_per_node": 2}, "0-1", "it asks for 2 units on each node, host 0 has 1"),
    ({"units": 2, "contiguous": True}, "0 2", "it asks for consecutive nodes"),
]


@pytest.mark.parametrize(("fields", "where", "message"), MISMATCHED, ids=[case[2] for case in MISMATCHED])
def test_the_ledger_says_what_the_request_was(fields: dict[str, Any], where: Any, message: str) -> None:
    ledger = Ledger(e.SimulationBegins(0.0, Machine.flat(3, "core=4")))
    job = ledger.apply_submitted(e.JobSubmitted(0.0, make_job(demand={"core": 1}, **fields)))
    with pytest.raises(ImpossibleDecision) as caught:
        ledger.start(job, A(where) if isinstance(where, str) else of(where))
    assert message in str(caught.value)
    ledger.check()


def test_amounts_of_a_need_are_along_the_axes_of_the_machine() -> None:
    machine = Machine([Host(id=0, name="n0", properties={"capacity": "core=4 gpu=1 mem=8", "licences": "b=2 a=1"})])
    job = make_job(units=2, demand={"mem": 2, "core": 1}, per_node={"gpu": 1}, licences={"b": 1})
    need = resolve(machine, job.request)
    assert (need.amounts, need.once, need.licences, need.sums) == ((1, 0, 2), (0, 1, 0), (0, 1), (2, 1, 4))
    assert space_of(machine).use(job, Allocation.of([0], [2])).tolist() == [[2, 1, 4]]


BEYOND = [
    ("core=4", {"units": 8, "demand": {"core": 1}, "whole_nodes": True}, {0: 8}),
    ("core=4 gpu=1", {"units": 1, "per_node": {"gpu": 1}}, {2: 1}),
]


@pytest.mark.parametrize(("capacity", "fields", "where"), BEYOND)
def test_no_whole_node_is_given_more_units_than_it_holds(
    capacity: str, fields: dict[str, Any], where: dict[int, int]
) -> None:
    hosts = [Host(id=i, name=f"n{i}", properties={"capacity": capacity if i < 2 else "core=4"}) for i in range(3)]
    ledger = Ledger(e.SimulationBegins(0.0, Machine(hosts)))
    job = ledger.apply_submitted(e.JobSubmitted(0.0, make_job(**fields)))
    assert ledger.why_impossible(job) == ""
    with pytest.raises(ImpossibleDecision):
        ledger.start(job, of(where))
