"""The plan of a planning dispatcher: its timeline is always the one that its reservations make."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.core.capacity.filling import first_fit
from batdispatch.core.capacity.space import HostCount
from batdispatch.core.hosts.allocation import Allocation, Place
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.core.line import events as e
from batdispatch.core.line.events import MachinesUnavailable
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.scene import Scene
from batdispatch.core.machine.machine import Machine
from batdispatch.core.plans.reservations import Reservation, Reservations
from batdispatch.core.plans.timeline import Timeline
from strategies import exclusive_machines, jobs, machines, make_job

A = Allocation.parse


def choose(scene: Scene, job: Job) -> Place | None:
    allocation = first_fit(scene.space, scene.free, job)
    return None if allocation is None else Place(allocation)


def ledger_of(machine: Machine) -> Ledger:
    return Ledger(e.SimulationBegins(0.0, machine))


class Plan:
    """Reservations, and what stands aside, which they do not show."""

    def __init__(self, ledger: Ledger, space: Any = None) -> None:
        self.ledger = ledger
        self.plan = Reservations(ledger, choose, space)
        self.aside: dict[str, Reservation] = {}

    def check(self) -> None:
        """Compare the timeline with one made of all that is reserved."""
        plan, now = self.plan, self.ledger.now
        plan.timeline.advance(now)
        whole = self.ledger.space.whole()
        made = Timeline(plan.space, now, whole if plan.space is self.ledger.space else whole.bit_count())
        for kept in (*plan.held.values(), *plan.planned.values(), *self.aside.values()):
            made.reserve(kept.job, kept.place.allocation, kept.start, kept.end)
        assert plan.timeline.times == made.times
        for mine, scratch in zip(plan.timeline.frees, made.frees, strict=True):
            assert plan.space.same(mine, scratch)
        everyone = [*plan.held.values(), *plan.planned.values(), *self.aside.values()]
        for start, end in ((now, now + 3), (now + 2, math.inf)):
            expected = [(kept.job.id, kept.place) for kept in everyone if kept.start < end and start < kept.end]
            assert sorted(map(str, expected)) == sorted(
                str((job.id, place)) for job, place in plan.overlapping(start, end)
            )


@settings(max_examples=100)
@given(st.data())
def test_the_timeline_is_always_what_the_reservations_make(data: st.DataObject) -> None:
    pooled = data.draw(st.integers(0, 3)) == 0
    machine = data.draw(exclusive_machines() if pooled else machines())
    ledger = ledger_of(machine)
    scene = Plan(ledger, HostCount(machine) if pooled else None)
    plan = scene.plan
    actions = ["reserve", "reserve", "reserve", "withdraw", "begin", "hold", "end", "lend", "put_back", "give_back"]
    actions += ["wait", "renew"]
    for number in range(data.draw(st.integers(1, 14))):
        action = data.draw(st.sampled_from(actions))
        duration = float(data.draw(st.integers(1, 6)))
        planned, held = list(plan.planned), list(plan.held)
        job = data.draw(jobs(machine, f"w0!{number}"))
        if action == "reserve":
            before = data.draw(st.sampled_from([math.inf, ledger.now + 4]))
            expected = plan.earliest(job, duration)
            kept = plan.reserve(job.id, job, duration, before)
            late = expected is not None and expected.start + duration > before
            assert (kept is None) == (expected is None or late)
            if kept is not None:
                assert expected is not None
                assert plan.planned[job.id] is kept
                assert kept == expected
                assert kept.end == kept.start + duration <= before
        elif action == "withdraw":
            assert plan.withdraw("nobody's") is None
            if planned:
                kept = plan.planned[(key := data.draw(st.sampled_from(planned)))]
                assert plan.withdraw(key) is kept
                assert key not in plan.planned
        elif action == "begin":
            due = [key for key in planned if plan.planned[key].start <= ledger.now]
            if due:
                plan.begin(key := data.draw(st.sampled_from(due)))
                assert key in plan.held
        elif action in ("hold", "lend"):
            key = data.draw(st.sampled_from(planned)) if planned and action == "lend" else ""
            tried = plan.planned[key].job if key else job
            found = plan.earliest(tried, duration)
            if found is None or found.start > ledger.now:
                continue
            kept = plan.lend(key)
            assert (kept is None) == (key == "")
            if kept is not None:
                scene.aside[key] = kept
            plan.hold(tried, found.place, ledger.now + duration)
        elif action == "end" and held:
            name = data.draw(st.sampled_from(held))
            kept = plan.held[name]
            assert plan.end(name) is kept
        elif action in ("put_back", "give_back"):
            ended = [key for key in scene.aside if scene.aside[key].job.id not in plan.held]
            if ended and action == "give_back":
                del scene.aside[(key := data.draw(st.sampled_from(ended)))]
                assert plan.give_back(key)
                assert not plan.give_back(key)
            elif ended:
                kept = scene.aside.pop(key := data.draw(st.sampled_from(ended)))
                further = make_job(f"w0!{number}", kept.job.units, kept.job.request.demand)
                plan.put_back(key, further.id, further)
                assert plan.planned[further.id] == kept._replace(job=further)
        elif action == "wait":
            ledger.now += data.draw(st.integers(0, 4))
        elif action == "renew":
            # On the hosts of a job whose time is over, another one may have begun.
            running = [name for name in held if plan.held[name].end > ledger.now]
            if running:
                name = data.draw(st.sampled_from(running))
                plan.extend(name, max(plan.held[name].end, ledger.now) + 2)
            plan.renew()
            scene.aside.clear()
            assert not plan.planned
        scene.check()


def test_a_plan_that_is_made_anew_knows_who_is_away() -> None:
    ledger = ledger_of(Machine.flat(3))
    plan = Reservations(ledger, choose)
    one, two = make_job("w0!1"), make_job("w0!2")
    plan.hold(one, Place(A("0")), 5.0)
    ledger.apply(MachinesUnavailable(ledger.now, A("0-1")))
    plan.renew()
    assert [plan.timeline.at(time) for time in (0.0, 5.0)] == [0b100, 0b100], "it gives nothing back there"
    assert plan.reserve(two.id, two, 2.0) == Reservation(two, 0.0, 2.0, Place(A("2")))
    assert Reservations(ledger, choose).timeline.at(0.0) == 0b100


def test_a_job_that_cannot_start_earlier_is_known() -> None:
    ledger = ledger_of(Machine.flat(2))
    plan = Reservations(ledger, choose)
    one, two = make_job("w0!1", 2), make_job("w0!2", 2)
    plan.hold(one, Place(A("0-1")), 5.0)
    plan.reserve(two.id, two, 2.0)
    assert plan.planned[two.id].start == 5.0
    assert not plan.may_move_up(two.id)
    plan.end(one.id)
    assert plan.may_move_up(two.id)


def test_nothing_is_kept_beyond_a_limit() -> None:
    ledger = ledger_of(Machine.flat(1))
    plan = Reservations(ledger, choose)
    job = make_job()
    assert plan.reserve(job.id, job, 5.0, before=4.0) is None
    assert plan.timeline.times == [0.0]
    assert plan.reserve(job.id, job, math.inf) is not None
    assert plan.reserve("w0!2", make_job("w0!2"), 1.0) is None, "the first one runs for ever"


@pytest.mark.parametrize("again", [True, False])
def test_a_lent_reservation_is_given_to_the_successor_or_given_up(again: bool) -> None:
    ledger = ledger_of(Machine.flat(2))
    plan = Reservations(ledger, choose)
    other, job, rest = make_job("w0!0", 1), make_job("w0!1", 2), make_job("w0!2", 2)
    plan.hold(other, Place(A("0")), 5.0)
    kept = plan.reserve(job.id, job, 4.0)
    assert plan.lend(job.id) is kept
    assert plan.lend(job.id) is None
    assert plan.timeline.at(5.0) == 0, "it is still kept"
    assert [found.id for found, _ in plan.overlapping(6.0, 7.0)] == ["w0!1"]
    if again:
        plan.put_back(job.id, rest.id, rest)
        assert plan.planned == {rest.id: Reservation(rest, 5.0, 9.0, Place(A("0-1")))}
        assert plan.timeline.at(5.0) == 0
    else:
        assert plan.give_back(job.id)
        assert plan.timeline.at(5.0) == 0b11


def chain(slack: float) -> tuple[Ledger, Reservations]:
    """Three jobs of 10 s that follow one another on the only host, of which the first begins 20 us late."""
    ledger = ledger_of(Machine.flat(1))
    plan = Reservations(ledger, choose, slack=slack)
    for name in "abc":
        plan.reserve(name, make_job(name), 10.0)
    ledger.now = 0.00002
    plan.timeline.advance(ledger.now)
    plan.withdraw("a")
    again = plan.reserve("a", make_job("a"), 10.0)
    assert again is not None
    return ledger, plan


def test_a_job_that_begins_late_pushes_those_behind_it_by_as_much() -> None:
    _, plan = chain(slack=0.01)
    assert plan.planned["a"].end == 10.0
    assert plan.planned["a"].expected_end == 10.00002
    assert plan.settle() == ["b", "c"]
    assert [(kept.start, kept.end, kept.cut) for kept in plan.planned.values()] == [
        (10.00002, 20.00002, 0.0),
        (20.00002, 30.00002, 0.0),
        (0.00002, 10.00002, 0.0),
    ]
    assert plan.settle() == []


def test_without_slack_a_job_that_begins_late_goes_behind_all_others() -> None:
    _, plan = chain(slack=0.0)
    assert plan.planned["a"].start == 30.0
    assert plan.settle() == []


def test_lateness_does_not_add_up_along_a_chain() -> None:
    ledger, plan = chain(slack=0.01)
    for number, name in enumerate("abc"):
        ledger.now = round(number * 10 + (number + 1) * 0.009, 6)
        plan.timeline.advance(ledger.now)
        plan.settle()
        plan.begin(name)
        assert plan.held[name].expected_end == round(ledger.now + 10, 6)
        plan.settle()
        ledger.now = plan.held[name].expected_end
        plan.timeline.advance(ledger.now)
        plan.end(name)
    assert ledger.now == 30.027


@pytest.mark.parametrize("planned", [False, True])
def test_what_is_planned_counts_at_once_on_a_job_that_begins_late(planned: bool) -> None:
    """Job a has its host now, but begins at 5 s: it ends at 15 s, whether somebody was planned at 10 s or not."""
    machine = Machine.flat(1)
    plan = Reservations(ledger_of(machine), choose)
    first, then, last = (Job(id=key, request=Request(units=1)) for key in "abc")
    plan.reserve("a", first, 10.0)
    if planned:
        plan.reserve("b", then, 3.0)
    plan.begin("a")
    plan.delay("a", 5.0)
    assert plan.held["a"].expected_end == 15.0
    assert {key: kept.start for key, kept in plan.planned.items()} == ({"b": 15.0} if planned else {})
    late = plan.earliest(last, 3.0)
    assert late is not None
    assert late.start == (18.0 if planned else 15.0)
