"""Batsim's clock by hand: one message at a time, and the scheduler is written to when none waits."""

from pathlib import Path

import pytest

from batdispatch.core.line import events as e
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.mail import Delay
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.records import EngineOptions
from batdispatch.inputs.workloads import Workload
from simulating import Result, Task, simulate


def distant(host: int | None) -> Delay:
    """Hosts are 10 us away, the master is at hand."""
    return Delay(0.0, 1e-10) if host is None else Delay(1e-5, 1e-9)


def told(result: Result, kind: type[e.Event]) -> list[list[int]]:
    """When events of a kind were told, in whole microseconds, message by message."""
    times = [[round(event.time * 1e6) for event in m.events if type(event) is kind] for m, _ in result.exchanges]
    return [message for message in times if message]


def test_ends_of_one_moment_arrive_one_after_the_other_and_are_told_together() -> None:
    result = simulate(Machine.flat(3), [Task(name, 0, 1, 5) for name in "abc"], "fcfs", delays=distant)
    assert told(result, e.JobCompleted) == [[5_000_010, 5_000_020, 5_000_030]]
    assert {row.end for row in result.rows.values()} == {5_000_000}, "they ended when they ended, whenever it was told"


def test_an_end_that_comes_when_no_other_waits_is_told_alone() -> None:
    tasks = [Task("a", 0, 1, 5), Task("b", 0, 1, 5.000011)]
    assert told(simulate(Machine.flat(2), tasks, "fcfs", delays=distant), e.JobCompleted) == [[5_000_010], [5_000_021]]
    tasks = [Task("a", 0, 1, 5), Task("b", 0, 1, 5.000009)]
    assert told(simulate(Machine.flat(2), tasks, "fcfs", delays=distant), e.JobCompleted) == [[5_000_010, 5_000_020]]


def test_jobs_of_one_date_are_one_message_and_the_last_word_is_another() -> None:
    tasks = [Task("a", 1, 1, 5), Task("b", 1, 1, 5), Task("c", 2, 1, 5)]
    result = simulate(Machine.flat(2), tasks, "fcfs", delays=lambda _: Delay(1e-4, 1e-9))
    # Hello takes 0.1 ms; then a message arrives 0.1 ms after its date, and delays the next date by as much.
    assert told(result, e.JobSubmitted) == [[1_000_100, 1_000_100], [2_000_200]]
    assert told(result, e.NoMoreStaticJobs) == [[2_000_300]]


def test_decisions_are_handed_over_one_by_one() -> None:
    tasks = [Task(name, 1, 1, 5) for name in "abc"]
    result = simulate(Machine.flat(3), tasks, "fcfs", delays=lambda _: Delay(1e-4, 1e-9))
    # They are told of at 1.0001 s; the submitter's last word was sent before the first decision.
    assert [row.start for row in result.rows.values()] == [1_000_300, 1_000_400, 1_000_500]


class Killer(Dispatcher):
    """Starts what it can, and kills what runs when a call comes."""

    calls_at = 4.5

    def decide(self, ledger: Ledger) -> None:
        for job in list(ledger.queue.values()):
            place = ledger.place(job)
            if place is not None:
                ledger.start(job, place)
                ledger.wake_at(self.calls_at)

    def on_event(self, ledger: Ledger, event: e.Event) -> None:
        if isinstance(event, e.RequestedCall):
            ledger.kill([stay.job for stay in ledger.running.values()])


@pytest.mark.parametrize(
    ("lasts", "state", "ended"), [(3.8, "COMPLETED_SUCCESSFULLY", 4_800_000), (9, "COMPLETED_KILLED", 4_900_000)]
)
def test_a_kill_takes_time_and_may_come_too_late(lasts: float, state: str, ended: int) -> None:
    # The job starts at 1 s; the call of 4.5 s is told at 4.7 s, the decision arrives at 4.9 s.
    result = simulate(Machine.flat(1), [Task("a", 0, 1, lasts)], Killer(), delays=lambda _: Delay(0.2, 1e-9))
    row = result.rows["a"]
    assert (row.state.value, row.end) == (state, ended)
    killed = [event for m, _ in result.exchanges for event in m.events if isinstance(event, e.JobsKilled)]
    assert [event.job_ids for event in killed] == [["w0!a"]]
    assert bool(killed[0].progress) == (state == "COMPLETED_KILLED")


class Hasty(Dispatcher):
    """Starts what it can, and asks to be called 10 us later."""

    def decide(self, ledger: Ledger) -> None:
        for job in list(ledger.queue.values()):
            place = ledger.place(job)
            if place is not None:
                ledger.start(job, place)
                ledger.wake_at(ledger.now + 1e-5)


def test_a_call_asked_for_in_good_time_is_still_to_come_when_the_request_arrives() -> None:
    # Each request arrives after a start's and other requests, 0.2 ms later. Batsim aborts at a call in the past.
    tasks = [Task(name, 1, 1, 5) for name in "abc"]
    result = simulate(Machine.flat(3), tasks, Hasty(), delays=lambda _: Delay(1e-4, 1e-9))
    assert len([event for m, _ in result.exchanges for event in m.events if isinstance(event, e.RequestedCall)]) == 3


def test_a_year_into_a_log_doubles_no_longer_tell_nanoseconds() -> None:
    # The next double after 3e7 s is 4 ns later: adding the time of a byte changes nothing.
    tasks = [Task("a", 3e7, 1, 5), Task("b", 3e7, 1, 5), Task("c", 3e7 + 1, 2, 5)]
    result = simulate(Machine.flat(2), tasks, "fcfs", delays=distant)
    assert [row.start - 3e13 for row in result.rows.values()] == [0, 0, 5_000_020]


def test_messages_that_take_time_are_not_split(tmp_path: Path) -> None:
    workload = Workload(path=Path("none"), name="none", jobs=[], profiles={})
    with pytest.raises(ValueError, match="which events are told together"):
        EmbeddedEngine(
            Machine.flat(1),
            workload,
            Outputs(tmp_path, 1),
            options=EngineOptions(split_simultaneous=True),
            delays=distant,
        )
