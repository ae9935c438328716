"""What a simulator says is checked against what was said and decided before: contradictions are errors."""

import math
from collections.abc import Callable, Sequence

import pytest

from batdispatch.core.errors import BatdispatchError, InputError, SimulationError
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import JobState
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.ledger import EARLY, Ledger
from batdispatch.core.line.messages import Message
from batdispatch.core.line.session import Session
from batdispatch.core.machine.machine import Host, Machine
from simulating import start_all
from strategies import make_job

A = Allocation.parse
DONE, FAILED, LATE, KILLED = (
    JobState.COMPLETED_SUCCESSFULLY,
    JobState.COMPLETED_FAILED,
    JobState.COMPLETED_WALLTIME_REACHED,
    JobState.COMPLETED_KILLED,
)


class Starts(Dispatcher):
    """Starts what fits, in order of arrival, and does `then` once."""

    def __init__(self, then: Callable[[Ledger], object] | None = None) -> None:
        super().__init__()
        self.then = then
        self.heard: list[object] = []

    def on_event(self, ledger: Ledger, event: e.Event) -> None:
        self.heard.append(event)

    def on_killed(self, ledger: Ledger, event: e.JobsKilled) -> None:
        self.heard.append(event)

    def decide(self, ledger: Ledger) -> None:
        start_all(ledger)
        if self.then is not None:
            then, self.then = self.then, None
            then(ledger)


MACHINE = Machine([Host(id=i, name=f"n{i}") for i in range(3)] + [Host(id=3, name="disk", storage=True)])


def begun(then: Callable[[Ledger], object] | None = None) -> Session:
    """At 10 s, w0!a runs on hosts 0-1 with a walltime of 100 s, w0!b on 2 without, and w0!c waits."""
    session = Session(Starts(then))
    jobs = [make_job("w0!a", 2, walltime=100.0), make_job("w0!b"), make_job("w0!c", 3)]
    session.handle(Message(10.0, [e.SimulationBegins(0.0, MACHINE), *(e.JobSubmitted(10.0, job) for job in jobs)]))
    assert session.ledger is not None
    assert [str(stay.allocation) for stay in session.ledger.running.values()] == ["0-1", "2"]
    return session


def kill_a(ledger: Ledger) -> None:
    ledger.kill([ledger.running["w0!a"].job])


def say(session: Session, now: float, *events: e.Event) -> Sequence[d.Decision]:
    return session.handle(Message(now, list(events))).decisions


def state(session: Session) -> tuple[object, ...]:
    ledger = session.ledger
    assert ledger is not None
    ledger.check()
    return (repr(ledger.free), ledger.unavailable, list(ledger.queue), list(ledger.running), ledger.epoch)


#: What is said at 20 s -> what the error says. Each names the job or host, the time, and what was expected.
CONTRADICTIONS: dict[str, tuple[e.Event, str]] = {
    "a second beginning": (e.SimulationBegins(20.0, MACHINE), "SIMULATION_BEGINS came a second time, at 20.000000 s"),
    "a job submitted twice": (
        e.JobSubmitted(20.0, make_job("w0!a")),
        "event at 20.000000 s: job w0!a was submitted twice",
    ),
    "the end of a job that waits": (
        e.JobCompleted(20.0, "w0!c", DONE),
        "event at 20.000000 s: job w0!c was reported complete (COMPLETED_SUCCESSFULLY) but is waiting",
    ),
    "the end of nobody": (
        e.JobCompleted(20.0, "w0!x", FAILED),
        "event at 20.000000 s: job w0!x was reported complete (COMPLETED_FAILED) but is unknown",
    ),
    "other hosts": (
        e.JobCompleted(20.0, "w0!a", DONE, 0, A("0 2")),
        "job w0!a was reported complete on hosts 0 2, expected those it was started on, 0-1",
    ),
    "more hosts": (
        e.JobCompleted(20.0, "w0!b", DONE, 0, A("1-2")),
        "job w0!b was reported complete on hosts 1-2, expected those it was started on, 2",
    ),
    "no hosts": (
        e.JobCompleted(20.0, "w0!b", DONE, 0, Allocation(0)),
        "job w0!b was reported complete on hosts , expected those it was started on, 2",
    ),
    "killed by nobody": (
        e.JobCompleted(20.0, "w0!a", KILLED, -1),
        "event at 20.000000 s: job w0!a was reported killed, expected another end: no decision was to kill it",
    ),
    "no walltime to reach": (
        e.JobCompleted(20.0, "w0!b", LATE, -1),
        "event at 20.000000 s: job w0!b was reported to have reached its walltime, expected another end: it has none",
    ),
    "long before the walltime": (
        e.JobCompleted(20.0, "w0!a", LATE, -1),
        "a was reported to have reached its walltime, expected at 110.000000 s: it started at 10.000000 s and may run",
    ),
    "rejected while it ran": (
        e.JobCompleted(20.0, "w0!a", JobState.REJECTED),
        "job w0!a was reported complete as REJECTED, expected the end of a job that ran",
    ),
    "over while it runs": (
        e.JobCompleted(20.0, "w0!a", JobState.RUNNING),
        "job w0!a was reported complete as RUNNING, expected the end of a job that ran",
    ),
    "an answer to no kill": (
        e.JobsKilled(20.0, ["w0!b"]),
        "event at 20.000000 s: job w0!b was reported killed, but no decision was to kill it: it is running since 10 s",
    ),
    "an unknown host gone": (
        e.MachinesUnavailable(20.0, A("2-4")),
        "event at 20.000000 s: host 4 was reported gone, expected hosts of the platform, 0-3",
    ),
    "an unknown host back": (
        e.MachinesAvailable(20.0, A("0 77")),
        "event at 20.000000 s: host 77 was reported back, expected hosts of the platform, 0-3",
    ),
    "the state of an unknown host": (
        e.ResourceStateChanged(20.0, A("9"), "1"),
        "event at 20.000000 s: host 9 was reported in state '1', expected hosts of the platform, 0-3",
    ),
    "a message of a job that waits": (
        e.JobMessage(20.0, "w0!c", "hello"),
        "event at 20.000000 s: job w0!c says something but is waiting, expected a job that runs",
    ),
}


@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_a_contradiction_is_an_error_and_changes_nothing(case: str) -> None:
    event, expected = CONTRADICTIONS[case]
    session = begun()
    before = state(session)
    with pytest.raises(InputError) as caught:
        say(session, 20.0, event)
    assert expected in str(caught.value)
    assert state(session) == before
    assert isinstance(session.dispatcher, Starts)
    assert session.dispatcher.heard == [], "the dispatcher does not hear of it"


def test_the_answer_to_a_kill_comes_after_the_end_of_the_job() -> None:
    session = begun(kill_a)
    with pytest.raises(
        InputError, match=r"w0!a was reported killed but is running since 10 s, expected its completion"
    ):
        say(session, 20.0, e.JobsKilled(20.0, ["w0!a"]))


@pytest.mark.parametrize("end", [DONE, FAILED, KILLED])
def test_a_job_that_was_to_be_killed_may_have_ended_otherwise(end: JobState) -> None:
    session = begun(kill_a)
    killed = e.JobsKilled(20.0, ["w0!a"])
    say(session, 20.0, e.JobCompleted(20.0, "w0!a", end, 0, A("0-1")), killed)
    assert isinstance(session.dispatcher, Starts)
    assert session.dispatcher.heard == [killed]


@pytest.mark.parametrize("off", [-0.9 * EARLY, -2e-6, 0.0, 2e-6, 0.01, 3.0])
def test_a_walltime_may_end_microseconds_early_and_any_time_late(off: float) -> None:
    session = begun()
    say(session, 110.0 + off, e.JobCompleted(110.0 + off, "w0!a", LATE, -1, A("0-1")))
    assert session.ledger is not None
    assert "w0!a" not in session.ledger.running


def test_a_walltime_does_not_end_more_than_a_millisecond_early() -> None:
    with pytest.raises(InputError, match=r"expected at 110\.000000 s"):
        say(begun(), 110.0, e.JobCompleted(110.0 - 1.1 * EARLY, "w0!a", LATE, -1))


@pytest.mark.parametrize(("planned", "enforced"), [(5.0, 50.0), (50.0, 5.0), (5.0, math.inf)])
def test_the_walltime_that_was_submitted_counts_and_not_the_one_that_is_planned_with(
    planned: float, enforced: float
) -> None:
    """A layer amends walltimes, and more than once."""

    def amend(ledger: Ledger) -> None:
        ledger.amend(ledger.amend(ledger.queue["w0!c"], walltime=7.0), walltime=planned)

    session = Session(Starts())
    say(session, 0.0, e.SimulationBegins(0.0, MACHINE), e.JobSubmitted(0.0, make_job("w0!a", 3)))
    say(session, 1.0, e.JobSubmitted(1.0, make_job("w0!c", 3, walltime=enforced)))
    session.dispatcher.then = amend  # type: ignore[attr-defined]
    say(session, 2.0)
    assert session.ledger is not None
    assert session.ledger.queue["w0!c"].walltime == planned
    say(session, 3.0, e.JobCompleted(3.0, "w0!a", DONE))
    if enforced != math.inf:
        with pytest.raises(InputError, match=f"expected at {3 + enforced:.6f} s"):
            say(session, 3.0 + enforced - 0.1, e.JobCompleted(3.0 + enforced - 0.1, "w0!c", LATE))
        say(session, 3.0 + enforced, e.JobCompleted(3.0 + enforced, "w0!c", LATE))
    else:
        with pytest.raises(InputError, match="it has none"):
            say(session, 900.0, e.JobCompleted(900.0, "w0!c", LATE))


def test_a_simulation_does_not_end_with_jobs_left() -> None:
    session = begun()
    with pytest.raises(SimulationError) as caught:
        say(session, 20.0, e.SimulationEnds(20.0))
    assert str(caught.value) == (
        "the simulation ended at 20.000000 s with jobs left: 2 running (w0!a, w0!b); 1 waiting (w0!c)"
    )
    assert not session.ended


def test_neither_does_it_end_with_jobs_that_wait_for_others_or_are_not_acknowledged() -> None:
    def register(ledger: Ledger) -> None:
        for number in range(7):
            ledger.register_job(make_job(f"w0!new{number}"))

    session = Session(Starts(register))
    session.dispatcher.registers_jobs = True  # type: ignore[misc]
    config = {"dynamic-jobs-enabled": True, "dynamic-jobs-acknowledged": True}
    blocked = make_job("w0!b", dependencies=["a"])
    say(session, 0.0, e.SimulationBegins(0.0, MACHINE, config), e.JobSubmitted(0.0, blocked))
    with pytest.raises(SimulationError) as caught:
        say(session, 1.0, e.SimulationEnds(1.0))
    assert str(caught.value).endswith(
        "1 waiting for other jobs (w0!b); 7 registered but not acknowledged (w0!new0, w0!new1, w0!new2, w0!new3, "
        "w0!new4, ...)"
    )


def test_the_last_ends_may_stand_in_the_message_that_ends_the_simulation() -> None:
    session = begun(lambda ledger: ledger.reject(ledger.queue["w0!c"], "no"))
    ends: list[e.Event] = [e.JobCompleted(20.0, "w0!a", DONE, 0, A("0-1")), e.JobCompleted(20.0, "w0!b", DONE)]
    assert say(session, 20.0, *ends, e.SimulationEnds(20.0)) == []
    assert session.ended


def test_every_contradiction_is_reported_as_one_line() -> None:
    for event, _ in CONTRADICTIONS.values():
        with pytest.raises(BatdispatchError) as caught:
            say(begun(), 20.0, event)
        assert "\n" not in str(caught.value)
