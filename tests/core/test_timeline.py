"""Free capacity over time, against a list with one entry a second."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.capacity.filling import first_fit
from batdispatch.core.capacity.granularity import space_of
from batdispatch.core.capacity.space import HostCount, HostSpace, Space
from batdispatch.core.errors import ImpossibleDecision
from batdispatch.core.hosts.allocation import Allocation, Place
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request, amounts
from batdispatch.core.machine.machine import Machine
from batdispatch.core.plans.moments import end_of
from batdispatch.core.plans.timeline import Timeline
from strategies import exclusive_machines, jobs, machines, make_job

#: The last second the list knows; all that happens ends before, or lasts for ever.
HORIZON = 60


class Seconds:
    """The model: free capacity in each second up to the horizon; the last entry stands for all that follow."""

    def __init__(self, space: Space[Any], now: int) -> None:
        self.space = space
        self.now = now
        self.free = [space.whole() for _ in range(HORIZON + 1)]

    def change(self, op: Any, job: Job, allocation: Allocation, start: int, end: float) -> None:
        for second in range(max(start, self.now), int(min(end, HORIZON + 1))):
            self.free[second] = op(self.free[second], job, allocation)

    def window(self, start: int, end: float) -> Any:
        shared = self.free[start]
        for second in range(start, int(min(end, HORIZON + 1))):
            shared = self.space.meet(shared, self.free[second])
        return shared

    def earliest(self, job: Job, duration: float, after: int) -> tuple[int, Any] | None:
        for start in range(max(after, self.now), HORIZON + 1):
            window = self.window(start, start + duration)
            if self.space.fits(window, job):
                return start, window
        return None


def chooser(space: Space[Any]) -> Any:
    def choose(free: Any, job: Job, start: float, end: float) -> Place | None:
        if isinstance(space, HostCount):
            return Place(Allocation((1 << job.units) - 1)) if space.fits(free, job) else None
        allocation = first_fit(space, free, job)
        return None if allocation is None else Place(allocation)

    return choose


def spaces(data: st.DataObject) -> Space[Any]:
    if data.draw(st.integers(0, 2)) == 0:
        return HostCount(data.draw(exclusive_machines()))
    return space_of(data.draw(machines()))


def check_equal(timeline: Timeline[Any], model: Seconds) -> None:
    assert timeline.times[0] == model.now
    assert timeline.times == sorted(set(timeline.times))
    same = model.space.same
    for second in range(model.now, HORIZON + 1):
        assert same(timeline.at(second), model.free[second]), second
    assert not any(same(a, b) for a, b in zip(timeline.frees, timeline.frees[1:], strict=False)), "not minimal"


@given(st.data())
def test_any_sequence_of_planning_and_cancelling(data: st.DataObject) -> None:
    space = spaces(data)
    choose = chooser(space)
    now = data.draw(st.integers(0, 5))
    timeline, model = Timeline(space, now, space.whole()), Seconds(space, now)
    held: list[tuple[Job, Allocation, int, float]] = []
    for number in range(data.draw(st.integers(1, 8))):
        action = data.draw(st.sampled_from(["plan", "plan", "plan", "cancel", "move", "advance"]))
        if action == "advance":
            now += data.draw(st.integers(0, 4))
            timeline.advance(now)
            model.now = now
        elif action == "cancel" and held:
            job, allocation, start, end = held.pop(data.draw(st.integers(0, len(held) - 1)))
            timeline.release(job, allocation, start, end)
            model.change(space.give, job, allocation, start, end)
        elif action == "move" and held:
            job, allocation, start, end = data.draw(st.sampled_from(held))
            model.change(space.give, job, allocation, start, end)
            better = model.earliest(job, end - start, now)
            others = None if end == math.inf else model.window(max(start, now), end)
            model.change(space.take, job, allocation, start, end)
            if not timeline.may_move_up(job, start, end, now):
                assert better is None or better[0] >= start
            before = data.draw(st.integers(now, HORIZON))
            moved = timeline.earlier(job, allocation, start, end, end - start, choose, after=now, before=before)
            if better is None or better[0] >= min(start, before):
                assert moved is None
            else:
                assert moved == (better[0], choose(better[1], job, better[0], better[0] + end - start))
            if others is not None and end > max(start, now):
                free = timeline.all_along(max(start, now), end)
                assert space.same(space.give(free, job, allocation), others)
        elif action == "plan":
            job = data.draw(jobs(space.machine, f"w0!{number}"))
            duration = data.draw(st.one_of(st.integers(1, 6), st.just(math.inf)))
            after = now + data.draw(st.integers(0, 6))
            expected = model.earliest(job, duration, after)
            found = timeline.earliest(job, duration, choose, after=after)
            assert (found is None) == (expected is None)
            if found is None or expected is None:
                continue
            start, place = found
            allocation = place.allocation
            assert start == expected[0]
            assert place == choose(expected[1], job, start, start + duration)
            timeline.reserve(job, allocation, start, start + duration)
            model.change(space.take, job, allocation, int(start), start + duration)
            held.append((job, allocation, int(start), start + duration))
        check_equal(timeline, model)
    for job, allocation, start, end in held:
        timeline.release(job, allocation, start, end)
    assert len(timeline.times) == 1, "steps stay when nothing is planned any more"
    assert space.same(timeline.frees[0], space.whole())


@given(st.data())
def test_restrict_takes_hosts_away_at_all_times_or_some(data: st.DataObject) -> None:
    space = space_of(data.draw(machines()))
    timeline, model = Timeline(space, 0, space.whole()), Seconds(space, 0)
    for number in range(data.draw(st.integers(0, 4))):
        job = data.draw(jobs(space.machine, f"w0!{number}"))
        duration = data.draw(st.integers(1, 6))
        found = timeline.earliest(job, duration, chooser(space))
        assert found is not None
        timeline.reserve(job, found[1].allocation, found[0], found[0] + duration)
        model.change(space.take, job, found[1].allocation, int(found[0]), found[0] + duration)
    kept = data.draw(st.integers(0, 2 ** len(space.machine.hosts) - 1))
    start, end = data.draw(
        st.one_of(
            st.just((-math.inf, math.inf)),
            st.tuples(st.integers(-3, 20), st.one_of(st.integers(-3, 20), st.just(math.inf))),
        )
    )
    timeline.restrict(kept, start, end)
    model.free = [space.only(free, kept) if start <= s < end else free for s, free in enumerate(model.free)]
    check_equal(timeline, model)
    job = data.draw(jobs(space.machine, "w0!x"))
    duration, after = data.draw(st.integers(1, 6)), data.draw(st.integers(0, 9))
    latest = after + data.draw(st.one_of(st.integers(0, 9), st.just(math.inf)))
    best, choose = model.earliest(job, duration, after), chooser(space)
    found = timeline.earliest(job, duration, choose, after=after, latest=latest)
    if best is None or best[0] > latest:
        assert found is None
    else:
        assert found == (best[0], choose(best[1], job, best[0], best[0] + duration))


@pytest.mark.parametrize("capacity", [None, "core=2"])
def test_the_sums_know_of_hosts_that_are_taken_away_for_a_while(capacity: str | None) -> None:
    """Three hosts of four are away from 2 to 6 s: two of them suffice until then, and from then on."""
    space = space_of(Machine.flat(4, capacity))
    timeline = Timeline(space, 0.0, space.whole())
    timeline.restrict(0b0001, 2.0, 6.0)
    demand = amounts({"core": 2}) if capacity else ()
    pair, one = (Job(id="w0!1", request=Request(units=units, per_unit=demand)) for units in (2, 1))
    assert timeline.around(pair, 1.0, 5.0) == (2.0, 2.0)
    assert timeline.around(pair, 3.0, 5.0) == (0.0, -math.inf)
    assert timeline.around(pair, 1.0, 7.0) == (math.inf, math.inf)
    assert timeline.around(one, 3.0, 5.0) == (math.inf, math.inf)


def test_a_choice_that_finds_nothing_yet_is_asked_again_later() -> None:
    space = HostSpace(Machine.flat(3))
    timeline = Timeline(space, 0.0, 0b101)
    timeline.release(Job(id="w0!1", request=Request(units=1)), Allocation(0b010), 7.0, math.inf)

    def neighbours(free: int, job: Job, start: float, end: float) -> Place | None:
        return next((Place(Allocation(0b11 << first)) for first in range(2) if free >> first & 3 == 3), None)

    pair = Job(id="w0!2", request=Request(units=2))
    assert timeline.earliest(pair, 2.0, neighbours) == (7.0, Place(Allocation(0b011)))
    assert timeline.earliest(pair, 2.0, lambda free, job, start, end: None) is None


def test_a_job_may_move_up_by_the_hosts_that_it_holds_itself() -> None:
    space = HostSpace(Machine.flat(4))
    timeline = Timeline(space, 0.0, space.whole())
    job, other = make_job("w0!1", 2), make_job("w0!2", 2)
    timeline.reserve(other, Allocation(0b0011), 0.0, 1.0)
    timeline.reserve(other, Allocation(0b1100), 3.0, 6.0)
    timeline.reserve(job, Allocation(0b0011), 2.0, 6.0)
    # From 0 s on, no two hosts are free for 4 s: hosts 2 and 3 are until 3 s, hosts 0 and 1 from 1 s on.
    found = timeline.earlier(job, Allocation(0b0011), 2.0, 6.0, 4.0, chooser(space), after=0.0, before=2.0)
    assert found == (1.0, Place(Allocation(0b0011)))
    assert timeline.earlier(job, Allocation(0b0011), 2.0, 6.0, 4.0, chooser(space), after=0.0, before=1.0) is None
    assert timeline.at(2.0) == 0b1100, "nothing has changed"


def test_nothing_fits_before_a_job_that_runs_for_ever_ends() -> None:
    space = HostSpace(Machine.flat(2))
    timeline = Timeline(space, 0.0, space.whole())
    timeline.reserve(Job(id="w0!1", request=Request(units=1)), Allocation(0b01), 0.0, math.inf)
    timeline.reserve(Job(id="w0!2", request=Request(units=1)), Allocation(0b10), 5.0, math.inf)
    one = Job(id="w0!3", request=Request(units=1))
    assert timeline.earliest(one, 5.0, chooser(space)) == (0.0, Place(Allocation(0b10)))
    assert timeline.earliest(one, 5.1, chooser(space)) is None
    assert timeline.earliest(one, math.inf, chooser(space)) is None


def test_an_empty_interval_changes_nothing() -> None:
    space = HostSpace(Machine.flat(2))
    timeline = Timeline(space, 3.0, space.whole())
    timeline.reserve(Job(id="w0!1", request=Request(units=1)), Allocation(0b01), 5.0, 5.0)
    timeline.reserve(Job(id="w0!2", request=Request(units=1)), Allocation(0b01), 0.0, 3.0)
    assert timeline.times == [3.0]


def test_ends_are_whole_microseconds() -> None:
    assert 0.1 + 0.7 < 0.8
    assert end_of(0.1, 0.7) == 0.8
    assert end_of(0.1, 0.2) == 0.3
    assert end_of(5.0, math.inf) == math.inf


@pytest.mark.parametrize("time", [3.0, 3.5, 100.0])
def test_what_is_free_at_a_time_and_ever_after(time: float) -> None:
    space = HostCount(Machine.flat(4))
    timeline = Timeline(space, 0.0, 4)
    timeline.reserve(Job(id="w0!1", request=Request(units=3)), Allocation(0b111), 1.0, 3.0)
    assert timeline.at(time) == 4
    assert timeline.at(2.999) == 1
    assert timeline.at(0.0) == 4


def test_free_capacity_handed_out_never_changes_later() -> None:
    space = space_of(Machine.flat(2, "core=4"))
    job = Job(id="w0!1", request=Request(units=3, per_unit=amounts({"core": 1})))
    timeline = Timeline(space, 0.0, space.whole())
    seen: list[Any] = []

    def choose(free: Any, job: Job, start: float, end: float) -> Place:
        seen.append(free)
        return Place(Allocation.of([0], [3]))

    timeline.reserve(job, Allocation.of([1], [3]), 2.0, 4.0)
    assert timeline.earliest(job, 1.0, choose) is not None
    assert timeline.earliest(job, 9.0, choose) is not None
    kept = [*seen, timeline.at(0.0), timeline.at(3.0), *timeline.frees, *timeline.copy().frees]
    before = [free.tolist() for free in kept]
    timeline.reserve(job, Allocation.of([0], [3]), 0.0, 9.0)
    timeline.restrict(0b10)
    assert [free.tolist() for free in kept] == before


def test_free_capacity_handed_in_is_not_modified() -> None:
    machine = Machine.flat(2, "core=4")
    job = Job(id="w0!1", request=Request(units=3, per_unit=amounts({"core": 1})))
    space = space_of(machine)
    timeline = Timeline(space, 0.0, machine.capacity)
    timeline.reserve(job, Allocation.of([0], [3]), 0.0, 5.0)
    assert np.array_equal(machine.capacity, [[4], [4]])
    assert timeline.at(0.0).tolist() == [[1], [4]]


@pytest.mark.parametrize(
    ("space", "free", "hosts", "lacks"),
    [
        (HostSpace(Machine.flat(3)), 0b111, "1", "host 1 (n1) has 0 host free in that time, the job needs 1 there"),
        (HostCount(Machine.flat(3)), 2, "0-1", "the machine has 1 host free in that time, the job needs 2 there"),
    ],
)
def test_a_plan_beyond_capacity_is_refused(space: Any, free: Any, hosts: str, lacks: str) -> None:
    timeline = Timeline(space, 0.0, free)
    first, second = make_job("w0!1"), make_job("w0!2", 2)
    timeline.reserve(first, Allocation.parse("1"), 5.0, 9.0)
    before = (list(timeline.times), timeline.frees)
    with pytest.raises(ImpossibleDecision) as caught:
        timeline.reserve(second, Allocation.parse(hosts), 8.5, 12.0)
    assert f"a plan cannot keep {hosts} for job w0!2 from 8.500000 to 12.000000 s" in str(caught.value)
    assert lacks in str(caught.value)
    assert before == (list(timeline.times), timeline.frees)
    timeline.reserve(second, Allocation.parse(hosts), 9.0, 12.0)


def test_a_plan_beyond_the_capacity_of_a_node_is_refused() -> None:
    machine = Machine.flat(2, "core=4 mem=8")
    space = space_of(machine)
    timeline = Timeline(space, 0.0, space.whole())
    job = make_job(units=3, demand={"core": 1, "mem": 2})
    timeline.reserve(job, Allocation.of([0], [3]), 0.0, math.inf)
    with pytest.raises(ImpossibleDecision, match=r"host 0 \(\w+\) has 1 core free in that time, the job needs 3 there"):
        timeline.reserve(job, Allocation.of([0], [3]), 7.0, 8.0)
