"""List schedules against naive twins that go through time second by second."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import naive
from batdispatch.core.capacity.filling import first_fit
from batdispatch.core.capacity.granularity import space_of
from batdispatch.core.capacity.space import Space
from batdispatch.core.capacity.totals import SOMEWHERE, ResourceTotals
from batdispatch.core.hosts.allocation import Allocation, Place
from batdispatch.core.jobs.job import Job
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.core.plans.list_schedule import End, ListEntry, forward, serial
from batdispatch.core.plans.reservations import Reservation
from batdispatch.core.plans.steps import Values
from batdispatch.core.plans.timeline import Timeline
from strategies import make_job

NODES = ["core=4 gpu=1", "core=3 gpu=0", "core=4 gpu=2"]
ASKS: list[dict[str, Any]] = [
    {"demand": {"core": 1}},
    {"demand": {"core": 2}},
    {"demand": {"core": 1, "gpu": 1}},
    {"demand": {"core": 3}},
    {},
    {"demand": {"core": 1}, "per_node": {"gpu": 1}},
    {"demand": {"core": 1}, "nodes": 2},
    {"demand": {"core": 1}, "contiguous": True},
    {"demand": {"core": 2}, "exclude_nodes": ["n0"]},
]


class Case:
    """Jobs in a list, and running ones, on a small machine. Times are whole seconds."""

    def __init__(self, draw: st.DrawFn) -> None:
        count = draw(st.integers(1, 3))
        exclusive = draw(st.booleans())
        hosts = [Host(id=n, name=f"n{n}", properties={} if exclusive else {"capacity": NODES[n]}) for n in range(count)]
        self.machine = Machine(hosts)
        self.space: Space[Any] = space_of(self.machine)
        asks: list[dict[str, Any]] = [{}, {"contiguous": True}] if exclusive else ASKS
        self.jobs: list[tuple[Job, int]] = []
        for number in range(draw(st.integers(1, 7))):
            fields = draw(st.sampled_from(asks))
            job = make_job(f"w!{number}", draw(st.integers(fields.get("nodes", 1), 3)), **fields)
            if naive.fits(self.machine, job.extra, job.units, naive.offered(self.machine)):
                self.jobs.append((job, draw(st.integers(1, 6))))
        free = self.space.whole()
        ends: list[End] = []
        for number in range(draw(st.integers(0, 4))):
            fields = draw(st.sampled_from(asks))
            job = make_job(f"w!r{number}", draw(st.integers(fields.get("nodes", 1), 2)), **fields)
            place = first_fit(self.space, free, job)
            if place is not None:
                free = self.space.take(free, job, place)
                ends.append((draw(st.integers(1, 6)), job, place))
        self.free, self.ends = free, sorted(ends, key=lambda end: end[0])
        self.horizon = sum(d for _, d in self.jobs) + sum(int(end[0]) for end in ends) + 1

    def listed(self) -> list[ListEntry]:
        return [ListEntry(job, duration, 1.0) for job, duration in self.jobs]

    def choose(self, free: Any, job: Job, start: float, end: float, planned: Sequence[Reservation]) -> Place | None:
        allocation = first_fit(self.space, free, job)
        return None if allocation is None else Place(allocation)

    def timelines(self) -> list[Timeline[Any]]:
        """Return the timeline, with its steps kept in both ways where both are possible."""
        made = [Timeline.rising(self.space, 0, self.free, self.ends)]
        if isinstance(self.free, np.ndarray):
            made.append(Timeline.rising(self.space, 0, self.free, self.ends))
            made[1]._steps = Values(self.space, made[1].frees)
        return made

    def held_at(self, moment: float, kept: Sequence[Reservation]) -> list[tuple[dict[str, Any], dict[int, int]]]:
        running = [(job.extra, allocation) for end, job, allocation in self.ends if moment < end]
        planned = [(one.job.extra, one.place.allocation) for one in kept if one.start <= moment < one.end]
        return [(fields, dict(allocation.per_host())) for fields, allocation in running + planned]

    def fits(self, job: Job, start: int, duration: int, kept: Sequence[Reservation]) -> bool:
        """Whether a job finds a place that is free all along, by trying all of them."""
        least = naive.left(self.machine, self.held_at(start, kept))
        for moment in range(start + 1, start + duration):
            left = naive.left(self.machine, self.held_at(moment, kept))
            least = [
                {name: min(amount, other.get(name, 0)) for name, amount in host.items()}
                for host, other in zip(least, left, strict=True)
            ]
        return naive.fits(self.machine, job.extra, job.units, least)

    def check(self, kept: Sequence[Reservation]) -> None:
        for one in kept:
            assert naive.allowed(self.machine, one.job.extra, dict(one.place.allocation.per_host()), one.job.units)
            left = naive.left(self.machine, self.held_at(one.start, kept))
            assert all(amount >= 0 for host in left for amount in host.values())


@st.composite
def cases(draw: st.DrawFn) -> Case:
    return Case(draw)


@given(case=cases())
def test_forward_is_the_naive_non_delay_schedule(case: Case) -> None:
    found = forward(case.space, case.free, case.ends, case.listed(), case.choose, 0)
    kept = [one for one in found if one is not None]
    assert len(kept) == len(case.jobs)
    case.check(kept)
    # At every second, in order of the list: who starts is the first that fits, who does not start does not fit.
    done: list[Reservation] = []
    for moment in range(case.horizon):
        for (job, duration), one in zip(case.jobs, found, strict=True):
            assert one is not None
            if one.start == moment:
                assert one.end == moment + duration
                done.append(one)
            elif one.start > moment:
                # What is running only comes back, so what fits now fits all along.
                assert not case.fits(job, moment, 1, done), f"{job} waits at {moment} although it fits"


@given(case=cases())
def test_serial_is_the_naive_active_schedule(case: Case) -> None:
    results = [serial(timeline, case.listed(), case.choose) for timeline in case.timelines()]
    for found in results:
        assert found is not None
        done: list[Reservation] = []
        for (job, duration), one in zip(case.jobs, found, strict=True):
            assert one is not None
            earliest = next(t for t in range(case.horizon) if case.fits(job, t, duration, done))
            assert (one.start, one.end) == (earliest, earliest + duration)
            done.append(one)
        case.check(done)
    assert all(found == results[0] for found in results), "both ways to keep steps make the same plan"


@given(case=cases(), limit=st.integers(1, 40))
def test_serial_stops_at_the_limit_and_changes_nothing_it_is_given(case: Case, limit: int) -> None:
    for timeline in case.timelines():
        times, frees = list(timeline.times), [np.copy(free) for free in timeline.frees]
        found = serial(timeline, case.listed(), case.choose)
        stopped = serial(timeline, case.listed(), case.choose, limit)
        assert found is not None
        cost = sum(one.start for one in found if one is not None)
        assert (stopped is None) == (cost >= limit)
        assert list(timeline.times) == times
        assert all(np.array_equal(a, b) for a, b in zip(timeline.frees, frees, strict=True))


@given(case=cases(), after=st.integers(1, 9))
def test_nothing_starts_before_it_may(case: Case, after: int) -> None:
    listed = [one._replace(after=after if index % 2 else -1.0) for index, one in enumerate(case.listed())]
    plans = [forward(case.space, case.free, case.ends, listed, case.choose, 0)]
    plans += [serial(timeline, listed, case.choose) or [] for timeline in case.timelines()]
    for plan in plans:
        kept = [one for one in plan if one is not None]
        assert len(kept) == len(listed)
        case.check(kept)
        assert all(one.start >= after for one in kept[1::2])


@given(case=cases())
def test_pooled_plans_start_no_later_in_serial_and_stay_within_the_sums(case: Case) -> None:
    pool = ResourceTotals(case.space)
    free = case.space.pooled(case.free)
    anywhere = lambda free, job, start, end, planned: SOMEWHERE  # noqa: E731
    blocks = Timeline.rising(pool, 0, free, case.ends)
    values = blocks.copy()
    values._steps = Values(pool, values.frees)
    for timeline in (blocks, values):
        found = serial(timeline, case.listed(), anywhere)
        assert found is not None
        kept = [one for one in found if one is not None]
        for moment in {one.start for one in kept}:
            used = sum(pool.pooled_need(one.job) for one in kept if one.start <= moment < one.end)
            running = sum(
                (pool.pooled_use(job, allocation) for end, job, allocation in case.ends if moment < end),
                np.zeros_like(free),
            )
            assert (used + running <= pool.whole()).all()
        # The first of a list starts on nodes no sooner than where all nodes are one.
        on_nodes = serial(case.timelines()[0], case.listed()[:1], case.choose)
        if kept and on_nodes and on_nodes[0] is not None:
            assert kept[0].start <= on_nodes[0].start


def test_a_job_that_finds_no_place_is_left_out_and_the_others_are_planned() -> None:
    machine = Machine([Host(id=0, name="n0", properties={"capacity": "core=2"})])
    space = space_of(machine)
    jobs = [make_job("w!0", 1, {"core": 2}), make_job("w!1", 1, {"core": 1})]
    listed = [ListEntry(job, 5.0) for job in jobs]

    def choose(free: Any, job: Job, start: float, end: float, planned: Sequence[Reservation]) -> Place | None:
        return None if job is jobs[0] else Place(Allocation(1))

    for found in (
        forward(space, space.whole(), [], listed, choose),
        serial(Timeline(space, 0.0, space.whole()), listed, choose),
    ):
        assert found is not None
        assert found[0] is None
        assert found[1] is not None
        assert found[1].start == 0
