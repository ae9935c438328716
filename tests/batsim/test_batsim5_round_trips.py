"""Whatever can be said in Batsim 5's protocol reads back as it was said; what it lacks is refused by name."""

import json
import math
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.batsim import Features
from batdispatch.batsim.v5.exchange import Batsim5
from batdispatch.core.errors import ImpossibleDecision, SimulationError
from batdispatch.core.hosts.allocation import Allocation, IoJob
from batdispatch.core.jobs.fields import read_request
from batdispatch.core.jobs.job import FINAL_STATES, Job
from batdispatch.core.jobs.request import Request
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.core.line.messages import Message, Reply
from batdispatch.core.machine.machine import Host, Machine

TIMES = st.integers(0, 10**12).map(lambda micro: micro / 1e6)
NAMES = st.text("abcxyz019_-é ", min_size=1, max_size=8)
#: Names of resources have no spaces.
RESOURCES = st.text("abcxyz019_-é", min_size=1, max_size=8)
JOB_IDS = st.builds("{}!{}".format, st.sampled_from(["w0", "dyn"]), NAMES)
HOSTS = st.integers(1, 2**70).map(Allocation)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
EXTRA = st.dictionaries(st.text("pqrs", min_size=1, max_size=4), VALUES, max_size=3) | st.text(
    "no json", min_size=1, max_size=9
).map(lambda text: {"extra_data": "# " + text})
AMOUNTS = st.floats(0, 1e15)


@st.composite
def jobs(draw: st.DrawFn) -> Job:
    extra = dict(draw(EXTRA))
    demand = draw(st.none() | st.dictionaries(RESOURCES, st.integers(0, 99), max_size=2))
    user = draw(st.just("") | NAMES)
    if "extra_data" not in extra:
        extra |= ({} if demand is None else {"demand": demand}) | ({"user": user} if user else {})
    return Job(
        id=draw(JOB_IDS),
        request=read_request(draw(st.integers(1, 10**6)), extra),
        submission=draw(TIMES),
        walltime=draw(st.just(math.inf) | st.floats(0.001, 1e9)),
        profile=draw(NAMES),
        user=extra.get("user", ""),
        extra=extra,
    )


@st.composite
def parallel(draw: st.DrawFn) -> dict[str, Any]:
    count = draw(st.integers(1, 3))
    cpu, com = (draw(st.lists(AMOUNTS, min_size=n, max_size=n)) for n in (count, count * count))
    return {"type": "parallel", "cpu": cpu, "com": com}


PROFILES = st.one_of(
    st.builds(lambda delay: {"type": "delay", "delay": delay}, st.floats(0.001, 1e9)),
    parallel(),
    st.builds(lambda a, b: {"type": "parallel_homogeneous", "cpu": a, "com": b}, AMOUNTS, AMOUNTS),
    st.builds(lambda a: {"type": "parallel_homogeneous_total", "cpu": a, "com": 0.0}, AMOUNTS),
    st.builds(
        lambda seq, repeat: {"type": "composed", "repeat": repeat, "seq": seq},
        st.lists(NAMES, min_size=1, max_size=3),
        st.integers(1, 9),
    ),
    st.builds(
        lambda a, b: {"type": "parallel_homogeneous_pfs", "storage": "pfs", "bytes_to_read": a, "bytes_to_write": b},
        AMOUNTS,
        AMOUNTS,
    ),
    st.builds(lambda a: {"type": "data_staging", "nb_bytes": a, "from": "x", "to": "y"}, AMOUNTS),
    st.just({"type": "smpi", "trace": "t.txt"}),
    st.just({"type": "usage_trace", "trace": "t.txt"}),
    st.just({"type": "ForkJoinCompositionProfile", "profile_ids": ["w0!a"]}),
    st.just({"type": "TraceReplayProfile", "trace_type": "Usage", "filename": "f"}),
)
#: Profiles as users write them, with fields of their own.
DECORATED = st.builds(lambda profile, extra: {**extra, **profile}, PROFILES, EXTRA)


@st.composite
def progresses(draw: st.DrawFn, depth: int = 0) -> dict[str, Any]:
    name = draw(NAMES)
    if depth > 2 or draw(st.booleans()):
        return {"profile_name": name, "progress": draw(st.floats(0, 1))}
    return {
        "profile_name": name,
        "current_repetition": draw(st.integers(0, 9)),
        "current_task_index": draw(st.integers(0, 9)),
        "current_task": draw(progresses(depth + 1)),
    }


@st.composite
def kills(draw: st.DrawFn, time: float) -> e.JobsKilled:
    names = draw(st.lists(JOB_IDS, min_size=1, max_size=3, unique=True))
    return e.JobsKilled(time, names, {name: draw(progresses()) for name in names if draw(st.booleans())})


def notified(time: float, kind: str, data: dict[str, Any]) -> e.Notified:
    return e.Notified(time, kind, {name: value for name, value in data.items() if name != "extra_data"})


JOULES = st.floats(0, 1e12)
#: Whole milliseconds, in seconds.
PERIODS = st.integers(1, 10**7).map(lambda milliseconds: milliseconds / 1000)
COUNTS = st.none() | st.integers(1, 99)
EVENTS: dict[type, Any] = {
    e.JobSubmitted: lambda t: st.builds(e.JobSubmitted, st.just(t), jobs(), st.none() | DECORATED),
    e.JobCompleted: lambda t: st.builds(
        e.JobCompleted,
        st.just(t),
        JOB_IDS,
        st.sampled_from(FINAL_STATES),
        st.integers(-(2**31), 2**31 - 1),
    ),
    e.JobsKilled: kills,
    e.ResourceStateChanged: lambda t: st.builds(
        e.ResourceStateChanged, st.just(t), HOSTS, st.sampled_from(["0", "7"]), st.booleans()
    ),
    e.RequestedCall: lambda t: st.builds(e.RequestedCall, st.just(t), NAMES, st.booleans()),
    e.ProbeData: lambda t: (
        st.builds(
            lambda name, joules: e.ProbeData(t, name, Allocation.of([1, 4]), joules),
            NAMES,
            st.lists(JOULES, min_size=2, max_size=2),
        )
        | st.builds(lambda name, joules: e.ProbeData(t, name, Allocation.of([1, 4]), [joules], "sum"), NAMES, JOULES)
    ),
    e.MachinesUnavailable: lambda t: st.builds(e.MachinesUnavailable, st.just(t), HOSTS),
    e.MachinesAvailable: lambda t: st.builds(e.MachinesAvailable, st.just(t), HOSTS),
    e.NoMoreStaticJobs: lambda t: st.builds(e.NoMoreStaticJobs, st.just(t)),
    e.NoMoreExternalEvents: lambda t: st.builds(e.NoMoreExternalEvents, st.just(t)),
    e.Notified: lambda t: st.builds(notified, st.just(t), st.sampled_from(["generic", "rain"]), EXTRA),
    e.SimulationEnds: lambda t: st.builds(e.SimulationEnds, st.just(t)),
}
#: What Batsim 5 has no words for.
UNSAYABLE_EVENTS = {e.JobMessage: e.JobMessage(1.0, "w0!a", 3), e.EnergyAnswer: e.EnergyAnswer(1.0, 3.0)}

DECISIONS: dict[type, Any] = {
    d.Execute: lambda t: (
        st.builds(
            d.Execute,
            st.just(t),
            JOB_IDS,
            HOSTS | st.just(Allocation.of([1, 4], [2, 1])),
            storage=st.none() | st.just({"pfs": 3}),
            overrides=st.none() | st.dictionaries(NAMES, HOSTS, min_size=1, max_size=2),
        )
        | st.just(d.Execute(t, "w0!m", Allocation.of([2, 5]), {0: 1, 1: 0, 2: 1}))
    ),
    d.Reject: lambda t: st.builds(d.Reject, st.just(t), JOB_IDS),
    d.Kill: lambda t: st.builds(d.Kill, st.just(t), st.lists(JOB_IDS, min_size=1, max_size=3)),
    d.CallMeLater: lambda t: st.builds(
        d.CallMeLater, st.just(t), st.integers(1, 10**6).map(lambda ms: (math.floor(t * 1000) + ms) / 1000), NAMES
    ),
    d.RegisterProfile: lambda t: st.builds(d.RegisterProfile, st.just(t), st.just("dyn"), NAMES, DECORATED),
    d.RegisterJob: lambda t: st.builds(
        lambda job: d.RegisterJob(t, msgspec.structs.replace(job, submission=t)), jobs()
    ),
    d.SetResourceState: lambda t: st.builds(
        d.SetResourceState, st.just(t), HOSTS, st.sampled_from(["0", "7"]), st.booleans()
    ),
    d.CallEvery: lambda t: st.builds(d.CallEvery, st.just(t), NAMES, PERIODS, COUNTS),
    d.StopCalls: lambda t: st.builds(d.StopCalls, st.just(t), NAMES),
    d.CreateProbe: lambda t: st.builds(
        d.CreateProbe, st.just(t), NAMES, HOSTS, PERIODS, COUNTS, st.sampled_from(["", "sum", "mean"])
    ),
    d.StopProbe: lambda t: st.builds(d.StopProbe, st.just(t), NAMES),
    d.FinishRegistration: lambda t: st.builds(d.FinishRegistration, st.just(t)),
    d.StopSimulation: lambda t: st.builds(d.StopSimulation, st.just(t)),
}
UNSAYABLE_DECISIONS = {
    d.QueryEnergy: d.QueryEnergy(1.0),
    d.SetMetadata: d.SetMetadata(1.0, "w0!a", "text"),
    d.SendMessage: d.SendMessage(1.0, "w0!a", "text"),
    d.ChangeState: d.ChangeState(1.0, "w0!a", "RUNNING"),
    d.ContinueRegistration: d.ContinueRegistration(1.0),
}


def test_every_event_and_decision_is_said_or_refused() -> None:
    assert set(EVENTS) | set(UNSAYABLE_EVENTS) | {e.SimulationBegins} == set(e.Event.__subclasses__())
    assert set(DECISIONS) | set(UNSAYABLE_DECISIONS) == set(d.Decision.__subclasses__())


def same(a: Any, b: Any) -> bool:
    """Compare what was said and what was read: jobs by what they hold."""
    if isinstance(a, Job):
        fields = ("id", "units", "submission", "walltime", "profile", "request", "user", "extra")
        return all(same(getattr(a, name), getattr(b, name)) for name in fields)
    if isinstance(a, msgspec.Struct):
        return type(a) is type(b) and all(same(getattr(a, name), getattr(b, name)) for name in a.__struct_fields__)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
    return bool(a == b)


@given(st.data())
def test_messages_read_back(data: st.DataObject) -> None:
    time = data.draw(TIMES)
    said = [data.draw(EVENTS[kind](time)) for kind in data.draw(st.lists(st.sampled_from(list(EVENTS)), max_size=4))]
    message = Message(time, said)
    wire = Batsim5()
    frame = wire.encode_message(message)
    again = wire.decode_message(frame)
    assert again.now == message.now
    for before, after in zip(said, again.events, strict=True):
        assert same(before, after), (before, after)
    assert wire.encode_message(again) == frame


def test_an_event_that_batsim_5_stamps_too_early_has_the_time_of_the_next_or_of_its_frame() -> None:
    """As rc2 does it with external events and states of hosts."""
    hosts = Allocation.parse("0")
    said = [
        e.MachinesUnavailable(2.0, hosts),
        e.ResourceStateChanged(2.0, hosts, "3", True),
        e.RequestedCall(10.0, "1"),
        e.Notified(10.0, "rain", {}),
    ]
    again = Batsim5().decode_message(Batsim5().encode_message(Message(12.5, said)))
    assert [event.time for event in again.events] == [10.0, 10.0, 10.0, 12.5]


def test_times_are_put_on_the_microsecond_and_no_reply_is_of_a_time_before_its_message() -> None:
    wire = Batsim5()
    for said, read in ((111.850000001, 111.85), (1089096.987999999197, 1089096.988)):
        message = wire.decode_message(wire.encode_message(Message(said, [e.RequestedCall(said, "1")])))
        assert (message.now, message.events[0].time) == (read, read)
        reply = json.loads(wire.encode_reply(Reply(message.now, [d.Reject(message.now, "w0!a")]))[:-1])
        assert reply["now"] == reply["events"][0]["timestamp"] == max(said, read)


def test_a_profile_that_batsim_5_would_take_for_another_workloads_is_not_registered() -> None:
    said = d.RegisterProfile(0.0, "w0", "rest of w0!6", {"type": "delay", "delay": 1.0})
    with pytest.raises(ImpossibleDecision, match="takes what stands before a '!' for a workload"):
        Batsim5().encode_reply(Reply(0.0, [said]))


@given(st.data())
def test_replies_read_back(data: st.DataObject) -> None:
    times = sorted(data.draw(st.lists(TIMES, max_size=4)))
    said = [data.draw(DECISIONS[data.draw(st.sampled_from(list(DECISIONS)))](time)) for time in times]
    wire = Batsim5()
    frame = wire.encode_reply(Reply(times[-1] if times else 0.0, said))
    again = wire.decode_reply(frame)
    for before, after in zip(said, again.decisions, strict=True):
        assert same(before, after), (before, after)
    assert wire.encode_reply(again) == frame


@pytest.mark.parametrize("event", UNSAYABLE_EVENTS.values(), ids=lambda event: type(event).__name__)
def test_events_that_batsim_5_lacks_are_refused(event: e.Event) -> None:
    with pytest.raises(SimulationError, match=r"Batsim 5 (has no|answers no)"):
        Batsim5().encode_message(Message(1.0, [event]))


@pytest.mark.parametrize("decision", UNSAYABLE_DECISIONS.values(), ids=lambda decision: type(decision).__name__)
def test_decisions_that_batsim_5_lacks_are_refused(decision: d.Decision) -> None:
    with pytest.raises(ImpossibleDecision, match=r"at 1.000000 s: .*Batsim 5 has nothing of the kind"):
        Batsim5().encode_reply(Reply(1.0, [decision]))


@pytest.mark.parametrize(
    ("decision", "expected"),
    [
        (
            d.Execute(1.0, "w0!a", Allocation.of([0]), io_job=IoJob(Allocation.of([1]), "io")),
            "job w0!a: Batsim 5 has no I/O jobs beside a job",
        ),
        (d.RegisterProfile(1.0, "w0", "p", {"type": "send", "msg": 1}), "profile w0!p: Batsim 5 has no messages"),
        (d.RegisterProfile(1.0, "w0", "p", {"type": "delay", "delay": 1, "ret": 2}), "w0!p: .*no return codes"),
        (
            d.RegisterProfile(1.0, "w0", "p", {"type": "parallel_homogeneous_total", "cpu": 1, "com": 2}),
            "profile w0!p: Batsim 5 spreads 'com' over the pairs",
        ),
        (d.RegisterProfile(1.0, "w0", "p", {"type": "delay", "delay": math.inf}), "inf"),
        (d.CallMeLater(1.0, 1.0), "a call at 1.0 s was asked for at 1.0 s"),
        (d.CallMeLater(1.0, math.inf), "a call at inf"),
        (d.Reject(2.0, "w0!a"), "times must ascend"),
        (d.SetResourceState(1.0, Allocation.of([0]), "fast"), "fast"),
    ],
)
def test_decisions_that_cannot_be_said(decision: d.Decision, expected: str) -> None:
    with pytest.raises(ImpossibleDecision, match=expected):
        Batsim5().encode_reply(Reply(1.0, [decision]))


@pytest.mark.parametrize(
    ("at", "when"),
    [
        (20.0, {"time": 20}),
        (7.5, {"time": 7500, "time_unit": "Millisecond"}),
        (7.5000004, {"time": 7501, "time_unit": "Millisecond"}),
        (0.1 + 0.2, {"time": 300, "time_unit": "Millisecond"}),
    ],
)
def test_calls_are_in_whole_units_and_never_early(at: float, when: dict[str, Any]) -> None:
    frame = json.loads(Batsim5().encode_reply(Reply(0.0, [d.CallMeLater(0.0, at)]))[:-1])
    assert frame["events"][0]["event"]["when"] == when


def test_calls_without_a_name_get_different_ones() -> None:
    wire = Batsim5()
    frames = [wire.encode_reply(Reply(0.0, [d.CallMeLater(0.0, 5.0), d.CallMeLater(0.0, 5.0)])) for _ in range(2)]
    names = [event["event"]["call_me_later_id"] for frame in frames for event in json.loads(frame[:-1])["events"]]
    assert len(set(names)) == 4


def begins(profiles: dict[str, Any]) -> Message:
    machine = Machine([Host(id=0, name="a", speed=2e9, properties={"k": "v"}), Host(id=1, name="s", storage=True)])
    return Message(0.0, [e.SimulationBegins(0.0, machine, {}, {"w0": "w.json"}, {"w0": profiles})])


def opened(**features: bool) -> tuple[Batsim5, Batsim5]:
    """Both ends of an exchange after the handshake."""
    simulator, scheduler = Batsim5(), Batsim5()
    frame = simulator.opening("hello")
    assert frame is not None
    answer = scheduler.answer_opening(frame, Features(**features))
    assert answer is not None
    assert simulator.read_answer(answer) == Features(**features)
    assert scheduler.answer_opening(frame, Features()) is None
    return simulator, scheduler


@pytest.mark.parametrize("asked", [False, True])
def test_profiles_are_forwarded_to_those_who_asked(asked: bool) -> None:
    profiles = {"d": {"type": "delay", "delay": 2.0}, "c": {"type": "composed", "repeat": 1, "seq": ["d", "d"]}}
    simulator, scheduler = opened(forward_profiles_on_simulation_begins=asked, dynamic_registration=asked)
    (event,) = scheduler.decode_message(simulator.encode_message(begins(profiles))).events
    assert isinstance(event, e.SimulationBegins)
    assert event.profiles == {"w0": profiles if asked else {}}
    assert event.config["dynamic-jobs-enabled"] is asked
    assert [(host.name, host.speed, host.storage) for host in event.machine.hosts] == [
        ("a", 2e9, False),
        ("s", 0.0, True),
    ]
    assert event.machine.hosts[0].properties == {"k": "v"}


@pytest.mark.parametrize("asked", [False, True])
def test_progress_counts_tasks_across_repetitions_where_the_profile_is_known(asked: bool) -> None:
    profiles = {"c": {"type": "composed", "repeat": 3, "seq": ["d", "d"]}, "d": {"type": "delay", "delay": 2.0}}
    simulator, scheduler = opened(
        forward_profiles_on_simulation_begins=asked, forward_profiles_on_jobs_killed=not asked
    )
    scheduler.decode_message(simulator.encode_message(begins(profiles)))
    # As our engine states it: the fourth task is the second one of the second repetition.
    progress = {
        "profile_name": "c",
        "current_task_index": 3,
        "current_task": {"profile_name": "d", "progress": 0.5},
    }
    frame = simulator.encode_message(Message(1.0, [e.JobsKilled(1.0, ["w0!a"], {"w0!a": progress})]))
    written = json.loads(frame[:-1])["events"][0]["event"]
    inner = written["progresses"][0]["wrapper"]["kill_progress"]
    assert (inner["current_repetition"], inner["current_task_index"]) == (1, 1)
    assert [profile["id"] for profile in written["profiles"]] == ([] if asked else ["w0!c"])
    (event,) = scheduler.decode_message(frame).events
    assert isinstance(event, e.JobsKilled)
    assert event.progress["w0!a"] == {"current_repetition": 1, **progress}


def test_the_handshake_of_the_pre_releases() -> None:
    wire = Batsim5()
    init = b"\x02\0\0\0\x03\0\0\0abc"
    assert wire.answer_opening(init, Features()) == b""
    greeting = b'{"now": 0.0, "events": [{"timestamp": 0.0, "event_type": "BatsimHelloEvent", "event": {}}]}\0'
    answer = wire.answer_opening(greeting, Features(profile_reuse=True))
    assert answer is not None
    (event,) = json.loads(answer.rstrip(b"\0"))["events"]
    assert event["event_type"] == "EDCHelloEvent"
    assert event["event"]["requested_simulation_features"] == {"profile_reuse": True}
    assert wire.answer_opening(greeting, Features()) is None


def test_a_profile_of_another_workload_keeps_its_full_name() -> None:
    wire = Batsim5()
    job = Job(id="dyn!a", request=Request(units=1), profile="w0!p")
    frame = wire.encode_reply(Reply(0.0, [d.RegisterJob(0.0, job)]))
    assert json.loads(frame[:-1])["events"][0]["event"]["job"]["profile_id"] == "w0!p"
    (decision,) = wire.decode_reply(frame).decisions
    assert isinstance(decision, d.RegisterJob)
    assert decision.job.profile == "w0!p"


def test_profiles_that_leave_out_what_is_zero() -> None:
    text = Path(__file__).parents[1] / "conformance" / "recordings" / "batsim5" / "delays_forward" / "exchange.jsonl"
    lines = [json.loads(line) for line in text.read_text().splitlines()]
    compute = next(p for p in json.loads(lines[2]["raw"])["events"][0]["event"]["profiles"] if p["id"] == "w0!compute")
    assert "communication_matrix" not in compute["profile"]
    only = {"id": "w0!c", "profile_type": "ParallelTaskProfile", "profile": {"communication_matrix": [0, 1, 1, 0]}}
    event = {"timestamp": 0, "event_type": "RegisterProfileEvent", "event": {"profile": only}}
    (decision,) = Batsim5().decode_reply(json.dumps({"now": 0, "events": [event]}).encode()).decisions
    assert isinstance(decision, d.RegisterProfile)
    assert decision.profile == {"type": "parallel", "cpu": [0.0, 0.0], "com": [0, 1, 1, 0]}
