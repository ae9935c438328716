"""Slurm's backfilling: schedules worked out by hand, and a twin written from Slurm's text that has no timeline."""

import math
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.abilities.sites.slurm.backfill import SlurmBackfill
from batdispatch.abilities.sites.slurm.clocks import MainLoopClock, PassClock
from batdispatch.abilities.sites.slurm.options import SlurmOptions
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job, JobState
from batdispatch.core.jobs.request import Request
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.events import (
    JobSubmitted,
    MachinesAvailable,
    MachinesUnavailable,
    Notified,
    SimulationBegins,
)
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import parse_options
from batdispatch.core.machine.machine import Machine
from simulating import Task, audit, check_absences, exact, micro, simulate
from strategies import absences, machines, workloads

quick = settings(max_examples=25)
deep = settings(quick, max_examples=int(os.environ.get("BATDISPATCH_EXAMPLES", "400")))


#: Without what slurmctld's clocks add: every event is acted on at once, and times are as exact as they are said.
AT_ONCE = {"tick": "0", "batch_delay": "0", "resolution": "0", "end_window": "0"}


def starts(machine: Machine, tasks: list[Task], **options: object) -> dict[str, float]:
    result = simulate(machine, tasks, "slurm-backfill", options={**AT_ONCE, **options})
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


@pytest.mark.parametrize(
    ("arrays", "array_tasks", "reserves"),
    [
        # Tasks of one array: C, the second, has a reservation or none.
        ({"B": "7", "C": "7"}, "1", False),
        ({"B": "7", "C": "7"}, "2", True),
        ({"B": "7", "C": "7"}, "0", True),
        # Of two arrays, and a job of none.
        ({"B": "7", "C": "8"}, "1", True),
        ({"B": "7"}, "1", True),
        ({}, "1", True),
    ],
)
def test_how_many_tasks_of_an_array_have_reservations(arrays: dict[str, str], array_tasks: str, reserves: bool) -> None:
    """D holds C up where that has no reservation, as with `reservations=1` above."""
    tasks = [
        task._replace(extra={"array": {"id": arrays[task.id], "index": place}}) if task.id in arrays else task
        for place, task in enumerate(FOUR)
    ]
    expected = {"A": 0, "B": 10, "C": 15, "D": 20} if reserves else {"A": 0, "B": 10, "C": 23, "D": 3}
    assert starts(Machine.flat(4), tasks, interval="0", array_tasks=array_tasks) == expected


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


@pytest.mark.parametrize(
    ("licenses", "expected"),
    [
        # Nothing is kept for B, which waits for a licence; C takes the one that is left.
        ("false", {"A": 0, "B": 22, "C": 2}),
        ("true", {"A": 0, "B": 10, "C": 20}),
    ],
)
def test_licences_are_reserved_only_if_the_option_says_so(licenses: str, expected: dict[str, float]) -> None:
    machine = Machine.flat(3)
    licensed = [type(host)(id=host.id, name=host.name, properties={"licences": "matlab=2"}) for host in machine.hosts]
    tasks = [
        Task("A", 0, 1, 10, 10, extra={"licences": {"matlab": 1}}),
        Task("B", 1, 1, 10, 10, extra={"licences": {"matlab": 2}}),
        Task("C", 2, 1, 20, 20, extra={"licences": {"matlab": 1}}),
    ]
    assert starts(Machine(licensed), tasks, interval="0", licenses=licenses) == expected


def test_the_first_job_starts_no_later_than_reserved_though_runs_end_early() -> None:
    tasks = [Task("A", 0, 2, 10, 40), exact("B", 1, 4, 5), exact("C", 2, 2, 30)]
    # C ends at 32, before B's reservation at 40; A ends early at 10, but C still runs.
    assert starts(Machine.flat(4), tasks, interval="0") == {"A": 0, "B": 32, "C": 2}


def test_priorities_decide_who_reserves() -> None:
    tasks = [exact("A", 0, 4, 10), exact("small", 1, 1, 20), exact("large", 2, 4, 5)]
    assert starts(Machine.flat(4), tasks) == {"A": 0, "small": 10, "large": 30}
    assert starts(Machine.flat(4), tasks, ordering="multifactor[size=1000]") == {"A": 0, "large": 10, "small": 15}


def test_at_an_event_only_so_many_jobs_are_tried() -> None:
    """Slurm tries one job more than it says; the next pass is at 30, and is for E."""
    tasks = [exact("A", 0, 4, 10), exact("B", 0, 4, 10), *(exact(name, 21, 1, 5) for name in "CDE")]
    alike = {"A": 0, "B": 10, "C": 21, "D": 21}
    assert starts(Machine.flat(4), tasks, queue_depth="1") == alike | {"E": 26}
    assert starts(Machine.flat(4), tasks, queue_depth="2") == alike | {"E": 21}


def test_a_pass_that_started_jobs_is_followed_by_one_for_those_behind_its_depth() -> None:
    tasks = [exact("A", 0, 2, 100), exact("B", 1, 4, 5), exact("C", 2, 1, 40), exact("D", 2, 1, 10)]
    assert starts(Machine.flat(4), tasks, depth="2") == {"A": 0, "B": 100, "C": 31, "D": 61}


def test_there_is_no_pass_where_nothing_has_changed() -> None:
    tasks = [exact("A", 0, 4, 1000), exact("B", 1, 4, 5), exact("C", 2, 4, 5)]
    told = [Notified(200.0, "weather", {}), Notified(300.0, "weather", {})]
    result = simulate(Machine.flat(4), tasks, "slurm-backfill", options={**AT_ONCE, "depth": "1"}, events=told)
    # At 30 for B and C, and at 1020 when A has ended; not at 210 and 300.
    report = result.session.dispatcher.report()
    assert (report["backfill_passes"], report["backfilled"]) == (2, 0)


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
    result = simulate(Machine.flat(5), tasks, "slurm-backfill", options={**AT_ONCE, "interval": "0"}, events=events)
    assert result.starts() == {"A": 0, "C": 0, "B": 20, "D": 6.5}


def test_hosts_that_come_back_are_news() -> None:
    tasks = [exact("A", 0, 3, 100), exact("B", 2, 4, 5), exact("C", 2, 1, 10)]
    events = [MachinesUnavailable(1.0, Allocation(0b1000)), MachinesAvailable(50.0, Allocation(0b1000))]
    result = simulate(Machine.flat(4), tasks, "slurm-backfill", options=AT_ONCE, events=events)
    assert result.starts() == {"A": 0, "B": 100, "C": 61}


class LateCalls:
    """Stands in for a ledger whose calls come late, as they do where decisions take time."""

    def __init__(self) -> None:
        self.now = 0.0
        self.asked: list[float] = []

    def wake_at(self, time: float) -> None:
        assert time > self.now
        self.asked.append(time)


def test_a_late_call_of_the_main_loop_stands_for_the_tick_it_was_asked_for() -> None:
    ledger = LateCalls()
    clock = MainLoopClock(ledger, tick=1.0, delay=3.0, full=60.0)
    ledger.now = 10.3
    assert clock.due(ledger) == "no"
    ledger.now = 12.7
    assert clock.due(ledger) == "head"
    # The run counts as one at 11, so the next may be at 14.
    ledger.now = 12.9
    assert clock.due(ledger) == "no"
    assert ledger.asked == [11, 14]
    # Nothing waits any more: what comes later waits for a tick of its own.
    clock.forget()
    ledger.now = 30.2
    assert clock.due(ledger) == "no"
    assert ledger.asked == [11, 14, 31]
    ledger.now = 31.0
    assert clock.due(ledger) == "head"
    ledger.now = 31.5
    assert clock.due(ledger, whole=True) == "no"
    ledger.now = 61.9
    assert clock.due(ledger, whole=True) == "whole"


def test_a_late_call_of_a_pass_stands_for_the_moment_it_was_asked_for() -> None:
    ledger = LateCalls()
    clock = PassClock(interval=30.0, phase=0.0)
    assert clock.due(ledger)
    for asked, late in ((30, 47.0), (60, 60.5), (90, 119.0)):
        ledger.now = asked - 20.0
        assert not clock.due(ledger)
        assert ledger.asked[-1] == asked
        ledger.now = late
        assert clock.due(ledger)


@pytest.mark.parametrize("now", [10.0, 10.005])
def test_a_job_that_is_expected_to_end_just_now_is_expected_to_be_killed_in_half_a_minute(now: float) -> None:
    """A still holds its host, so B is planned for then, and C may use the other host until then."""
    ledger = Ledger(SimulationBegins(0.0, Machine.flat(2)))
    dispatcher = create("slurm-backfill", {**AT_ONCE, "interval": "0"})
    dispatcher.begin(ledger)
    ledger.on_start = lambda stay: dispatcher.on_start(ledger, stay)
    for time, name, units in ((0.0, "A", 1), (now, "B", 2), (now, "C", 1)):
        ledger.now = time
        job = Job(id=f"w0!{name}", request=Request(units=units), submission=time, walltime=10.0)
        dispatcher.on_submit(ledger, ledger.apply_submitted(JobSubmitted(time, job)))
        dispatcher.decide(ledger)
    assert list(ledger.running) == ["w0!A", "w0!C"]
    assert dispatcher.reserved == {"w0!B": 40.0}


ORDERINGS = ["basic", "sjf", "multifactor[age=1000,size=30,max_age=20]", "multifactor[fairshare=1000,half_life=9]"]


@st.composite
def options(draw: st.DrawFn) -> dict[str, str]:
    """Options as texts, small enough to matter."""
    return {
        "ordering": draw(st.sampled_from(ORDERINGS)),
        "placement": draw(st.sampled_from(["consecutive", "first-fit", "best-fit", "contiguous"])),
        "interval": draw(st.sampled_from(["0", "0.5", "3", "30"])),
        "reservations": draw(st.sampled_from(["0", "1", "2"])),
        "depth": draw(st.sampled_from(["1", "2", "3", "100"])),
        "queue_depth": draw(st.sampled_from(["1", "2", "100"])),
        "window": draw(st.sampled_from(["0", "2", "6", "86400"])),
        "resolution": draw(st.sampled_from(["0", "1", "7"])),
        "end_window": draw(st.sampled_from(["0", "4", "30"])),
        "window_linear": draw(st.sampled_from(["0", "5"])),
        "tick": draw(st.sampled_from(["0", "1"])),
        "batch_delay": draw(st.sampled_from(["0", "3"])),
    }


@quick
@given(data=st.data())
def test_random_runs_are_sound_whatever_the_options(data: st.DataObject) -> None:
    machine = data.draw(machines())
    tasks = data.draw(workloads(machine))
    events = data.draw(absences(machine)) if data.draw(st.booleans()) else []
    result = simulate(machine, tasks, "slurm-backfill", options=data.draw(options()), events=events)
    audit(machine, tasks, result)
    check_absences(events, result)


# ---------------------------------------------------------------------- what it promises


class Watched(SlurmBackfill):
    """Remembers what a pass first reserved for the head of the queue."""

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        self.promised: dict[str, float] = {}

    def _backfill(self, ledger: Ledger) -> None:
        # Who is second in a pass may become the head, and then wait for its turn: `queue_depth` jobs are looked at.
        head = self.waiting[0].id
        super()._backfill(ledger)
        assert len(self.reserved) <= (self.options.reservations or self.options.most_tried)
        # What begins at the end of the window or later is planned, and not kept free.
        if self.reserved.get(head, math.inf) < ledger.now + self.options.window:
            self.promised.setdefault(head, self.reserved[head])


@quick
@given(data=st.data())
def test_the_head_of_the_queue_starts_no_later_than_reserved(data: st.DataObject) -> None:
    machine = data.draw(machines())
    tasks = data.draw(workloads(machine))
    chosen = {**data.draw(options()), "ordering": "basic", "placement": "first-fit", "tick": "0"}
    dispatcher = Watched(parse_options(SlurmOptions, chosen, "it"))
    rows = simulate(machine, tasks, dispatcher).rows
    assert len(rows) == len(tasks)
    for name, start in dispatcher.promised.items():
        row = rows[name.removeprefix("w0!")]
        assert row.state is not JobState.REJECTED
        assert row.start <= micro(start)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        # B could start within a day from 2 on, which is bf_window if nothing is said. C would be in the way and waits.
        (86_000, {"A": 0, "B": 86_000, "C": 86_005}),
        # Later than a day from then: nothing is kept for B, and C starts.
        (86_500, {"A": 0, "B": 87_002, "C": 2}),
    ],
)
def test_the_window_is_a_day_unless_said(seconds: int, expected: dict[str, float]) -> None:
    tasks = [exact("A", 0, 3, seconds), exact("B", 1, 4, 5), exact("C", 2, 1, 87_000)]
    assert starts(Machine.flat(4), tasks, interval="0") == expected


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        # At 3, when D comes, B could start in 47 s. In a window of 47 it has the only reservation, and D goes before C.
        (47, {"A1": 0, "A2": 0, "B": 50, "C": 23, "D": 3}),
        # Beyond one of 46 or 11 nothing is kept for B, and C has the reservation.
        (46, {"A1": 0, "A2": 0, "B": 50, "C": 10, "D": 15}),
        (11, {"A1": 0, "A2": 0, "B": 50, "C": 10, "D": 15}),
    ],
)
def test_a_job_beyond_the_window_uses_up_no_reservation(window: int, expected: dict[str, float]) -> None:
    """A1 holds two hosts until 50, A2 one until 10. B could start at 50, beyond the window; C at 10, if D waits."""
    tasks = [
        exact("A1", 0, 2, 50),
        exact("A2", 0, 1, 10),
        exact("B", 1, 4, 5),
        exact("C", 2, 2, 5),
        exact("D", 3, 1, 20),
    ]
    assert starts(Machine.flat(4), tasks, interval="0", window=str(window), reservations="1") == expected
