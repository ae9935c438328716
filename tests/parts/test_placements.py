"""Placements against exhaustive search; whatever they choose, the ledger accepts."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.core.capacity.filling import first_fit
from batdispatch.core.capacity.granularity import space_of
from batdispatch.core.hosts import hostset
from batdispatch.core.hosts.allocation import Allocation, Place
from batdispatch.core.jobs.job import Job
from batdispatch.core.line import events as e
from batdispatch.core.line import registry
from batdispatch.core.line.events import MachinesUnavailable
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.scene import Scene
from batdispatch.core.machine.machine import Machine
from batdispatch.parts.placement import GROUP, make_placement
from networks import networked
from strategies import exclusive_machines, jobs, machines, make_job, shared_machines

NAMES = registry.names(GROUP)


def ledger_of(machine: Machine) -> Ledger:
    return Ledger(e.SimulationBegins(0.0, machine))


def choose(name: str, ledger: Ledger, job: Job, free: Any = None) -> Allocation | None:
    """Where a placement puts a job in what is free in a ledger, or in `free`; no mapping belongs to it."""
    placement = make_placement(name)
    placement.begin(ledger.machine)
    place = placement.place(Scene(ledger, ledger.free if free is None else free), job)
    assert place is None or place == Place(place.allocation)
    return None if place is None else place.allocation


def crowded(data: st.DataObject, machine: Machine) -> Ledger:
    """A ledger in which a few jobs run on random hosts and some hosts are away."""
    ledger = ledger_of(machine)
    for number in range(data.draw(st.integers(0, 4))):
        job = data.draw(jobs(machine, f"w0!r{number}"))
        among = data.draw(st.integers(0, 2 ** len(machine.hosts) - 1))
        allocation = first_fit(ledger.space, ledger.space.only(ledger.free, among), job)
        if allocation is not None:
            ledger.apply_submitted(e.JobSubmitted(0.0, job))
            ledger.start(job, allocation)
    if data.draw(st.booleans()):
        ledger.apply(
            MachinesUnavailable(ledger.now, Allocation(data.draw(st.integers(1, 2 ** len(machine.hosts) - 1))))
        )
    return ledger


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25)
@given(data=st.data())
def test_what_is_chosen_can_be_started_and_complete_placements_find_what_there_is(
    name: str, data: st.DataObject
) -> None:
    ledger = crowded(data, data.draw(networked(machines())))
    placement = make_placement(name)
    placement.begin(ledger.machine)
    job = data.draw(jobs(ledger.machine))
    before = np.array(ledger.free).copy()
    place = placement.place(Scene(ledger, ledger.free), job)
    assert np.array_equal(ledger.free, before)
    assert place == placement.place(Scene(ledger, ledger.free), job)
    if not ledger.space.fits(ledger.free, job):
        assert place is None
    elif placement.complete:
        assert place is not None
    if place is not None:
        ledger.apply_submitted(e.JobSubmitted(0.0, job))
        ledger.start(job, place)


@given(st.data())
def test_first_fit_on_exclusive_hosts_is_the_smallest_set_in_order_of_ids(data: st.DataObject) -> None:
    ledger = crowded(data, data.draw(exclusive_machines()))
    job = data.draw(jobs(ledger.machine))
    found = choose("first-fit", ledger, job)
    choices = list(combinations(hostset.ids(ledger.free), job.units))
    assert (found is None) == (not choices)
    if found is not None:
        assert tuple(found.ids) == min(choices)
        assert Place(found) == ledger.place(job)


@given(st.data())
def test_contiguous_on_exclusive_hosts_is_the_lowest_range(data: st.DataObject) -> None:
    ledger = crowded(data, data.draw(exclusive_machines()))
    job = data.draw(jobs(ledger.machine))
    found = choose("contiguous", ledger, job)
    free = set(hostset.ids(ledger.free))
    # I/O hosts stand in no row with the compute hosts.
    line = hostset.ids(ledger.machine.compute)
    ranges = [line[first : first + job.units] for first in range(len(line) - job.units + 1)]
    fitting = [each for each in ranges if set(each) <= free]
    assert (None if found is None else found.ids) == (fitting[0] if fitting else None)


@given(st.data())
def test_contiguous_on_shared_nodes_is_the_shortest_range_and_the_lowest_of_those(data: st.DataObject) -> None:
    ledger = crowded(data, data.draw(shared_machines(6)))
    job = data.draw(jobs(ledger.machine))
    found = choose("contiguous", ledger, job)
    room = ledger.space.room(ledger.free, job).clip(max=job.units).tolist()
    count = len(room)
    fitting = [
        (last - first, first)
        for first in range(count)
        for last in range(first + 1, count + 1)
        if all(room[first:last]) and sum(room[first:last]) >= job.units
    ]
    assert (found is None) == (not fitting)
    if found is not None:
        length, first = min(fitting)
        assert found.ids == list(range(first, first + length))


@given(st.data())
def test_best_fit_on_exclusive_hosts_is_the_tightest_run_or_the_fewest_pieces(data: st.DataObject) -> None:
    ledger = crowded(data, data.draw(exclusive_machines()))
    job = data.draw(jobs(ledger.machine))
    found = choose("best-fit", ledger, job)
    choices = list(combinations(hostset.ids(ledger.free), job.units))
    assert (found is None) == (not choices)
    if found is None:
        return
    runs = [last - first + 1 for first, last in hostset.runs(ledger.free)]
    holding = [length for length in runs if length >= job.units]
    pieces = list(hostset.runs(found.mask))
    if holding:
        ((first, _),) = pieces
        whole = next((a, b) for a, b in hostset.runs(ledger.free) if a <= first <= b)
        assert whole[1] - whole[0] + 1 == min(holding)
        assert first == whole[0]
    else:
        assert len(pieces) == min(len(list(hostset.runs(hostset.mask_of(each)))) for each in choices)


@pytest.mark.parametrize("sums", ["shares", "amounts"])
@given(data=st.data())
def test_best_fit_on_shared_nodes_fills_the_fullest_first(sums: str, data: st.DataObject) -> None:
    ledger = crowded(data, data.draw(shared_machines(6)))
    machine, free = ledger.machine, ledger.free
    job = data.draw(jobs(machine))
    found = choose(f"best-fit[sums={sums}]", ledger, job)
    if found is None:
        return
    room = ledger.space.room(free, job)
    largest = machine.capacity.max(axis=0).tolist() if sums == "shares" else [1] * len(machine.resources)

    def amount(host: int) -> float:
        return sum(int(have) / most for have, most in zip(free[host], largest, strict=True) if most)

    order = sorted((host for host in range(len(room)) if room[host]), key=lambda host: (round(amount(host), 9), host))
    expected: dict[int, int] = {}
    left = job.units
    for host in order:
        if left:
            expected[host] = min(int(room[host]), left)
            left -= expected[host]
    assert dict(found.per_host()) == expected


@pytest.mark.parametrize(
    ("name", "free", "units", "expected"),
    [
        ("first-fit", "0 2-3 5-9", 3, "0 2-3"),
        ("best-fit", "0 2-3 5-9", 1, "0"),
        ("best-fit", "0 2-3 5-9", 2, "2-3"),
        ("best-fit", "0 2-3 5-9", 3, "5-7"),
        ("best-fit", "0 2-3 5-9", 6, "2 5-9"),
        ("best-fit", "0 2-3 5-9", 8, "0 2-3 5-9"),
        ("contiguous", "0 2-3 5-9", 1, "0"),
        ("contiguous", "0 2-3 5-9", 2, "2-3"),
        ("contiguous", "0 2-3 5-9", 3, "5-7"),
        ("contiguous", "0 2-3 5-9", 6, None),
        ("consecutive", "0 2-3 5-9", 1, "0"),
        ("consecutive", "0 2-3 5-9", 3, "5-7"),
        ("consecutive", "0 2-3 5-9", 6, "0 5-9"),
        ("consecutive", "0 2-3 5-9", 7, "2-3 5-9"),
    ],
)
def test_by_hand(name: str, free: str, units: int, expected: str | None) -> None:
    found = choose(name, ledger_of(Machine.flat(10)), make_job(units=units), hostset.from_text(free))
    assert (None if found is None else str(found)) == expected


@pytest.mark.parametrize(
    ("name", "units", "expected"),
    [
        ("first-fit", 3, {0: 2, 1: 1}),
        ("first-fit", 7, {0: 2, 1: 4, 3: 1}),
        ("best-fit", 3, {3: 1, 0: 2}),
        ("best-fit", 5, {3: 1, 0: 2, 1: 2}),
        ("contiguous", 4, {1: 4}),
        ("contiguous", 5, {0: 2, 1: 3}),
        ("contiguous", 7, None),
        ("consecutive", 1, {3: 1}),
        ("consecutive", 3, {1: 3}),
        ("consecutive", 5, {0: 2, 1: 3}),
        ("consecutive", 7, {0: 2, 1: 4, 3: 1}),
    ],
)
def test_by_hand_on_shared_nodes(name: str, units: int, expected: dict[int, int] | None) -> None:
    # Cores free: 2, 4, none (a whole-node job), 1.
    machine = Machine.flat(4, "core=4")
    free = np.array([[2], [4], [0], [1]])
    found = choose(name, ledger_of(machine), make_job(units=units, demand={"core": 1}), free)
    assert (None if found is None else dict(found.per_host())) == expected


@pytest.mark.parametrize(
    ("cores", "units", "expected"),
    [
        # The five nodes that hold the job with the least room are too many for it: they are left out.
        ((6, 0, 5, 0, 2, 2, 2, 2, 2), 10, {0: 6, 2: 4}),
        # Without the small ones no set holds the job, and with them too many nodes are taken.
        ((8, 0, 2, 0, 2, 2, 2, 2, 2), 10, {0: 8, 2: 2}),
    ],
)
def test_consecutive_finds_a_bounded_number_of_nodes(
    cores: tuple[int, ...], units: int, expected: dict[int, int]
) -> None:
    machine = Machine.flat(len(cores), "core=8")
    job = make_job(units=units, demand={"core": 1}, nodes=(1, 2))
    found = choose("consecutive", ledger_of(machine), job, np.array(cores)[:, None])
    assert found is not None
    assert dict(found.per_host()) == expected


def test_equal_nodes_tie_wherever_they_stand() -> None:
    # Sums of thirds and sevenths: equal rows must compare equal at any position, or ties would go at random.
    machine = Machine.flat(101, "a=3 b=7 c=11 d=13 e=17")
    free = np.tile(np.array([[1, 2, 3, 4, 5]]), (101, 1))
    assert str(choose("best-fit", ledger_of(machine), make_job(units=50, demand={"a": 1}), free)) == "0-49"


def test_a_placement_that_is_not_complete_fits_the_space_it_says() -> None:
    machine = Machine.flat(5)
    space = space_of(machine)
    job = make_job(units=2)
    scattered = hostset.from_text("0 2 4")
    assert space.fits(scattered, job)
    assert not make_placement("contiguous").complete
    assert choose("contiguous", ledger_of(machine), job, scattered) is None
