"""Whatever messages and replies can say survives the wire, to a microsecond in messages and exactly in replies."""

import json
import math
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.batsim import v4
from batdispatch.core.errors import ImpossibleDecision, InputError
from batdispatch.core.hosts.allocation import Allocation, IoJob
from batdispatch.core.jobs.fields import read_request
from batdispatch.core.jobs.job import FINAL_STATES, Job, JobState
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.core.line.messages import Message, Reply
from batdispatch.core.machine.machine import Host, Machine

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
ids = st.builds(lambda workload, job: f"{workload}!{job}", names.filter(lambda n: "!" not in n), names)
# Whole microseconds: what Batsim's clock can show.
times = st.integers(0, 10**12).map(lambda micro: micro / 1e6)
scalars = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | times | names
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3))
objects = st.dictionaries(names, values, max_size=4)
host_lists = st.lists(st.integers(0, 2000), min_size=1, max_size=30, unique=True)
hosts = host_lists.map(Allocation.of)
crowded = host_lists.flatmap(
    lambda listed: st.lists(st.integers(1, 4), min_size=len(listed), max_size=len(listed)).map(
        lambda counts: Allocation.of(listed, counts)
    )
)


#: Fields that say what a job asks for; only `demand` is drawn here.
REQUEST = [
    "demand",
    "per_node",
    "nodes",
    "units_per_node",
    "whole_nodes",
    "node_list",
    "exclude_nodes",
    "contiguous",
    "licences",
    "io_node",
    "sizes",
    "dependencies",
]
#: Names of resources: no space, comma, equals sign or bracket.
resources = names.filter(lambda name: not any(mark.isspace() or mark in ",=[]" for mark in name))


@st.composite
def jobs(draw: st.DrawFn) -> Job:
    own = ("id", "subtime", "res", "profile", "walltime", "user", "parent", *REQUEST)
    extra = {name: value for name, value in draw(objects).items() if name not in own}
    user = draw(st.just("") | names)
    demand = draw(st.none() | st.dictionaries(resources, st.integers(0, 2**40), max_size=3))
    if user:
        extra["user"] = user
    if demand is not None:
        extra["demand"] = demand
    walltime = draw(st.just(math.inf) | times.filter(bool))
    return Job(
        id=draw(ids),
        request=read_request(draw(st.integers(1, 2**31 - 1)), extra),
        submission=draw(times),
        walltime=walltime,
        profile=draw(names),
        user=user,
        extra=extra,
    )


@st.composite
def machines(draw: st.DrawFn) -> Machine:
    count = draw(st.integers(1, 6))
    properties = st.dictionaries(names.filter(lambda n: n not in ("capacity", "coordinates")), names, max_size=2)
    capacity = draw(st.none() | st.just("core=16 gpu=2"))
    listed = []
    for index in range(count):
        own = draw(properties)
        if capacity is not None:
            own["capacity"] = capacity
        listed.append(Host(id=index, name=draw(names), properties=own, storage=index > 0 and draw(st.booleans())))
    return Machine(listed)


progress = st.recursive(
    st.fixed_dictionaries({"profile_name": names, "progress": st.sampled_from([0.0, 0.25, 1.0])}),
    lambda inner: st.fixed_dictionaries(
        {"profile_name": names, "current_task_index": st.integers(0, 99), "current_task": inner}
    ),
    max_leaves=3,
)
kinds = names.filter(lambda n: not n.startswith(("no_more_", "event_machine_")))
kills = st.dictionaries(ids, progress, max_size=3)

#: Event type -> its fields beyond the time.
EVENTS: dict[type[e.Event], list[st.SearchStrategy[Any]]] = {
    e.SimulationBegins: [
        machines(),
        objects.map(lambda config: {"allow_compute_sharing": True, "allow_storage_sharing": False} | config),
        st.dictionaries(names, names, max_size=2),
        st.dictionaries(names, st.dictionaries(names, objects, max_size=2), max_size=2),
    ],
    e.JobSubmitted: [jobs(), st.none() | objects],
    e.JobCompleted: [
        ids,
        st.sampled_from(FINAL_STATES),
        st.integers(-(2**31), 2**31 - 1),
        st.none() | hosts,
    ],
    e.JobsKilled: [],
    e.ResourceStateChanged: [hosts, names],
    e.RequestedCall: [],
    e.JobMessage: [ids, values],
    e.EnergyAnswer: [times],
    e.MachinesUnavailable: [hosts],
    e.MachinesAvailable: [hosts],
    e.NoMoreStaticJobs: [],
    e.NoMoreExternalEvents: [],
    e.Notified: [],
    e.SimulationEnds: [],
}
killed = st.builds(lambda time, done: e.JobsKilled(time, list(done), done), times, kills)
notified = st.builds(lambda time, kind, data: e.Notified(time, kind, {**data, "type": kind}), times, kinds, objects)
SPECIAL = {e.JobsKilled: killed, e.Notified: notified}
events = st.one_of([SPECIAL.get(kind, st.builds(kind, times, *fields)) for kind, fields in EVENTS.items()])

#: What only Batsim 5 knows.
OF_BATSIM5 = {
    type(decision): decision
    for decision in (
        d.StopSimulation(1.0),
        d.CallEvery(1.0, "a", 5.0),
        d.StopCalls(1.0, "a"),
        d.CreateProbe(1.0, "a", Allocation.of([0]), 5.0),
        d.StopProbe(1.0, "a"),
    )
}
#: Decision type -> its fields beyond the time.
DECISIONS: dict[type[d.Decision], list[st.SearchStrategy[Any]]] = {
    d.Execute: [],
    d.Reject: [ids],
    d.Kill: [st.lists(ids, max_size=3)],
    d.CallMeLater: [],
    d.RegisterProfile: [names, names, objects],
    d.RegisterJob: [jobs()],
    d.SetResourceState: [hosts, st.integers(0, 99).map(str)],
    d.QueryEnergy: [],
    d.SetMetadata: [ids, names.filter(lambda n: '"' not in n)],
    d.SendMessage: [ids, names],
    d.ChangeState: [ids, st.sampled_from(list(JobState)).map(str)],
    d.FinishRegistration: [],
    d.ContinueRegistration: [],
}
io_jobs = st.builds(IoJob, hosts, names, st.none() | objects)
executes = st.one_of(
    st.builds(d.Execute, times, ids, crowded),
    st.builds(
        lambda time, job, listed, order: d.Execute(
            time, job, Allocation.of(listed), {i: order[i % len(order)] % len(listed) for i in range(len(listed))}
        ),
        times,
        ids,
        host_lists,
        st.lists(st.integers(0, 100), min_size=1, max_size=9),
    ),
    st.builds(d.Execute, times, ids, hosts, st.none(), st.dictionaries(names, st.integers(0, 2**31 - 1), max_size=2)),
    st.builds(d.Execute, times, ids, hosts, st.none(), st.none(), io_jobs),
)
calls = st.builds(lambda time, wait: d.CallMeLater(time, time + wait), times, times.filter(bool))
CHOSEN = {d.Execute: executes, d.CallMeLater: calls}
decisions = st.one_of([CHOSEN.get(kind, st.builds(kind, times, *fields)) for kind, fields in DECISIONS.items()])


def comparable(value: Any) -> Any:
    """Jobs and machines compare by identity; the wire keeps numbers to a microsecond."""
    if isinstance(value, Job):
        return {name: comparable(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, Machine):
        # Batsim lists compute hosts before storage hosts, each in order of id.
        return [msgspec.structs.asdict(host) for host in value.hosts]
    if isinstance(value, msgspec.Struct):
        return type(value), {name: comparable(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, float):
        return "nan" if math.isnan(value) else round(value, 6)
    if isinstance(value, dict):
        return {name: comparable(part) for name, part in value.items()}
    return [comparable(part) for part in value] if isinstance(value, list | tuple) else value


def test_every_event_and_decision_has_a_strategy() -> None:
    assert set(EVENTS) == set(e.Event.__subclasses__()) - {e.ProbeData}
    assert set(DECISIONS) == set(d.Decision.__subclasses__()) - set(OF_BATSIM5)


@pytest.mark.parametrize("kind", OF_BATSIM5)
def test_what_batsim_4_lacks_is_refused_in_words(kind: type[d.Decision]) -> None:
    with pytest.raises(ImpossibleDecision, match=r"Batsim 4 (has no|cannot)"):
        v4.encode_reply(Reply(1.0, [OF_BATSIM5[kind]]))


@settings(max_examples=100)
@given(st.lists(events, max_size=4), times)
def test_messages_survive(listed: list[e.Event], later: float) -> None:
    listed.sort(key=lambda event: event.time)
    message = Message((listed[-1].time if listed else 0.0) + later, listed)
    frame = v4.encode_message(message)
    again = v4.decode_message(frame)
    assert comparable(again) == comparable(message)
    assert v4.encode_message(v4.decode_message(frame)) == v4.encode_message(message)
    assert json.loads(frame)["now"] == round(message.now, 6)


@settings(max_examples=100)
@given(st.lists(decisions, max_size=4), times)
def test_replies_survive(listed: list[d.Decision], later: float) -> None:
    listed.sort(key=lambda decision: decision.time)
    reply = Reply((listed[-1].time if listed else 0.0) + later, listed)
    frame = v4.encode_reply(reply)
    again = v4.decode_reply(frame)
    assert comparable(again) == comparable(reply)
    assert v4.encode_reply(again) == frame
    # Exact, not to a microsecond: a reply's times are compared with the message's.
    assert [one.time for one in again.decisions] == [one.time for one in listed]
    json.loads(frame)


def refused(decode: Callable[[bytes], object], data: bytes) -> bool:
    """Whether a frame is refused as wrong input; any other exception fails the test."""
    try:
        decode(data)
    except InputError:
        return True
    return False


@settings(max_examples=100)
@given(st.binary(max_size=200) | values.map(lambda value: json.dumps(value).encode()))
def test_garbage_is_refused(data: bytes) -> None:
    assert refused(v4.decode_message, data)
    assert refused(v4.decode_reply, data)
