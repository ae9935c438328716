"""The line from events to decisions."""

from collections.abc import Callable, Iterator, Sequence

import pytest

from batdispatch.core.errors import ImpossibleDecision, InputError
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job, JobState, Stay
from batdispatch.core.jobs.request import Request, amounts
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.messages import Message
from batdispatch.core.line.session import Session
from batdispatch.core.machine.machine import Machine
from simulating import start_all


class Scripted(Dispatcher):
    """Does what it is told at each decision, and remembers what it was told."""

    def __init__(self, *acts: Callable[[Ledger], object], registers: bool = False) -> None:
        super().__init__()
        self.acts = list(acts)
        self.heard: list[object] = []
        self.registers_jobs = registers  # type: ignore[misc]

    def begin(self, ledger: Ledger) -> None:
        self.heard.append("begin")

    def on_submit(self, ledger: Ledger, job: Job) -> None:
        self.heard.append(("submit", job.id))

    def on_end(self, ledger: Ledger, stay: Stay) -> None:
        self.heard.append(("end", stay.job.id, stay.state))

    def on_killed(self, ledger: Ledger, event: e.JobsKilled) -> None:
        self.heard.append(event)

    def on_event(self, ledger: Ledger, event: e.Event) -> None:
        self.heard.append(event)

    def decide(self, ledger: Ledger) -> None:
        self.heard.append("decide")
        if self.acts:
            self.acts.pop(0)(ledger)


class Greedy(Dispatcher):
    """Starts whatever fits in order of arrival."""

    def decide(self, ledger: Ledger) -> None:
        start_all(ledger)


def nothing(ledger: Ledger) -> None:
    pass


def begins(machine: Machine | None = None, **config: bool) -> e.SimulationBegins:
    return e.SimulationBegins(0.0, machine or Machine.flat(4), dict(config))


def submitted(time: float, name: str, units: int = 1, **fields: object) -> e.JobSubmitted:
    return e.JobSubmitted(time, Job(id=f"w0!{name}", request=Request(units=units), submission=time, **fields))  # type: ignore[arg-type]


def completed(time: float, name: str) -> e.JobCompleted:
    return e.JobCompleted(time, f"w0!{name}", JobState.COMPLETED_SUCCESSFULLY)


def say(session: Session, now: float, *events: e.Event) -> Sequence[d.Decision]:
    return session.handle(Message(now, list(events))).decisions


def test_a_dispatcher_hears_everything_before_it_decides_once() -> None:
    dispatcher = Scripted(lambda ledger: (start_all(ledger), ledger.kill([ledger.running["w0!a"].job])))
    session = Session(dispatcher, clock=ticking(0.0, 1.0, 1.0, 3.0))
    killed = e.JobsKilled(6.0, ["w0!a"], {})
    others = [
        e.RequestedCall(6.0),
        e.MachinesUnavailable(6.0, Allocation.parse("2")),
        e.MachinesAvailable(6.0, Allocation.parse("2")),
        e.NoMoreStaticJobs(6.0),
        e.NoMoreExternalEvents(6.0),
        e.JobMessage(6.0, "w0!a", "hi"),
        e.ResourceStateChanged(6.0, Allocation.parse("0"), "1"),
        e.EnergyAnswer(6.0, 3.0),
        e.Notified(6.0, "x", {}),
    ]
    say(session, 0.0, begins(), submitted(0.0, "a"))
    say(session, 6.0, completed(6.0, "a"), killed, *others)
    assert dispatcher.heard == [
        "begin",
        ("submit", "w0!a"),
        "decide",
        ("end", "w0!a", JobState.COMPLETED_SUCCESSFULLY),
        killed,
        *others,
        "decide",
    ]
    assert session.ledger is not None
    assert session.ledger.static_jobs_done
    assert session.decision_seconds == [1.0, 2.0]
    assert session.decision_times == [0.0, 6.0]


def test_nothing_is_decided_after_the_end() -> None:
    dispatcher = Scripted()
    session = Session(dispatcher)
    say(session, 0.0, begins())
    assert not session.ended
    assert say(session, 9.0, e.SimulationEnds(9.0)) == []
    assert session.ended
    assert dispatcher.heard == ["begin", "decide"]


@pytest.mark.parametrize("events", [[], [submitted(0.0, "a")], [e.SimulationEnds(0.0)]])
def test_a_simulation_begins_with_its_beginning(events: list[e.Event]) -> None:
    with pytest.raises(InputError, match="the first event must be SIMULATION_BEGINS"):
        say(Session(Greedy()), 0.0, *events)


def test_time_does_not_go_backwards() -> None:
    session = Session(Greedy())
    say(session, 0.0, begins())
    say(session, 7.5)
    say(session, 7.5)
    with pytest.raises(InputError, match=r"time goes backwards: message of 7\.400000 s after 7\.500000 s"):
        say(session, 7.4)


def test_impossible_jobs_are_rejected_before_a_dispatcher_sees_them() -> None:
    dispatcher = Scripted()
    session = Session(dispatcher)
    decisions = say(session, 0.0, begins(), submitted(0.0, "big", 5), submitted(0.0, "fine", 4))
    assert decisions == [d.Reject(0.0, "w0!big", "asks for 5 hosts, the whole machine has room for 4")]
    assert dispatcher.heard == ["begin", ("submit", "w0!fine"), "decide"]


def test_an_impossible_decision_stops_the_run() -> None:
    session = Session(
        Scripted(lambda ledger: ledger.start(Job(id="w0!x", request=Request(units=1)), Allocation.parse("0")))
    )
    with pytest.raises(ImpossibleDecision, match="job w0!x cannot start: it is unknown"):
        say(session, 0.0, begins())


def test_simultaneous_events_together_or_split_use_the_same_capacity() -> None:
    events = [completed(5.0, "a"), completed(5.0, "b"), submitted(5.0, "c", 4), submitted(5.0, "d", 1)]
    together, split = Session(Greedy()), Session(Greedy())
    for session in (together, split):
        say(session, 0.0, begins(), submitted(0.0, "a", 2), submitted(0.0, "b", 2))
    assert [x.job_id for x in say(together, 5.0, *events) if isinstance(x, d.Execute)] == ["w0!c"]
    started = [x.job_id for event in events for x in say(split, 5.0, event) if isinstance(x, d.Execute)]
    assert started == ["w0!c"]
    # In another order the newcomers find one half of the machine free.
    other = Session(Greedy())
    say(other, 0.0, begins(), submitted(0.0, "a", 2), submitted(0.0, "b", 2))
    order = [events[0], events[2], events[3], events[1]]
    assert [x.job_id for event in order for x in say(other, 5.0, event) if isinstance(x, d.Execute)] == ["w0!d"]


def ticking(*seconds: float) -> Callable[[], float]:
    times: Iterator[float] = iter(seconds)
    return lambda: next(times)


@pytest.mark.parametrize("measured", [False, True])
def test_decisions_take_effect_when_the_dispatcher_has_decided(measured: bool) -> None:
    dispatcher = Scripted(start_all)
    clock = ticking(100.0, 102.5)
    session = Session(dispatcher, decision_time=None if measured else 2.5, clock=clock)
    reply = session.handle(Message(4.0, [begins(), submitted(3.0, "a")]))
    assert reply.now == 6.5
    assert reply.decisions == [d.Execute(6.5, "w0!a", Allocation.parse("0"))]
    assert session.ledger is not None
    assert session.ledger.running["w0!a"].start == 6.5
    assert session.ledger.now == 4.0
    assert session.decision_seconds == [2.5]


def test_without_decision_time_decisions_are_instant_however_long_they_take() -> None:
    session = Session(Scripted(start_all), clock=ticking(100.0, 102.5))
    reply = session.handle(Message(4.0, [begins(), submitted(3.0, "a")]))
    assert (reply.now, reply.decisions[0].time) == (4.0, 4.0)
    assert session.decision_seconds == [2.5]


def test_without_a_clock_decisions_are_not_timed() -> None:
    session = Session(Scripted(start_all))
    session.handle(Message(4.0, [begins(), submitted(3.0, "a")]))
    assert session.decision_seconds == session.decision_times == []
    with pytest.raises(ValueError, match="needs a clock"):
        Session(Scripted(), decision_time=None)


def test_a_clock_that_does_not_advance_costs_nothing() -> None:
    session = Session(Scripted(start_all), decision_time=None, clock=ticking(7.0, 7.0))
    assert session.handle(Message(4.0, [begins()])).now == 4.0


def test_a_call_that_was_due_while_deciding_comes_right_after() -> None:
    def ask(ledger: Ledger) -> None:
        ledger.wake_at(5.0)
        ledger.wake_at(6.5)
        ledger.wake_at(8.0)

    calls = say(Session(Scripted(ask), decision_time=2.5), 4.0, begins())
    assert [(call.time, call.at) for call in calls if isinstance(call, d.CallMeLater)] == [
        (6.5, 6.501),
        (6.5, 6.501),
        (6.5, 8.0),
    ]


def test_every_kind_of_decision_is_postponed() -> None:
    def act(ledger: Ledger) -> None:
        ledger.kill([ledger.running["w0!a"].job])
        ledger.set_metadata(ledger.running["w0!a"].job, "x")

    session = Session(Scripted(start_all, act), decision_time=0.5)
    say(session, 0.0, begins(), submitted(0.0, "a"))
    decisions = say(session, 3.0, submitted(3.0, "big", 9))
    assert [type(x) for x in decisions] == [d.Reject, d.Kill, d.SetMetadata]
    assert {x.time for x in decisions} == {3.5}


def test_registration_ends_at_once_for_a_dispatcher_that_registers_nothing() -> None:
    session = Session(Scripted())
    assert say(session, 0.0, begins(**{"dynamic-jobs-enabled": True})) == [d.FinishRegistration(0.0)]
    assert say(session, 1.0, submitted(1.0, "a")) == []
    assert say(Session(Scripted()), 0.0, begins()) == []


def test_registration_ends_once_when_nothing_is_left_to_do() -> None:
    session = Session(Scripted(nothing, start_all, registers=True))
    assert say(session, 0.0, begins(**{"dynamic-jobs-enabled": True})) == []
    (execute,) = say(session, 1.0, submitted(1.0, "a"), e.NoMoreStaticJobs(1.0))
    assert isinstance(execute, d.Execute)
    assert say(session, 2.0) == []
    assert say(session, 3.0, completed(3.0, "a")) == [d.FinishRegistration(3.0)]
    assert say(session, 4.0) == []


@pytest.mark.parametrize("acknowledged", [True, False])
def test_a_registered_job_is_submitted_to_its_dispatcher_once(acknowledged: bool) -> None:
    job = Job(id="w0!again", request=Request(units=2, per_unit=amounts({"core": 1})))
    dispatcher = Scripted(lambda ledger: ledger.register_job(job), registers=True)
    session = Session(dispatcher)
    machine = Machine.flat(1, "core=4")
    config = {"dynamic-jobs-enabled": True, "dynamic-jobs-acknowledged": acknowledged}
    assert say(session, 0.0, begins(machine, **config)) == [d.RegisterJob(0.0, job)]
    if acknowledged:
        say(
            session,
            0.0,
            e.JobSubmitted(0.0, Job(id="w0!again", request=Request(units=2, per_unit=amounts({"core": 1})))),
        )
    assert dispatcher.heard.count(("submit", "w0!again")) == 1
    assert session.ledger is not None
    again = session.ledger.queue["w0!again"]
    assert session.ledger.space.need(again).amounts == (1,)


def test_a_job_that_never_started_has_no_stay() -> None:
    session = Session(Scripted())
    say(session, 0.0, begins(), submitted(0.0, "a"))
    assert session.ledger is not None
    assert list(session.ledger.queue) == ["w0!a"]
    assert not session.ledger.running
