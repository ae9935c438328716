"""What a rejection or an end brings about in the same moment, and jobs that reservations keep back for a while."""

import json
from typing import Any

import pytest

from batdispatch.core.jobs.job import Job, JobState
from batdispatch.core.jobs.request import Request
from batdispatch.core.line.circles import in_circles
from batdispatch.core.line.events import JobSubmitted, SimulationBegins
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.dispatchers.backfilling.fcfs import Fcfs
from simulating import Task, reasons, simulate

PLAIN = ["fcfs", "easy", "filler", "best-list", "hcp19", "ipsched", "aucsched", "conservative"]
LAYERS = ["resizing", "dmr", "attempts", "stochastic-easy", "stochastic-batch"]


def waits(job: str, kind: str = "afterok") -> dict[str, Any]:
    return {"dependencies": [{"job": job, "kind": kind}]}


# ---------------------------------------------------------------------- kept back by a reservation


def in_maintenance() -> Machine:
    """Four hosts, of which three are closed to all jobs from 10 to 50 s."""
    window = {"name": "maintenance", "start": 10.0, "end": 50.0, "hosts": ["h[0-2]"]}
    queues = json.dumps({"reservations": [window]})
    return Machine([Host(id=i, name=f"h{i}", properties={"queues": queues}) for i in range(4)])


@pytest.mark.parametrize("dispatcher", [*PLAIN, "slurm-backfill"])
def test_a_job_that_no_longer_waits_for_others_waits_for_the_end_of_the_maintenance(dispatcher: str) -> None:
    tasks = [Task("a", 12.0, 1, 5.0, 5.0), Task("b", 0.0, 3, 5.0, 5.0, extra=waits("a", "after"))]
    result = simulate(in_maintenance(), tasks, dispatcher)
    assert reasons(result) == {}
    assert result.starts()["a"] == pytest.approx(12.0)
    assert 50.0 <= result.starts()["b"] < 60.0


# ---------------------------------------------------------------------- chains


@pytest.mark.parametrize("dispatcher", [*PLAIN, *LAYERS])
def test_a_job_goes_on_when_the_one_it_waits_for_is_hopeless_as_it_comes(dispatcher: str) -> None:
    tasks = [
        Task("a", 0.0, 1, 9.0, 5.0),
        Task("b", 30.0, 1, 5.0, 10.0, extra=waits("a")),
        Task("c", 0.0, 1, 5.0, 10.0, extra=waits("b", "afterany")),
    ]
    result = simulate(Machine.flat(4), tasks, dispatcher)
    assert reasons(result) == {"b": "depends on job w0!a, which ended COMPLETED_WALLTIME_REACHED"}
    assert result.starts()["c"] == pytest.approx(30.0)


@pytest.mark.parametrize("dispatcher", ["fcfs", "easy", "filler", "resizing", "attempts[dispatcher=fcfs]"])
def test_a_job_that_is_freed_by_a_rejection_is_not_overtaken_at_that_moment(dispatcher: str) -> None:
    tasks = [
        Task("a", 0.0, 4, 9.0, 5.0),
        Task("b", 0.0, 1, 1.0, 2.0, extra=waits("a")),
        Task("c", 0.0, 4, 1.0, 2.0, extra=waits("b", "afterany")),
        Task("e", 1.0, 4, 1000.0, 1001.0),
    ]
    starts = simulate(Machine.flat(4), tasks, dispatcher).starts()
    assert starts == {"a": 0.0, "c": 5.0, "e": 6.0}


def test_a_task_of_an_array_that_is_freed_goes_before_a_later_one_that_waits_for_its_turn() -> None:
    array = {"id": "A", "limit": 1}
    tasks = [
        Task("0", 0.0, 1, 5.0, extra={"array": array | {"index": 0}}),
        Task("1", 0.0, 1, 5.0, extra={"array": array | {"index": 1}, **waits("x")}),
        Task("2", 0.0, 1, 5.0, extra={"array": array | {"index": 2}}),
        Task("x", 0.0, 1, 5.0),
    ]
    starts = simulate(Machine.flat(4), tasks, "fcfs").starts()
    assert starts == {"0": 0.0, "x": 0.0, "1": 5.0, "2": 10.0}


class Refusing(Fcfs):
    """First come, first served, but a job named `bad` is refused once the dispatcher decides."""

    def decide(self, ledger: Ledger) -> None:
        for job in [job for job in ledger.queue.values() if job.id.endswith("!bad")]:
            ledger.reject(job, "it is bad")
            self.forget(job)
        super().decide(ledger)


def test_what_a_decision_frees_starts_at_the_same_moment() -> None:
    tasks = [Task("bad", 3.0, 1, 1.0), Task("next", 0.0, 1, 1.0, extra=waits("bad", "afterany"))]
    assert simulate(Machine.flat(1), tasks, Refusing()).starts() == {"next": 3.0}


class GoesOnLater(Fcfs):
    """Kills its first job at 5 s, and registers what continues it only when it decides."""

    registers_jobs = True

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        self.killed: list[Job] = []

    def on_event(self, ledger: Ledger, event: Any) -> None:
        super().on_event(ledger, event)
        ledger.kill([stay.job for stay in ledger.running.values() if stay.job.id == "w0!a" and ledger.now == 5.0])

    def on_end(self, ledger: Ledger, stay: Any) -> None:
        super().on_end(ledger, stay)
        if stay.state is JobState.COMPLETED_KILLED:
            self.killed.append(stay.job)

    def decide(self, ledger: Ledger) -> None:
        if ledger.now == 0.0:
            ledger.wake_at(5.0)
        for job in self.killed:
            ledger.register_job(Job(id=f"{job.id}-rest", request=job.request, profile=job.profile, parent=job.id))
        self.killed = []
        super().decide(ledger)


def test_a_killed_job_may_be_continued_until_the_dispatcher_has_decided() -> None:
    tasks = [Task("a", 0.0, 1, 10.0), Task("next", 0.0, 1, 1.0, extra=waits("a", "afterany"))]
    assert simulate(Machine.flat(2), tasks, GoesOnLater()).starts() == {"a": 0.0, "a-rest": 5.0, "next": 15.0}


# ---------------------------------------------------------------------- circles


def test_every_graph_has_an_answer_to_who_waits_in_a_circle() -> None:
    assert in_circles({}) == {}
    assert in_circles({"a": [], "b": ["a"], "c": ["b", "a"]}) == {}
    assert set(in_circles({"a": ["a"], "b": ["a"]})) == {"a"}
    circles = in_circles({"a": ["b"], "b": ["c"], "c": ["a"], "d": ["a", "e"], "e": ["d"], "f": ["e"]})
    assert circles["a"] == circles["b"] == circles["c"] != circles["d"] == circles["e"]
    assert set(circles) == set("abcde")


def test_the_search_for_circles_is_not_ended_by_the_length_of_a_chain() -> None:
    chain = {str(number): [str(number + 1)] for number in range(50_000)}
    assert in_circles({**chain, "50000": []}) == {}
    assert len(in_circles({**chain, "50000": ["0"]})) == 50_001


# ---------------------------------------------------------------------- the queue is in order of arrival


def submitted(ledger: Ledger, name: str, units: int, walltime: float) -> None:
    job = Job(id=f"w0!{name}", request=Request(units=units), submission=ledger.now, walltime=walltime)
    ledger.apply_submitted(JobSubmitted(ledger.now, job))


def test_a_job_that_is_shown_anew_keeps_its_place_in_the_queue() -> None:
    """By its walltime `long` reaches into the maintenance; after that it may have all hosts, as `short` may."""
    ledger = Ledger(SimulationBegins(0.0, in_maintenance()))
    for name, walltime in (("long", 20.0), ("short", 5.0)):
        submitted(ledger, name, 1, walltime)
    before = ledger.queue["w0!long"].request
    ledger.now = 50.0
    assert [shown.id for _, shown in ledger.turn() if shown is not None] == ["w0!long"]
    assert ledger.queue["w0!long"].request != before
    assert list(ledger.queue) == ["w0!long", "w0!short"]


def test_a_job_that_was_kept_back_comes_back_to_its_place_in_the_queue() -> None:
    ledger = Ledger(SimulationBegins(0.0, Machine.flat(2)))
    for name in ("a", "b", "c"):
        submitted(ledger, name, 1, 5.0)
    job = ledger.queue["w0!b"]
    ledger.keep_back(job)
    assert list(ledger.queue) == ["w0!a", "w0!c"]
    ledger.bring_back(job)
    assert list(ledger.queue) == ["w0!a", "w0!b", "w0!c"]
