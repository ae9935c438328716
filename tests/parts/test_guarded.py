"""guarded: what EASY beside knows, who is late, who may reserve, and that with easy nobody starves."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.core.line.events import JobSubmitted, SimulationBegins
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Machine
from batdispatch.parts.ordering.easy_beside import EasyBeside, Twin
from batdispatch.parts.ordering.guard import Guard, GuardOptions
from simulating import Task, simulate

HOSTS = 8
GUARDED = "easy[ordering=guarded[ordering=smallest-area,share=0.5,slack=1,floor=20]]"


@st.composite
def logs(draw: st.DrawFn) -> list[Task]:
    """Up to 25 jobs on 8 hosts, some of which end long before their walltimes; whole seconds, so that ties happen."""
    tasks = []
    for number in range(draw(st.integers(1, 25))):
        walltime = draw(st.integers(1, 40))
        runtime = draw(st.integers(1, walltime))
        units = draw(st.integers(1, HOSTS))
        tasks.append(Task(f"j{number:02}", float(draw(st.integers(0, 60))), units, float(runtime), float(walltime)))
    return tasks


class Lived:
    """EASY beside a schedule that is known: moments pass, and jobs come, start and end in it."""

    def __init__(self, tasks: list[Task], starts: dict[str, float], memory: float = math.inf) -> None:
        self.beside = EasyBeside([HOSTS], memory)
        self.twins: dict[str, Twin] = {}
        self._tasks = sorted(tasks, key=lambda task: task.submission)
        self._starts = starts
        ends = [starts[task.id] + task.runtime for task in tasks]
        self.moments = sorted({*ends, *starts.values(), *(task.submission for task in tasks)})

    def live(self, now: float) -> None:
        """Let a moment of the schedule pass."""
        for task in self._tasks:
            start = self._starts[task.id]
            if start + task.runtime == now:
                self.beside.end(self.twins[task.id], task.runtime)
        for task in self._tasks:
            if task.submission == now:
                self.twins[task.id] = Twin(task.id, now, [task.units], task.walltime)
                self.beside.submit(self.twins[task.id])
        self.beside.advance(now)
        for task in self._tasks:
            if self._starts[task.id] == now:
                self.beside.start(self.twins[task.id], now)
        self.beside.advance(now)


@given(
    logs(),
    st.sampled_from(["filler[ordering=sjf]", "filler[ordering=ljf]", "easy", "fcfs", GUARDED]),
    st.sampled_from([0.0, 5.0, 20.0, math.inf]),
)
def test_easy_beside_starts_each_job_when_easy_does_whatever_happens_in_reality(
    tasks: list[Task], real: str, memory: float
) -> None:
    easy = simulate(Machine.flat(HOSTS), tasks, "easy").starts()
    lived = Lived(tasks, simulate(Machine.flat(HOSTS), tasks, real).starts(), memory)
    ever = 0.0
    for now in lived.moments:
        lived.live(now)
        clock = lived.beside.clock
        # What waited until the clock, or within the memory before it.
        waits = [
            min(easy[task.id], clock) - task.submission
            for task in tasks
            if task.submission <= clock and min(easy[task.id], clock) >= clock - memory
        ]
        assert lived.beside.longest == max([0.0, *waits])
        ever = max([ever, *(min(easy[task.id], clock) - task.submission for task in tasks)])
        assert lived.beside.ever == ever
        assert clock <= now
    lived.beside.advance(math.inf)
    assert {name: twin.begun for name, twin in lived.twins.items()} == easy


def small(number: int, units: int, seconds: float) -> Task:
    return Task(f"s{number}", float(number), units, seconds, seconds)


@st.composite
def crowded(draw: st.DrawFn) -> list[Task]:
    """A job of the whole machine, in a stream of small ones that never leaves it idle."""
    submission, seconds = draw(st.sampled_from([0.5, 3.5, 10.5])), draw(st.floats(5.0, 40.0))
    stream = [small(n, draw(st.integers(1, 2)), draw(st.sampled_from([4.0, 7.0, 9.0]))) for n in range(60)]
    return [Task("wide", submission, 4, seconds, seconds), *stream]


def longest_wait(tasks: list[Task], dispatcher: str) -> float:
    starts = simulate(Machine.flat(4), tasks, dispatcher).starts()
    return max(starts[task.id] - task.submission for task in tasks)


@settings(max_examples=20)
@given(crowded())
def test_with_easy_a_late_job_waits_only_for_what_runs_and_for_late_ones_before_it(tasks: list[Task]) -> None:
    # It is late at the first event after its patience, at most 9 s later. Each job that goes before it, or runs, runs
    # for at most 9 s.
    wide = tasks[0]
    before = sum(task.submission < wide.submission for task in tasks)
    patience = max(20.0, 0.5 * longest_wait(tasks, "easy"))
    start = simulate(Machine.flat(4), tasks, GUARDED).starts()["wide"]
    assert start - wide.submission <= patience + 9.0 * (before + 2)


def test_nothing_is_reserved_for_a_job_that_is_neither_late_nor_started_by_easy() -> None:
    # The wide job came first. EASY in order of arrival cannot start it before 10 s, and keeps room free for it.
    tasks = [
        Task("runs", 0.0, 4, 10.0, 10.0),
        Task("wide", 1.0, 8, 5.0, 5.0),
        Task("long", 2.0, 4, 15.0, 15.0),
        Task("short", 12.0, 4, 1.0, 1.0),
    ]
    easy = simulate(Machine.flat(HOSTS), tasks, "easy").starts()
    guarded = simulate(Machine.flat(HOSTS), tasks, GUARDED).starts()
    assert easy["wide"] == 10.0
    assert easy["long"] == 15.0
    assert guarded["long"] == 2.0
    # At 10 s EASY starts the wide job, so that it reserves from then on; at 17 s it has room.
    assert guarded["wide"] == 17.0
    assert guarded["short"] == 12.0


def test_a_job_is_late_by_slack_once_it_has_waited_longer_than_under_easy() -> None:
    # EASY starts the wide job at 10 s, the longest wait until then is 9 s. With half of that as slack it is late at
    # the first event after 14.5 s, and goes before the short jobs that fit beside what runs.
    tasks = [
        Task("runs", 0.0, 4, 10.0, 10.0),
        Task("wide", 1.0, 6, 5.0, 5.0),
        Task("long", 2.0, 4, 20.0, 20.0),
        *(Task(f"s{number:02}", 10.0 + number, 1, 8.0, 8.0) for number in range(12)),
    ]
    waits = {}
    for slack in ("0.5", "10"):
        dispatcher = f"easy[ordering=guarded[ordering=smallest-area,share=9,slack={slack},floor=0]]"
        starts = simulate(Machine.flat(HOSTS), tasks, dispatcher).starts()
        waits[slack] = starts["wide"]
    assert waits["0.5"] < waits["10"]


Look = tuple[float, float, float | None, float, float, bool]


def looks(tasks: list[Task], dispatcher: str) -> list[Look]:
    """Return each question who is late: when, submission, start under EASY, longest waits there, s, and the answer.

    The longest waits are that which is remembered, and that since the beginning.
    """
    seen: list[Look] = []
    answer = Guard.is_late

    def is_late(guard: Guard, job: Job, now: float) -> bool:
        late = answer(guard, job, now)
        seen.append((now, job.submission, guard._twins[job.id].begun, guard._beside.longest, guard._beside.ever, late))
        return late

    with patch.object(Guard, "is_late", is_late):
        simulate(Machine.flat(HOSTS), tasks, dispatcher)
    return seen


@given(logs(), st.sampled_from([0.0, 0.25, 1.0]), st.sampled_from([4.0, 1e9]))
def test_who_is_late_is_what_the_definition_says(tasks: list[Task], slack: float, memory: float) -> None:
    """The definition, evaluated anew for each waiting job at each decision."""
    options = f"ordering=sjf,share=0.5,slack={slack},floor=3,memory={memory}"
    for now, submission, begun, longest, ever, late in looks(tasks, f"easy[ordering=guarded[{options}]]"):
        wait, floor = now - submission, min(3.0, ever)
        by_share = wait > max(floor, 0.5 * longest)
        by_slack = begun is not None and wait > floor and wait > begun - submission + slack * longest
        assert late == (by_share or by_slack)


def test_no_job_is_late_before_the_floor_or_the_longest_wait_under_easy_and_that_is_the_threshold_told() -> None:
    guard = begun()
    # EASY beside has seen no wait yet: a job that waits at all has waited too long.
    first, second = came(guard, "a", 0.0, HOSTS, 90.0), came(guard, "b", 0.0, HOSTS, 90.0)
    assert guard.patience(second) == 0.0
    assert guard.is_late(second, 0.5)
    # EASY starts the first one at once and, once it runs, has the second one wait: up to the floor of 20 s, that is the
    # threshold, and from 40 s on its share of one half.
    guard._beside.start(guard._twins[first.id], 0.0)
    for now, threshold in ((5.0, 5.0), (30.0, 20.0), (50.0, 25.0)):
        guard.ledger.now = now
        assert guard.is_late(second, now) == (now > threshold)
        assert guard.patience(second) == threshold


@settings(max_examples=20)
@given(crowded(), st.floats(10.0, 1000.0))
def test_an_outage_before_all_jobs_is_forgotten(tasks: list[Task], outage: float) -> None:
    """A job that waits through an outage: from `memory` after it on, the others are served as if it had not been."""
    later = [Task(task.id, outage + 31.0 + task.submission, task.units, task.runtime, task.walltime) for task in tasks]
    away = [Task("outage", 0.0, 4, outage, outage), Task("victim", 0.5, 1, 1.0, 1.0)]
    guarded = "easy[ordering=guarded[ordering=smallest-area,floor=0,memory=30]]"
    with_outage = simulate(Machine.flat(4), [*away, *later], guarded).starts()
    without = simulate(Machine.flat(4), later, guarded).starts()
    assert {name: start for name, start in with_outage.items() if name not in ("outage", "victim")} == without


def came(guard: Guard, name: str, now: float, units: int, walltime: float) -> Job:
    guard.ledger.now = now
    job = Job(id=f"w0!{name}", request=Request(units=units), submission=now, walltime=walltime)
    guard.ledger.apply_submitted(JobSubmitted(now, job))
    guard.came(job, now)
    return job


def begun() -> Guard:
    guard = Guard(GuardOptions(floor=20.0, share=0.5, slack=1.0))
    guard.begin(Ledger(SimulationBegins(0.0, Machine.flat(HOSTS))))
    return guard


def test_room_is_reserved_for_a_job_that_easy_has_started_already() -> None:
    guard = begun()
    guard._beside.ever = 20.0
    small, large = came(guard, "small", 0.0, 1, 5.0), came(guard, "large", 0.0, HOSTS, 5.0)
    # EASY starts the small one at 0 and the large one not before that has ended.
    assert guard.reserving([small, large], 1.0) == [small]


def test_easy_beside_has_jobs_run_for_as_long_as_they_really_did() -> None:
    guard = begun()
    first = came(guard, "first", 0.0, HOSTS, 100.0)
    second = came(guard, "second", 5.0, HOSTS, 100.0)
    stay: Any = SimpleNamespace(job=first, start=0.0)
    guard.ended(stay, 10.0)
    guard.ledger.now = 30.0
    # EASY has let the second one wait from 5 to 10 s, not for the first one's walltime. Here it is late after 20 s.
    assert guard.is_late(second, 30.0)
    assert guard._beside.longest == 5.0


def test_easy_beside_leaves_spare_what_all_jobs_give_back_that_end_at_the_shadow_time() -> None:
    # Of 5 hosts, a and b hold 2 each until 100, when c, which needs 3, may start: 2 stay spare then, and 1 is free now.
    beside = EasyBeside([5])
    twins = {
        name: Twin(name, came, [needs], walltime)
        for name, came, needs, walltime in (
            ("a", 0.0, 2, 100.0),
            ("b", 0.0, 2, 100.0),
            ("c", 1.0, 3, 50.0),
            ("d", 2.0, 1, 900.0),
        )
    }
    for twin in twins.values():
        beside.submit(twin)
    beside.advance(0.0)
    for name in "ab":
        beside.start(twins[name], 0.0)
    beside.advance(2.0)
    assert [twins[name].begun for name in "abcd"] == [0.0, 0.0, None, 2.0]
    assert beside.overdue.keys() == {"d"}
