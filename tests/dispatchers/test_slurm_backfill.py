"""Slurm's backfilling: schedules worked out by hand, and a twin written from Slurm's text that has no timeline."""

import math
import os
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from batdispatch.core.hosts.allocation import Allocation, Place
from batdispatch.core.jobs.job import Job, JobState, Stay
from batdispatch.core.jobs.request import Request
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.events import (
    Event,
    JobSubmitted,
    MachinesAvailable,
    MachinesUnavailable,
    Notified,
    SimulationBegins,
)
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import parse_options
from batdispatch.core.machine.machine import Machine
from batdispatch.dispatchers.backfilling.queue import QueueDispatcher
from batdispatch.dispatchers.backfilling.slurm import SlurmBackfill, SlurmOptions
from simulating import Task, audit, check_absences, micro, simulate
from strategies import absences, machines, workloads

quick = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
deep = settings(quick, max_examples=int(os.environ.get("BATDISPATCH_EXAMPLES", "400")))


def exact(name: str, submission: float, units: int, runtime: float, demand: dict[str, int] | None = None) -> Task:
    """A task that asks for exactly the time it takes."""
    return Task(name, submission, units, runtime, runtime, demand)


def starts(machine: Machine, tasks: list[Task], **options: object) -> dict[str, float]:
    result = simulate(machine, tasks, "slurm-backfill", options=options)
    audit(machine, tasks, result)
    return result.starts()


# ---------------------------------------------------------------------- by hand


def test_soner_ozturan_2012_backfill_starts_two_of_the_three_jobs() -> None:
    """1,024 idle nodes of 8 cores and 2 GPUs: J1 takes 512 nodes wholly, J2 the others, and J3 finds no GPUs."""
    gpus = {"nodes": 512, "per_node": {"gpu": 2}}
    tasks = [
        Task("J1", 0, 4096, 100, 100, {"core": 1}),
        Task("J2", 0, 2048, 100, 100, {"core": 1}, extra=gpus),
        Task("J3", 0, 2048, 100, 100, {"core": 1}, extra=gpus),
    ]
    result = simulate(Machine.flat(1024, "core=8 gpu=2"), tasks, "slurm-backfill")
    assert result.starts() == {"J1": 0, "J2": 0, "J3": 100}
    assert result.rows["J1"].hosts == "0-511"
    assert result.rows["J2"].hosts == "512-1023"


@pytest.mark.parametrize(("interval", "expected"), [("30", 31.0), ("0", 2.0), ("7.5", 8.5)])
def test_between_passes_nothing_overtakes_the_first_job_that_does_not_fit(interval: str, expected: float) -> None:
    """The pass for B is at 1. C fits beside A at 2 and has ended before B can start, but waits for the next pass."""
    tasks = [exact("A", 0, 3, 100), exact("B", 1, 4, 5), exact("C", 2, 1, 10)]
    assert starts(Machine.flat(4), tasks, interval=interval) == {"A": 0, "B": 100, "C": expected}


def test_jobs_that_fit_in_order_start_at_once_whenever_they_come() -> None:
    tasks = [exact("A", 0, 3, 100), exact("B", 1, 2, 5), exact("C", 100.5, 1, 10), exact("D", 100.75, 1, 1)]
    assert starts(Machine.flat(4), tasks) == {"A": 0, "B": 100, "C": 100.5, "D": 100.75}


#: Four hosts. A holds two until 10; B wants three then; C wants all when B is done; D is narrow and long.
FOUR = [exact("A", 0, 2, 10), exact("B", 1, 3, 5), exact("C", 2, 4, 5), exact("D", 3, 1, 20)]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        # C has a reservation at 15, which D must not touch, as with conservative backfilling.
        ({}, {"A": 0, "B": 10, "C": 15, "D": 20}),
        ({"reservations": "2"}, {"A": 0, "B": 10, "C": 15, "D": 20}),
        # Only B has one, on hosts 0 to 2: D runs on host 3 and holds C up.
        ({"reservations": "1"}, {"A": 0, "B": 10, "C": 23, "D": 3}),
        # C could start 13 s from then at the soonest.
        ({"window": "13"}, {"A": 0, "B": 10, "C": 15, "D": 20}),
        ({"window": "11"}, {"A": 0, "B": 10, "C": 23, "D": 3}),
        # D is never tried while B and C wait.
        ({"depth": "2", "reservations": "1"}, {"A": 0, "B": 10, "C": 15, "D": 20}),
    ],
)
def test_how_many_jobs_have_reservations(options: dict[str, str], expected: dict[str, float]) -> None:
    assert starts(Machine.flat(4), FOUR, interval="0", **options) == expected


def test_reservations_are_of_whole_nodes() -> None:
    """B will use a single core of node 1 from 10 on. C could run beside it, but may not before B has begun."""
    machine = Machine.flat(2, "core=4")
    tasks = [exact("A", 0, 4, 10, {"core": 1}), exact("B", 1, 5, 5, {"core": 1}), exact("C", 2, 1, 20, {"core": 1})]
    assert starts(machine, tasks, interval="0") == {"A": 0, "B": 10, "C": 10}
    assert simulate(machine, tasks, "easy").starts() == {"A": 0, "B": 10, "C": 2}


def test_a_reservation_a_moment_away_is_kept() -> None:
    """C has hosts 0 to 2 from 10 to 10.5. At 9.8 hosts 0 and 1 are free, but D would hold them for 20 s."""
    tasks = [exact("A", 0, 2, 1), exact("B", 0, 2, 10), exact("C", 2, 3, 0.5), exact("D", 9.8, 2, 20)]
    assert starts(Machine.flat(4), tasks, interval="0") == {"A": 0, "B": 0, "C": 10, "D": 10.5}


def test_a_reservation_keeps_licences_too() -> None:
    machine = Machine.flat(3)
    licensed = [type(host)(id=host.id, name=host.name, properties={"licences": "matlab=2"}) for host in machine.hosts]
    tasks = [
        Task("A", 0, 1, 10, 10, extra={"licences": {"matlab": 1}}),
        Task("B", 1, 1, 10, 10, extra={"licences": {"matlab": 2}}),
        Task("C", 2, 1, 20, 20, extra={"licences": {"matlab": 1}}),
    ]
    assert starts(Machine(licensed), tasks, interval="0") == {"A": 0, "B": 10, "C": 20}


def test_the_first_job_starts_no_later_than_reserved_though_runs_end_early() -> None:
    tasks = [Task("A", 0, 2, 10, 40), exact("B", 1, 4, 5), exact("C", 2, 2, 30)]
    # C ends at 32, before B's reservation at 40; A ends early at 10, but C still runs.
    assert starts(Machine.flat(4), tasks, interval="0") == {"A": 0, "B": 32, "C": 2}


def test_priorities_decide_who_reserves() -> None:
    tasks = [exact("A", 0, 4, 10), exact("small", 1, 1, 20), exact("large", 2, 4, 5)]
    assert starts(Machine.flat(4), tasks) == {"A": 0, "small": 10, "large": 30}
    assert starts(Machine.flat(4), tasks, ordering="multifactor[size=1000]") == {"A": 0, "large": 10, "small": 15}


def test_at_an_event_only_so_many_jobs_are_tried() -> None:
    """The pass at 0 is for B; the next one may be at 30, and is for D."""
    tasks = [exact("A", 0, 4, 10), exact("B", 0, 4, 10), exact("C", 21, 1, 20), exact("D", 21, 1, 5)]
    assert starts(Machine.flat(4), tasks, queue_depth="1") == {"A": 0, "B": 10, "C": 21, "D": 30}
    assert starts(Machine.flat(4), tasks, queue_depth="2") == {"A": 0, "B": 10, "C": 21, "D": 21}


def test_a_pass_that_started_jobs_is_followed_by_one_for_those_behind_its_depth() -> None:
    tasks = [exact("A", 0, 2, 100), exact("B", 1, 4, 5), exact("C", 2, 1, 40), exact("D", 2, 1, 10)]
    assert starts(Machine.flat(4), tasks, depth="2") == {"A": 0, "B": 100, "C": 31, "D": 61}


def test_there_is_no_pass_where_nothing_has_changed() -> None:
    tasks = [exact("A", 0, 4, 1000), exact("B", 1, 4, 5), exact("C", 2, 4, 5)]
    told = [Notified(200.0, "weather", {}), Notified(300.0, "weather", {})]
    result = simulate(Machine.flat(4), tasks, "slurm-backfill", options={"depth": "1"}, events=told)
    # At 1 for B, at 31 for C, and at 1000 when A has ended; not at 200 and 300.
    report = result.session.dispatcher.report()
    assert (report["backfill_passes"], report["backfilled"]) == (3, 0)


def test_jobs_of_one_pass_may_share_a_node() -> None:
    tasks = [
        exact("A", 0, 4, 10, {"core": 1}),
        exact("B", 1, 8, 5, {"core": 1}),
        *(exact(name, 2, 2, 3, {"core": 1}) for name in "CD"),
    ]
    assert starts(Machine.flat(1, "core=8"), tasks, interval="0") == {"A": 0, "B": 10, "C": 2, "D": 2}


def test_hosts_that_are_away_are_not_reserved_when_what_runs_there_ends() -> None:
    """At 10 only hosts 0 and 1 would be free beside host 4: B waits for 2 and 3, and D has host 4 until then."""
    tasks = [exact("A", 0, 2, 10), exact("C", 0, 2, 20), exact("B", 6, 3, 5), exact("D", 6.5, 1, 12)]
    events = [MachinesUnavailable(5.0, Allocation(0b11)), MachinesAvailable(50.0, Allocation(0b11))]
    result = simulate(Machine.flat(5), tasks, "slurm-backfill", options={"interval": "0"}, events=events)
    assert result.starts() == {"A": 0, "C": 0, "B": 20, "D": 6.5}


def test_hosts_that_come_back_are_news() -> None:
    tasks = [exact("A", 0, 3, 100), exact("B", 2, 4, 5), exact("C", 2, 1, 10)]
    events = [MachinesUnavailable(1.0, Allocation(0b1000)), MachinesAvailable(50.0, Allocation(0b1000))]
    result = simulate(Machine.flat(4), tasks, "slurm-backfill", events=events)
    assert result.starts() == {"A": 0, "B": 100, "C": 50}


@pytest.mark.parametrize("now", [10.0, 10.005])
def test_a_job_that_is_expected_to_end_just_now_still_holds_its_hosts(now: float) -> None:
    ledger = Ledger(SimulationBegins(0.0, Machine.flat(2)))
    dispatcher = create("slurm-backfill", {"interval": "0"})
    dispatcher.begin(ledger)
    ledger.on_start = lambda stay: dispatcher.on_start(ledger, stay)
    for time, name, units in ((0.0, "A", 1), (now, "B", 2), (now, "C", 1)):
        ledger.now = time
        job = Job(id=f"w0!{name}", request=Request(units=units), submission=time, walltime=10.0)
        dispatcher.on_submit(ledger, ledger.apply_submitted(JobSubmitted(time, job)))
        dispatcher.decide(ledger)
    assert list(ledger.running) == ["w0!A"]
    assert dispatcher.reserved == {"w0!B": now, "w0!C": round(now + 10, 6)}


# ---------------------------------------------------------------------- a twin from the text


class NaiveSlurm(QueueDispatcher):
    """Looks at each moment at which something ends, and asks what is free from then on, node by node."""

    options_type = SlurmOptions

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        self.last, self.asked, self.changed = -math.inf, False, False

    def on_submit(self, ledger: Ledger, job: Job) -> None:
        super().on_submit(ledger, job)
        self.changed = True

    def on_end(self, ledger: Ledger, stay: Stay) -> None:
        super().on_end(ledger, stay)
        self.changed = True

    def on_event(self, ledger: Ledger, event: Event) -> None:
        if isinstance(event, MachinesAvailable | MachinesUnavailable):
            self.changed = True

    def by_priority(self, ledger: Ledger) -> list[Job]:
        return sorted(
            ledger.queue.values(), key=lambda job: (self.ordering.key(job, ledger.now, job.walltime), ledger.rank(job))
        )

    def decide(self, ledger: Ledger) -> None:
        options, now = self.options, ledger.now
        for job in self.by_priority(ledger)[: options.queue_depth]:
            place = self.choose(ledger.free, job)
            if place is None:
                break
            ledger.start(job, place)
        if not (ledger.queue and self.changed):
            return
        if now < self.last + options.interval - 0.01:
            if not self.asked:
                ledger.wake_at(self.last + options.interval)
            self.asked = True
            return
        waiting = len(ledger.queue)
        self.last, self.asked = now, False
        started = self.backfill(ledger)
        self.changed = started > 0 and waiting > options.depth
        if self.changed and options.interval:
            self.asked = True
            ledger.wake_at(now + options.interval)

    def backfill(self, ledger: Ledger) -> int:
        options, space, now = self.options, ledger.space, ledger.now
        at_first = ledger.free
        running = [(max(end_of(stay), now), stay.job, stay.allocation) for stay in ledger.running.values()]
        begun: list[tuple[float, Job, Any]] = []
        blocked: list[tuple[float, float, int]] = []

        def free_at(time: float) -> Any:
            free = at_first
            for end, job, allocation in running:
                if end <= time:
                    free = space.give(free, job, allocation)
            if ledger.unavailable:
                free = space.only(free, ~ledger.unavailable)
            for end, job, allocation in begun:
                if time < end:
                    free = space.take(free, job, allocation)
            for start, end, mask in blocked:
                if start <= time < end:
                    free = space.only(free, ~mask)
            return free

        def place_at(time: float, job: Job) -> Place | None:
            end = round(time + job.walltime, 6)
            moments = [m for r in (running, begun) for m, *_ in r] + [m for s, e, _ in blocked for m in (s, e)]
            free = free_at(time)
            for moment in moments:
                if time < moment < end:
                    free = space.meet(free, free_at(moment))
            return self.choose(free, job)

        for job in self.by_priority(ledger)[: options.depth]:
            may_reserve = not options.reservations or len(blocked) < options.reservations
            latest = now + options.window if may_reserve else now
            times = {now, *(end for end, *_ in running), *(end for end, *_ in begun), *(end for _, end, _ in blocked)}
            for time in sorted(time for time in times if now <= time <= latest and time < math.inf):
                place = place_at(time, job)
                if place is None:
                    continue
                end = round(time + job.walltime, 6)
                if time == now and space.lacking(ledger.free, job, place.allocation) is None:
                    begun.append((end, job, place.allocation))
                    ledger.start(job, place)
                elif may_reserve:
                    blocked.append((time, end, place.allocation.mask))
                break
        return len(begun)


def end_of(stay: Stay) -> float:
    return round(stay.start + stay.job.walltime, 6)


ORDERINGS = ["basic", "sjf", "multifactor[age=1000,size=30,max_age=20]", "multifactor[fairshare=1000,half_life=9]"]


@st.composite
def options(draw: st.DrawFn) -> dict[str, str]:
    """Options as texts, small enough to matter."""
    return {
        "ordering": draw(st.sampled_from(ORDERINGS)),
        "placement": draw(st.sampled_from(["first-fit", "best-fit", "contiguous"])),
        "interval": draw(st.sampled_from(["0", "0.5", "3", "30"])),
        "reservations": draw(st.sampled_from(["0", "1", "2"])),
        "depth": draw(st.sampled_from(["1", "2", "3", "100"])),
        "queue_depth": draw(st.sampled_from(["1", "2", "100"])),
        "window": draw(st.sampled_from(["0", "2", "6", "86400"])),
    }


def check_twin(data: st.DataObject) -> None:
    machine = data.draw(machines())
    tasks = data.draw(workloads(machine))
    chosen = data.draw(options())
    events = data.draw(absences(machine)) if data.draw(st.booleans()) else []
    ours, twin = (cls(parse_options(SlurmOptions, chosen, "it")) for cls in (SlurmBackfill, NaiveSlurm))
    result = simulate(machine, tasks, ours, events=events)
    audit(machine, tasks, result)
    check_absences(events, result)
    assert result.files == simulate(machine, tasks, twin, events=events).files


@quick
@given(data=st.data())
def test_same_schedule_as_when_every_moment_is_looked_at(data: st.DataObject) -> None:
    check_twin(data)


@pytest.mark.slow
@deep
@given(data=st.data())
def test_same_schedule_as_when_every_moment_is_looked_at_many_times(data: st.DataObject) -> None:
    check_twin(data)


# ---------------------------------------------------------------------- what it promises


class Watched(SlurmBackfill):
    """Remembers what a pass first reserved for the head of the queue."""

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        self.promised: dict[str, float] = {}

    def _backfill(self, ledger: Ledger) -> list[Job]:
        # Who is second in a pass may become the head, and then wait for its turn: `queue_depth` jobs are looked at.
        head = self.waiting[0].id
        started = super()._backfill(ledger)
        assert len(self.reserved) <= (self.options.reservations or self.options.depth)
        if head in self.reserved:
            self.promised.setdefault(head, self.reserved[head])
        return started


@quick
@given(data=st.data())
def test_the_head_of_the_queue_starts_no_later_than_reserved(data: st.DataObject) -> None:
    machine = data.draw(machines())
    tasks = data.draw(workloads(machine))
    chosen = {**data.draw(options()), "ordering": "basic", "placement": "first-fit"}
    dispatcher = Watched(parse_options(SlurmOptions, chosen, "it"))
    rows = simulate(machine, tasks, dispatcher).rows
    assert len(rows) == len(tasks)
    for name, start in dispatcher.promised.items():
        row = rows[name.removeprefix("w0!")]
        assert row.state is not JobState.REJECTED
        assert row.start <= micro(start)
