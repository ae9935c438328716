"""Malformed frames of Batsim 5's protocol, each with one readable error: which event, which field, found, expected."""

import contextlib
import json
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.batsim import Features
from batdispatch.batsim.v5.exchange import Batsim5
from batdispatch.core.errors import InputError, SimulationError

JOB = {"resource_request": 1, "walltime": 60.0, "extra_data": "", "rigid": True, "profile_id": "w0!d10"}
HOST = {"id": 0, "name": "a", "computation_speed": [1e9]}
BEGINS: dict[str, Any] = {"host_number": 1, "computation_host_number": 1, "computation_hosts": [HOST]}
ATOMIC = {"kill_progress_type": "KillProgressAtomicProfile", "kill_progress": {"profile_id": "w0!d", "progress": 0.5}}
ALLOCATION = {
    "host_allocation": "0-1",
    "executor_placement_type": "PredefinedExecutorPlacementStrategyWrapper",
    "executor_placement": {"strategy": "SpreadOverHostsFirst"},
}


def frame(kind: str, event: Any, **more: Any) -> bytes:
    return json.dumps({"now": 5.0, "events": [{"timestamp": 5.0, "event_type": kind, "event": event, **more}]}).encode()


def begins(**more: Any) -> bytes:
    return frame("SimulationBeginsEvent", {**BEGINS, **more})


def submitted(job_id: str = "w0!a", **job: Any) -> bytes:
    return frame("JobSubmittedEvent", {"job_id": job_id, "job": {**JOB, **job}})


def killed(wrapper: Any, job_id: str = "w0!a") -> bytes:
    return frame("JobsKilledEvent", {"job_ids": ["w0!a"], "progresses": [{"job_id": job_id, "wrapper": wrapper}]})


def sequential(**more: Any) -> dict[str, Any]:
    data = {"profile_id": "w0!s", "current_repetition": 0, "current_task_index": 0, "current_task_progress": ATOMIC}
    return {"kill_progress_type": "KillProgressSequentialProfile", "kill_progress": {**data, **more}}


def nested(depth: int) -> dict[str, Any]:
    wrapper: dict[str, Any] = ATOMIC
    for _ in range(depth):
        wrapper = sequential(current_task_progress=wrapper)
    return wrapper


def registered(profile: Any, kind: str = "DelayProfile", name: str = "w0!p", **more: Any) -> bytes:
    data = {"id": name, "profile_type": kind, "profile": profile, **more}
    return frame("RegisterProfileEvent", {"profile": data})


def execute(**more: Any) -> bytes:
    return frame("ExecuteJobEvent", {"job_id": "w0!a", "allocation": {**ALLOCATION, **more}})


def periodic(**when: Any) -> bytes:
    return frame("CallMeLaterEvent", {"call_me_later_id": "1", "when_type": "Periodic", "when": when})


MESSAGES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "message from Batsim: is empty"),
    "only the end mark": (b"\0", "is empty"),
    "binary": (b"\x10\0\0\0\x1c\0", "is not JSON; batprotocol's binary form is not supported"),
    "cut": (begins()[:-3], "truncated"),
    "array": (b"[1]", "is not JSON"),
    "events missing": (b'{"now": 1}', "field events is missing"),
    "now a text": (b'{"now": "1", "events": []}', "now: found '1'"),
    "not UTF-8": (begins().replace(b'"a"', b'"\xff"'), "UTF-8"),
    "deep": (b'{"x": ' * 100_000, "nested too deeply"),
    "unknown event": (frame("FooEvent", {}), "event 0 (FooEvent), field event_type: unknown event type, expected one"),
    "event of a scheduler": (frame("RejectJobEvent", {"job_id": "w0!a"}), "unknown event type"),
    "no type": (b'{"now": 1, "events": [{"timestamp": 0}]}', "event 0: field event_type is missing"),
    "in the future": (frame("SimulationEndsEvent", {}, timestamp=6.0), "field timestamp: found 6.0, expected from 0"),
    "negative time": (frame("SimulationEndsEvent", {}, timestamp=-1.0), "timestamp"),
    "hello too late": (frame("BatsimHelloEvent", {}), "expected it only at the beginning of an exchange"),
    "probe without hosts": (frame("ProbeDataEmittedEvent", {"probe_id": "p"}), "field resources is missing"),
    "joules of other hosts": (
        frame("ProbeDataEmittedEvent", {"probe_id": "p", "resources": {"host_ids": "0-1"}, "data": {"data": [1.0]}}),
        "event.data.data: found an array of 1 elements, expected 2 numbers",
    ),
    "hosts miscounted": (begins(computation_host_number=2), "found 2, expected 1, the number of hosts listed"),
    "sum of hosts": (begins(host_number=3), "event.host_number: found 3"),
    "host ids with holes": (begins(computation_hosts=[{**HOST, "id": 4}]), "host ids must be 0, 1, 2"),
    "host without a name": (begins(computation_hosts=[{"id": 0}]), "field name is missing"),
    "capacity": (
        begins(computation_hosts=[{**HOST, "properties": [{"key": "capacity", "value": "x="}]}]),
        "capacity 'x='",
    ),
    "profile without a workload": (
        begins(profiles=[{"id": "d", "profile_type": "DelayProfile", "profile": {"delay": 1}}]),
        "event.profiles[0].id: found 'd', expected workload!name",
    ),
    "profile of no type": (
        begins(profiles=[{"id": "w0!d", "profile_type": "delay", "profile": {}}]),
        "event.profiles[0].profile_type: found 'delay'",
    ),
    "job id": (submitted("a"), "event.job_id: found 'a', expected workload!name"),
    "job id empty": (submitted(""), "job_id"),
    "no units": (submitted(resource_request=0), "resource_request: found 0, expected a whole number from 1"),
    "units a fraction": (submitted(resource_request=1.5), "resource_request"),
    "walltime": (submitted(walltime=-3), "walltime: found -3.0"),
    "demand": (submitted(extra_data='{"demand": [1]}'), "extra_data.demand: found an array of 1 elements"),
    "user": (submitted(extra_data='{"user": [1]}'), "extra_data.user"),
    "deep extra data": (submitted(extra_data='{"a":' * 100_000), "extra_data"),
    "unknown state": (frame("JobCompletedEvent", {"job_id": "w0!a", "state": "GONE"}), "state"),
    "return code": (
        frame("JobCompletedEvent", {"job_id": "w0!a", "return_code": 2**33}),
        "return_code: found 8589934592, expected 32 bits",
    ),
    "progress of another job": (killed(ATOMIC, "w0!b"), "found 'w0!b', expected one of event.job_ids"),
    "progress without a profile": (
        killed({"kill_progress_type": "KillProgressAtomicProfile", "kill_progress": {}}),
        "wrapper.kill_progress.profile_id",
    ),
    "progress beyond 1": (
        killed({**ATOMIC, "kill_progress": {"profile_id": "w0!d", "progress": 1.5}}),
        "kill_progress.progress: found 1.5, expected a number from 0 to 1",
    ),
    "no progress": (killed({}), "wrapper.kill_progress"),
    "index": (killed(sequential(current_task_index=-1)), "current_task_index: found -1"),
    "task missing": (killed(sequential(current_task_progress=None)), "current_task_progress.kill_progress"),
    "nested tasks": (killed(nested(150)), "at most 100 nested tasks"),
    "hosts of a state": (frame("HostsPStateChangedEvent", {"host_ids": "x"}), "event.host_ids: found 'x'"),
    "external event": (
        frame("ExternalEventOccurredEvent", {"external_event": {"data": 3}}),
        "external_event.data: found 3, expected a text",
    ),
    "availability without hosts": (
        frame("ExternalEventOccurredEvent", {"external_event": {"data": '{"type": "machine_available"}'}}),
        "a text 'resources'",
    ),
}

REPLIES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "reply of the scheduler: is empty"),
    "unknown event": (frame("FooEvent", {}), "unknown event type"),
    "hello": (
        frame(
            "EDCHelloEvent",
            {
                "batprotocol_version": "",
                "decision_component_name": "",
                "decision_component_version": "",
                "decision_component_commit": "",
                "requested_simulation_features": {},
            },
        ),
        "expected it only in the handshake",
    ),
    "probe": (frame("CreateProbeEvent", {"probe_id": "p"}), "field metrics is missing"),
    "probe of another metric": (
        frame("CreateProbeEvent", {"probe_id": "p", "metrics": "Load"}),
        "event 0 (CreateProbeEvent), field event.metrics: found 'Load', expected 'Power'",
    ),
    "sum of another kind": (
        frame(
            "CreateProbeEvent",
            {"probe_id": "p", "metrics": "Power", "resources_type": "HostResources", "resources": {"host_ids": "0"}}
            | {"data_accumulation_strategy_type": "ProbeDataAccumulation"}
            | {"data_accumulation_strategy": {"reset_mode_type": "ResetWithValue"}},
        ),
        "field event.data_accumulation_strategy.reset_mode_type: found 'ResetWithValue', expected 'NoReset'",
    ),
    "stopped probe": (frame("StopProbeEvent", {}), "field probe_id is missing"),
    "triggered probe": (frame("TriggerProbeEvent", {}), "Batsim 5.0.0-rc2 aborts on it"),
    "reset probe": (frame("ResetProbeEvent", {}), "Batsim 5.0.0-rc2 aborts on it"),
    "no hosts": (execute(host_allocation=""), "host_allocation: found '', expected at least one host"),
    "strategy": (execute(executor_placement={"strategy": "Random"}), "strategy"),
    "placement": (execute(executor_placement_type="Mine"), "executor_placement_type"),
    "mapping outside": (
        execute(executor_placement_type="CustomExecutorToHostMapping", executor_placement={"mapping": [0, 2]}),
        "mapping: found 2, expected from 0 to 1",
    ),
    "mapping missing": (execute(executor_placement_type="CustomExecutorToHostMapping"), "mapping: found nothing"),
    "a field beyond the schema": (execute(colour="red"), "unknown field"),
    "job ids": (frame("KillJobsEvent", {"job_ids": "w0!a"}), "job_ids"),
    "call without a period": (periodic(), "event.when.period: found 0, expected at least 1"),
    "calls with an offset": (periodic(period=3, offset=1), "offset"),
    "no call at all": (
        periodic(period=3, mode_type="FinitePeriodNumber"),
        "event.when.mode.nb_periods: found 0, expected at least 1",
    ),
    "stopped call": (frame("StopCallMeLaterEvent", {}), "field call_me_later_id is missing"),
    "unit of a call": (
        frame("CallMeLaterEvent", {"call_me_later_id": "1", "when_type": "OneShot", "when": {"time_unit": "Year"}}),
        "time_unit",
    ),
    "profile's delay": (registered({}), "profile.profile.delay"),
    "profile's id": (registered({"delay": 1}, name="p"), "expected workload!name"),
    "profile's list": (registered({"profile_ids": "x"}, "SequentialCompositionProfile"), "expected an array"),
    "profile's parts": (registered({"profile_ids": [3]}, "SequentialCompositionProfile"), "ids of profiles"),
    "profile's matrix": (
        registered({"computation_vector": [1.0], "communication_matrix": [1.0, 2.0]}, "ParallelTaskProfile"),
        "expected 1 x 1 amounts",
    ),
    "profile's size": (registered({"computation_vector": [1.0] * 5000}, "ParallelTaskProfile"), "at most 4096"),
    "field twice": (registered({"delay": 1}, extra_data='{"delay": 2}'), "no field that the profile itself has"),
    "on or off": (frame("TurnOnOffHostsEvent", {"host_ids": "0", "state": "off"}), "state"),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_wrong_messages(name: str) -> None:
    data, expected = MESSAGES[name]
    with pytest.raises(InputError) as caught:
        Batsim5().decode_message(data)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 700


@pytest.mark.parametrize("name", REPLIES)
def test_wrong_replies(name: str) -> None:
    data, expected = REPLIES[name]
    with pytest.raises(InputError) as caught:
        Batsim5().decode_reply(data)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_error_of_the_simulation_is_passed_on() -> None:
    with pytest.raises(SimulationError, match=r"at 5\.000000 s: Batsim reports an error: no such host"):
        Batsim5().decode_message(frame("SimulationErrorEvent", {"error": "no such host"}))


def test_fields_that_are_not_known_are_tolerated() -> None:
    message = Batsim5().decode_message(begins(colour="red", storage_hosts=[]))
    assert len(message.events) == 1


FLAGS = struct.Struct("<I")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (b"", "has 0 bytes, expected flags and an EDCHelloEvent"),
        (FLAGS.pack(1) + b"\x10\0", "the binary form of batprotocol (flatbuffers) is not supported"),
        (FLAGS.pack(7) + b"{}", "found flags 7, expected 2 (JSON)"),
        (FLAGS.pack(2) + b"{}\0", "field events is missing"),
        (FLAGS.pack(2) + b'{"now": 0, "events": []}\0', "holds other events, expected one EDCHelloEvent"),
        (FLAGS.pack(2) + frame("RejectJobEvent", {"job_id": "a"}), "expected one EDCHelloEvent"),
        (FLAGS.pack(2) + frame("EDCHelloEvent", {}), "field batprotocol_version is missing"),
        (
            FLAGS.pack(2)
            + frame(
                "EDCHelloEvent",
                {
                    "batprotocol_version": "",
                    "decision_component_name": "",
                    "decision_component_version": "",
                    "decision_component_commit": "",
                    "requested_simulation_features": {"profile_reuse": "yes"},
                },
            ),
            "requested_simulation_features: Expected bool, got str",
        ),
    ],
)
def test_wrong_answers_to_the_handshake(answer: bytes, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        Batsim5().read_answer(answer)
    assert expected in str(caught.value)
    assert "handshake of the scheduler" in str(caught.value)


def test_a_simulator_that_speaks_binary_is_told_so() -> None:
    with pytest.raises(InputError, match="handshake of Batsim: the binary form of batprotocol"):
        Batsim5().answer_opening(FLAGS.pack(1) + FLAGS.pack(3) + b"abc", Features())


@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for read in (Batsim5().decode_message, Batsim5().decode_reply, Batsim5().read_answer):
        with contextlib.suppress(InputError, SimulationError):
            read(data)
    with contextlib.suppress(InputError):
        Batsim5().answer_opening(data, Features())
    json.dumps(Batsim5().record(data))
