"""What each backfilling algorithm promises, checked at every decision of random runs."""

import math
import os
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from batdispatch.core.jobs.job import Job, JobState
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import parse_options
from batdispatch.core.machine.machine import Machine
from batdispatch.dispatchers.backfilling.conservative import Conservative
from batdispatch.dispatchers.backfilling.easy import Easy
from batdispatch.dispatchers.backfilling.fcfs import Fcfs
from batdispatch.dispatchers.backfilling.filler import Filler
from batdispatch.dispatchers.backfilling.queue import QueueDispatcher
from batdispatch.parts.placement import make_placement
from simulating import Result, Task, audit, micro, simulate
from strategies import machines, workloads

deep = settings(max_examples=int(os.environ.get("BATDISPATCH_EXAMPLES", "400")))
PLACEMENTS = ["first-fit", "best-fit", "contiguous"]
STATIC = ["fcfs", "sjf", "largest-first", "smallest-area"]
ALL = [*STATIC, "slowdown", "wfp3"]


class Naive(QueueDispatcher):
    """Decides from the ledger alone, from scratch each time: slow and obvious. The default walltime is infinite.

    It is kept apart from `queue_twin` and from the textbook on purpose: these know neither shared nodes nor placements.
    """

    def decide(self, ledger: Ledger) -> None:
        jobs = sorted(
            ledger.queue.values(), key=lambda job: (self.ordering.key(job, ledger.now, job.walltime), ledger.rank(job))
        )
        self.serve(ledger, jobs)

    def serve(self, ledger: Ledger, jobs: list[Job]) -> None:
        raise NotImplementedError

    def try_start(self, ledger: Ledger, job: Job) -> bool:
        place = self.choose(ledger.free, job)
        if place is not None:
            ledger.start(job, place)
        return place is not None


class NaiveFcfs(Naive):
    def serve(self, ledger: Ledger, jobs: list[Job]) -> None:
        for job in jobs:
            if not self.try_start(ledger, job):
                break


class NaiveFiller(Naive):
    def serve(self, ledger: Ledger, jobs: list[Job]) -> None:
        for job in jobs:
            self.try_start(ledger, job)


class NaiveEasy(Naive):
    """Starts a job ahead of the head only if the head's earliest start stays as it was."""

    def serve(self, ledger: Ledger, jobs: list[Job]) -> None:
        while jobs and self.try_start(ledger, jobs[0]):
            jobs.pop(0)
        for job in jobs[1:]:
            shadow = shadow_of(ledger, jobs[0], self.choose)
            place = self.choose(ledger.free, job)
            if place is None:
                continue
            end = round(ledger.now + job.walltime, 6)
            without = ledger.space.take(ledger.free, job, place.allocation)
            extra = (end, job, place.allocation)
            if shadow_of(ledger, jobs[0], self.choose, free=without, extra=extra) <= shadow:
                ledger.start(job, place)


def shadow_of(ledger: Ledger, head: Job, choose: Any, *, free: Any = None, extra: Any = None) -> float:
    """Return when the head can start at the latest, if nothing else starts; infinite if that is unknown."""
    free = ledger.free if free is None else free
    ends = [(round(stay.start + stay.job.walltime, 6), stay.job, stay.allocation) for stay in ledger.running.values()]
    ends = sorted([*ends, *([extra] if extra else [])], key=lambda entry: entry[0])
    for index, (end, job, allocation) in enumerate(ends):
        free = ledger.space.give(free, job, allocation)
        if end < math.inf and (index + 1 == len(ends) or ends[index + 1][0] > end) and choose(free, head) is not None:
            return max(end, ledger.now)
    return math.inf


PAIRS = [(Fcfs, NaiveFcfs), (Filler, NaiveFiller), (Easy, NaiveEasy)]


def build(cls: type[QueueDispatcher], **chosen: str) -> QueueDispatcher:
    return cls(parse_options(cls.options_type, chosen, cls.__name__))


def check_naive(data: st.DataObject, ours: type[QueueDispatcher], naive: type[QueueDispatcher]) -> None:
    machine = data.draw(machines())
    tasks = data.draw(workloads(machine))
    chosen = {"ordering": data.draw(st.sampled_from(ALL)), "placement": data.draw(st.sampled_from(PLACEMENTS))}
    expected = simulate(machine, tasks, build(naive, **chosen))
    assert simulate(machine, tasks, build(ours, **chosen)).files == expected.files


@pytest.mark.parametrize(("ours", "naive"), PAIRS)
@settings(max_examples=30)
@given(data=st.data())
def test_same_schedule_as_when_all_is_decided_from_scratch(
    ours: type[QueueDispatcher], naive: type[QueueDispatcher], data: st.DataObject
) -> None:
    check_naive(data, ours, naive)


@pytest.mark.slow
@pytest.mark.parametrize(("ours", "naive"), PAIRS)
@deep
@given(data=st.data())
def test_same_schedule_as_when_all_is_decided_from_scratch_many_times(
    ours: type[QueueDispatcher], naive: type[QueueDispatcher], data: st.DataObject
) -> None:
    check_naive(data, ours, naive)


def in_order_of_arrival(tasks: list[Task], result: Result) -> list[int]:
    """Return start times, µs, of the jobs that ran, by submission."""
    ordered = sorted(tasks, key=lambda task: (task.submission, task.id))
    return [result.rows[task.id].start for task in ordered if result.rows[task.id].state is not JobState.REJECTED]


@given(data=st.data())
def test_fcfs_is_never_overtaken(data: st.DataObject) -> None:
    machine = data.draw(machines())
    tasks = data.draw(workloads(machine))
    starts = in_order_of_arrival(tasks, simulate(machine, tasks, "fcfs"))
    assert starts == sorted(starts)


@given(data=st.data())
def test_filler_leaves_no_job_waiting_that_fits(data: st.DataObject) -> None:
    class Watched(Filler):
        def decide(self, ledger: Ledger) -> None:
            super().decide(ledger)
            assert all(self.choose(ledger.free, job) is None for job in ledger.queue.values())

    machine = data.draw(machines())
    tasks = data.draw(workloads(machine))
    chosen = {"ordering": data.draw(st.sampled_from(ALL)), "placement": data.draw(st.sampled_from(PLACEMENTS))}
    audit(machine, tasks, simulate(machine, tasks, build(Watched, **chosen)))


def check_easy(data: st.DataObject) -> None:
    promised: dict[str, float] = {}

    class Watched(Easy):
        def decide(self, ledger: Ledger) -> None:
            super().decide(ledger)
            if ledger.queue:
                head = min(
                    ledger.queue.values(), key=lambda job: (self.ordering.key(job, 0.0, job.walltime), ledger.rank(job))
                )
                assert self.choose(ledger.free, head) is None, "the head fits and waits"
                shadow = shadow_of(ledger, head, self.choose)
                assert shadow <= promised.get(head.id, math.inf), "the head was delayed"
                promised[head.id] = shadow

    machine = data.draw(machines())
    tasks = data.draw(workloads(machine))
    chosen = {
        "placement": data.draw(st.sampled_from(PLACEMENTS)),
        "reservation": data.draw(st.sampled_from(["count", "hosts"])),
    }
    result = simulate(machine, tasks, build(Watched, **chosen))
    audit(machine, tasks, result)
    for job_id, shadow in promised.items():
        if shadow < math.inf:
            assert result.rows[job_id.partition("!")[2]].start <= micro(shadow)


@given(data=st.data())
def test_easy_never_delays_the_head_of_the_queue(data: st.DataObject) -> None:
    check_easy(data)


@pytest.mark.slow
@deep
@given(data=st.data())
def test_easy_never_delays_the_head_of_the_queue_many_times(data: st.DataObject) -> None:
    check_easy(data)


def check_conservative(data: st.DataObject) -> None:
    promised: dict[str, float] = {}

    class Watched(Conservative):
        def decide(self, ledger: Ledger) -> None:
            super().decide(ledger)
            for job in ledger.queue.values():
                if job.id in self.plan.planned:
                    start = self.plan.planned[job.id].start
                    assert start >= ledger.now or micro(start) == micro(ledger.now)
                    assert start <= promised.get(job.id, math.inf), "a later job pushed it back"
                    promised[job.id] = start

    machine = data.draw(machines())
    tasks = data.draw(workloads(machine))
    # A unit that needs nothing finds room where anything is free, and holds nothing that a plan could keep for it.
    assume(all(task.demand is None or any(task.demand.values()) for task in tasks))
    placed = data.draw(st.sampled_from(PLACEMENTS))
    result = simulate(machine, tasks, build(Watched, placement=placed))
    audit(machine, tasks, result)
    for job_id, start in promised.items():
        assert result.rows[job_id.partition("!")[2]].start <= micro(start)


@given(data=st.data())
def test_conservative_starts_every_job_when_it_was_promised_or_earlier(data: st.DataObject) -> None:
    check_conservative(data)


@pytest.mark.slow
@deep
@given(data=st.data())
def test_conservative_starts_every_job_when_it_was_promised_or_earlier_many_times(data: st.DataObject) -> None:
    check_conservative(data)


@given(data=st.data())
def test_with_one_host_and_equal_jobs_all_agree(data: st.DataObject) -> None:
    # With nothing to choose, every algorithm is first come, first served.
    machine = Machine.flat(1)
    times = data.draw(st.lists(st.integers(0, 100), min_size=1, max_size=10))
    tasks = [Task(f"{n:02d}", time / 10, 1, 3.3, 5.0) for n, time in enumerate(times)]
    runs = [simulate(machine, tasks, name).files for name in ("fcfs", "filler", "easy", "conservative")]
    assert all(files == runs[0] for files in runs)


@given(data=st.data())
def test_counting_is_as_good_as_listing_when_any_host_will_do(data: st.DataObject) -> None:
    # EASY counts on exclusive hosts; forced to look at the hosts themselves it decides the same.
    class Listed(Easy):
        def begin(self, ledger: Ledger) -> None:
            super().begin(ledger)
            self._pooled, self._space = False, ledger.space

    machine = data.draw(machines().filter(lambda machine: machine.exclusive))
    tasks = data.draw(workloads(machine))
    ordered = data.draw(st.sampled_from(STATIC))
    files = simulate(machine, tasks, build(Listed, ordering=ordered)).files
    assert files == simulate(machine, tasks, build(Easy, ordering=ordered)).files
    assert make_placement("first-fit").complete
