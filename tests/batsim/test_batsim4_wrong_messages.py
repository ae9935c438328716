"""Frames that are wrong, and what is said about each: event, type, field, found, expected."""

import json
import tracemalloc
from typing import Any

import pytest

from batdispatch.batsim import protocol, v4
from batdispatch.core.errors import InputError

JOB = {"id": "w0!1", "subtime": 0, "res": 2, "profile": "p", "walltime": 10}
HOST = {"id": 0, "name": "h", "state": "idle", "properties": {}, "zone_properties": {}}
BEGINS = {
    "nb_resources": 1,
    "nb_compute_resources": 1,
    "nb_storage_resources": 0,
    "allow_compute_sharing": False,
    "allow_storage_sharing": True,
    "config": {},
    "compute_resources": [HOST],
    "storage_resources": [],
    "workloads": {},
    "profiles": {},
}
COMPLETED = {"job_id": "w0!1", "job_state": "COMPLETED_SUCCESSFULLY", "return_code": 0, "alloc": "0"}
EXECUTE = {"job_id": "w0!1", "alloc": "0-1"}


def frame(kind: str, data: Any, *, now: Any = 1.0, timestamp: Any = 1.0) -> bytes:
    # The wrong event comes second, so that its index shows.
    first = {"timestamp": 0.5, "type": "NOTIFY", "data": {"type": "registration_finished"}}
    return json.dumps({"now": now, "events": [first, {"timestamp": timestamp, "type": kind, "data": data}]}).encode()


def begins(**changes: Any) -> bytes:
    return frame("SIMULATION_BEGINS", {**BEGINS, **changes})


def submitted(**changes: Any) -> bytes:
    return frame("JOB_SUBMITTED", {"job_id": "w0!1", "job": {**JOB, **changes}})


def without(kind: str, data: dict[str, Any], field: str) -> bytes:
    return frame(kind, {name: value for name, value in data.items() if name != field})


def killed(progress: Any) -> bytes:
    return frame("JOB_KILLED", {"job_ids": ["w0!1"], "job_progress": {"w0!1": progress}})


def execute(**changes: Any) -> bytes:
    return frame("EXECUTE_JOB", {**EXECUTE, **changes})


def register(**changes: Any) -> bytes:
    return frame("REGISTER_JOB", {"job_id": "w0!1", "job": {**JOB, **changes}})


WRONG_MESSAGES = {
    "empty": (b"", "is empty, expected a JSON object"),
    "blank": (b" \n", "is empty, expected a JSON object"),
    "truncated": (submitted()[:-20], "truncated"),
    "trailing": (submitted() + b"x", "trailing characters"),
    "not JSON": (b"hello", "invalid character"),
    "not UTF-8": (submitted().replace(b"w0!1", b"w0!\xff"), r"is not UTF-8: .* \(byte 0xff\)"),
    "not UTF-8 outside strings": (b"\xfe\xff", "invalid character"),
    "array": (b"[1]", "expected object, got array"),
    "deep array": (b"[" * 100_000, "expected object, got array"),
    "deep object": (b'{"now":' + b'{"a":' * 100_000, "expected float, got object|nested too deeply"),
    "deep job": (submitted(x=0).replace(b'"x": 0', b'"x": ' + b'{"a":' * 100_000), "nested too deeply"),
    "NaN": (b'{"now": NaN, "events": []}', "invalid character"),
    "infinity": (b'{"now": Infinity, "events": []}', "invalid character"),
    "overflow": (b'{"now": 1e999, "events": []}', "now: .*out of range"),
    "no now": (b'{"events": []}', "field now is missing"),
    "no events": (b'{"now": 0}', "field events is missing"),
    "negative now": (b'{"now": -1, "events": []}', "now: found -1, expected float >= 0"),
    "now is text": (b'{"now": "0", "events": []}', "now: found '0', expected float, got str"),
    "events is an object": (b'{"now": 0, "events": {}}', "events: found an object .* expected array"),
    "event is a number": (b'{"now": 0, "events": [3]}', "event 0: found 3, expected object, got int"),
    "no type": (b'{"now": 0, "events": [{"timestamp": 0}]}', "event 0: field type is missing"),
    "type is a number": (b'{"now": 0, "events": [{"timestamp": 0, "type": 3}]}', "event 0, field type: found 3"),
    "unknown type": (frame("FOO", {}), r"event 1 \(FOO\), field type: unknown event type, expected one of SIMULATION"),
    "a scheduler's type": (frame("EXECUTE_JOB", EXECUTE), r"event 1 \(EXECUTE_JOB\), field type: unknown event type"),
    "no timestamp": (
        b'{"now": 0, "events": [{"type": "REQUESTED_CALL"}]}',
        r"event 0 \(REQUESTED_CALL\): field timestamp is missing",
    ),
    "event after now": (
        frame("REQUESTED_CALL", {}, timestamp=2.0),
        r"event 1 \(REQUESTED_CALL\), field timestamp: found 2.0, expected from 0.500000 .* to 1.000000",
    ),
    "events out of order": (frame("REQUESTED_CALL", {}, timestamp=0.25), "field timestamp: found 0.25, expected from"),
    "data is an array": (frame("JOB_SUBMITTED", []), r"\(JOB_SUBMITTED\), field data: found an array"),
    "no data": (b'{"now":0,"events":[{"timestamp":0,"type":"JOB_COMPLETED"}]}', "field data is missing"),
    "no hosts": (begins(nb_resources=0, nb_compute_resources=0, compute_resources=[]), "no compute host"),
    "wrong number of hosts": (begins(nb_compute_resources=2), "nb_compute_resources: found 2, expected 1"),
    "wrong sum of hosts": (begins(nb_resources=5), "nb_resources: found 5, expected the sum"),
    "host ids with holes": (begins(compute_resources=[{**HOST, "id": 7}]), "ids must be 0, 1, 2"),
    "host without name": (begins(compute_resources=[{"id": 0}]), r"compute_resources\[0\]: field name is missing"),
    "host id is text": (
        begins(compute_resources=[{**HOST, "id": "0"}]),
        r"data.compute_resources\[0\].id: found '0', expected int, got str",
    ),
    "host property is a number": (
        begins(compute_resources=[{**HOST, "properties": {"a": 1}}]),
        r"data.compute_resources\[0\].properties\[...\]: expected str, got int",
    ),
    "host capacity malformed": (
        begins(compute_resources=[{**HOST, "properties": {"capacity": "core="}}]),
        r"host h: capacity 'core=': 'core=' is not name=amount",
    ),
    "config is text": (begins(config="x"), "field data.config: found 'x', expected object"),
    "flag is a number": (begins(allow_compute_sharing=1), "data.allow_compute_sharing: found 1, expected bool"),
    "profile is text": (begins(profiles={"w0": {"p": "x"}}), r"data.profiles.*expected object, got str"),
    "no config": (without("SIMULATION_BEGINS", BEGINS, "config"), "field config is missing"),
    "job without res": (
        frame("JOB_SUBMITTED", {"job_id": "w0!1", "job": {"id": "w0!1", "subtime": 0, "profile": "p"}}),
        r"event 1 \(JOB_SUBMITTED\), field data.job.res: found nothing, expected a whole number",
    ),
    "job of no units": (submitted(res=0), "data.job.res: found 0, expected a whole number from 1"),
    "job of half a unit": (submitted(res=1.5), "data.job.res: found 1.5"),
    "job of a truth": (submitted(res=True), "data.job.res: found True"),
    "job of too many units": (submitted(res=2**31), "data.job.res: found 2147483648"),
    "job of a huge number": (
        submitted(res=0).replace(b'"res": 0', b'"res": ' + b"9" * 5000),
        "a number of 5000 digits",
    ),
    "other id in job": (submitted(id="w0!2"), "data.job.id: found 'w0!2', expected 'w0!1'"),
    "short id in job": (submitted(id="1"), "data.job.id: found '1'"),
    "submission is text": (submitted(subtime="0"), "data.job.subtime: found '0', expected a number"),
    "submission before 0": (submitted(subtime=-5), "data.job.subtime: found -5, expected a number of seconds from 0"),
    "no profile": (submitted(profile=None), "data.job.profile: found nothing"),
    "walltime of 0": (submitted(walltime=0), "data.job.walltime: found 0, expected a positive number"),
    "walltime before 0": (submitted(walltime=-2), "data.job.walltime: found -2"),
    "walltime is text": (submitted(walltime="1h"), "data.job.walltime: found '1h'"),
    "demand is a list": (submitted(demand=[4]), "data.job.demand: found an array of 1 elements"),
    "demand below 0": (submitted(demand={"core": -4}), "data.job.demand.core: found -4"),
    "demand of half a core": (submitted(demand={"core": 0.5}), "data.job.demand.core: found 0.5"),
    "user is a list": (submitted(user=["x"]), "data.job.user: found an array"),
    "no job id": (frame("JOB_SUBMITTED", {"job": JOB}), "field job_id is missing"),
    "empty job id": (frame("JOB_COMPLETED", {**COMPLETED, "job_id": ""}), "data.job_id: found '', expected str of len"),
    "unknown job state": (
        frame("JOB_COMPLETED", {**COMPLETED, "job_state": "DONE"}),
        r"event 1 \(JOB_COMPLETED\), field data.job_state: found 'DONE', expected 'SUBMITTED' or 'RUNNING'",
    ),
    "return code is text": (frame("JOB_COMPLETED", {**COMPLETED, "return_code": "0"}), "data.return_code: found '0'"),
    "no return code": (without("JOB_COMPLETED", COMPLETED, "return_code"), "field return_code is missing"),
    "hosts are words": (frame("JOB_COMPLETED", {**COMPLETED, "alloc": "a-b"}), "data.alloc: found 'a-b', expected int"),
    "hosts descend": (frame("JOB_COMPLETED", {**COMPLETED, "alloc": "3-1"}), "data.alloc: found '3-1'"),
    "hosts beyond any machine": (frame("JOB_COMPLETED", {**COMPLETED, "alloc": "0-99999999999"}), "data.alloc: found"),
    "job ids are text": (frame("JOB_KILLED", {"job_ids": "w0!1", "job_progress": {}}), "data.job_ids: found 'w0!1'"),
    "progress of another job": (
        frame("JOB_KILLED", {"job_ids": [], "job_progress": {"w0!1": {}}}),
        "data.job_progress: found 'w0!1', expected only jobs of data.job_ids",
    ),
    "progress without profile": (killed({"progress": 0.5}), "w0!1.profile_name: found nothing"),
    "progress above 1": (killed({"profile_name": "p", "progress": 1.5}), "w0!1.progress: found 1.5, expected a number"),
    "progress without task": (
        killed({"profile_name": "p", "current_task_index": 0}),
        "w0!1.current_task: found nothing",
    ),
    "progress index below 0": (
        killed({"profile_name": "p", "current_task_index": -1, "current_task": {}}),
        "current_task_index: found -1",
    ),
    "no message": (frame("FROM_JOB_MSG", {"job_id": "w0!1"}), "field msg is missing"),
    "no energy": (frame("ANSWER", {}), "field consumed_energy is missing"),
    "no state": (frame("RESOURCE_STATE_CHANGED", {"resources": "0"}), "field state is missing"),
    "notification without kind": (frame("NOTIFY", {}), r"\(NOTIFY\), field data.type: found nothing"),
    "availability without hosts": (frame("NOTIFY", {"type": "event_machine_available"}), "data.resources: found"),
    "availability of words": (
        frame("NOTIFY", {"type": "event_machine_unavailable", "resources": "all"}),
        "data.resources: found 'all'",
    ),
}

WRONG_REPLIES = {
    "empty": (b"", "reply of the scheduler: is empty"),
    "unknown type": (frame("START_JOB", {}), r"event 1 \(START_JOB\), field type: unknown event type, .* EXECUTE_JOB"),
    "unknown notification": (frame("NOTIFY", {"type": "done"}), "expected registration_finished or"),
    "extra key in execute": (execute(host=3), r"\(EXECUTE_JOB\), field data: object contains unknown field host"),
    "extra key in reject": (frame("REJECT_JOB", {"job_id": "w0!1", "reason": "x"}), "unknown field reason"),
    "extra key in kill": (frame("KILL_JOB", {"job_ids": [], "x": 1}), "unknown field x"),
    "extra key in call": (frame("CALL_ME_LATER", {"timestamp": 3, "x": 1}), "unknown field x"),
    "extra key in metadata": (
        frame("SET_JOB_METADATA", {"job_id": "w0!1", "metadata": "m", "x": 1}),
        "unknown field x",
    ),
    "two options": (
        execute(mapping={"0": "0"}, storage_mapping={"a": 1}),
        "found 'mapping and storage_mapping', expected at most one of",
    ),
    "no hosts": (execute(alloc=""), "data.alloc: found '', expected at least one host"),
    "hosts are numbers": (execute(alloc=[0, 1]), "data.alloc: found an array of 2 elements, expected str"),
    "mapping beyond hosts": (
        execute(mapping={"0": 5}),
        "data.mapping: found '0: 5', expected executor: index",
    ),
    "mapping below 0": (execute(mapping={"0": -1}), "data.mapping: found '0: -1'"),
    "mapping of words": (execute(mapping={"a": "0"}), "data.mapping: found 'a: 0'"),
    "mapping with holes": (execute(mapping={"0": 0, "2": 1}), r"data.mapping: found .* without holes"),
    "mapping twice": (execute(mapping={"0": 0, "00": 1}), "data.mapping: found"),
    "storage of words": (execute(storage_mapping={"a": "b"}), r"data.storage_mapping.*expected int, got str"),
    "I/O without profile": (execute(additional_io_job={"alloc": "0"}), "field profile_name is missing"),
    "call is text": (frame("CALL_ME_LATER", {"timestamp": "3"}), "data.timestamp: found '3'"),
    "job without submission": (
        frame("REGISTER_JOB", {"job_id": "w0!1", "job": {"id": "1", "res": 1, "profile": "p"}}),
        "data.job.subtime: found nothing",
    ),
    "job without workload": (
        frame("REGISTER_JOB", {"job_id": "1", "job": {**JOB, "id": "1"}}),
        "expected workload!name",
    ),
    "job with other id": (register(id="2"), "data.job.id: found '2', expected 'w0!1'"),
    "profile is text": (
        frame("REGISTER_PROFILE", {"workload_name": "w", "profile_name": "p", "profile": "x"}),
        "data.profile: found 'x', expected object",
    ),
    "quotes in metadata": (
        frame("SET_JOB_METADATA", {"job_id": "w0!1", "metadata": 'a "b"'}),
        r"\(SET_JOB_METADATA\), field data.metadata: found",
    ),
    "state is no number": (frame("SET_RESOURCE_STATE", {"resources": "0", "state": "on"}), "data.state: found 'on'"),
    "other query": (frame("QUERY", {"requests": {"power": {}}}), "unknown field power"),
    "message is an object": (frame("TO_JOB_MSG", {"job_id": "w0!1", "msg": {}}), "data.msg: found an object"),
    "unknown job state": (
        frame("CHANGE_JOB_STATE", {"job_id": "w0!1", "job_state": "ASLEEP"}),
        "data.job_state: found 'ASLEEP'",
    ),
    "out of order": (frame("KILL_JOB", {"job_ids": []}, timestamp=0.1), "field timestamp: found 0.1"),
}


@pytest.mark.parametrize("name", WRONG_MESSAGES)
def test_wrong_message(name: str) -> None:
    data, expected = WRONG_MESSAGES[name]
    with pytest.raises(InputError, match=f"^message from Batsim.*{expected}") as caught:
        v4.decode_message(data)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("name", WRONG_REPLIES)
def test_wrong_reply(name: str) -> None:
    data, expected = WRONG_REPLIES[name]
    with pytest.raises(InputError, match=expected) as caught:
        v4.decode_reply(data)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_host_sets_take_no_more_memory_than_their_text() -> None:
    # As masks, each of these texts of 7 bytes would take 1.25 MB, and this frame of 90 kB 1.2 GB.
    event = {"timestamp": 0, "type": "RESOURCE_STATE_CHANGED", "data": {"resources": "", "state": "0"}}
    events = [{**event, "data": {"resources": str(9_990_000 + i), "state": "0"}} for i in range(1000)]
    frame = json.dumps({"now": 0, "events": events}).encode()
    tracemalloc.start()
    try:
        message = v4.decode_message(frame)
        assert tracemalloc.get_traced_memory()[1] < 10 * len(frame)
    finally:
        tracemalloc.stop()
    assert [str(event.hosts) for event in message.events] == [str(9_990_000 + i) for i in range(1000)]


def test_extra_fields_from_batsim_are_tolerated() -> None:
    data = {"job_id": "w0!1", "job": {**JOB, "color": "red"}, "new": 1}
    event = {"timestamp": 0, "type": "JOB_SUBMITTED", "data": data, "more": []}
    message = v4.decode_message(json.dumps({"now": 0, "events": [event], "version": "4.9"}).encode())
    (submitted_event,) = message.events
    assert submitted_event.job.extra == {"color": "red"}


def test_zone_properties_hold_where_the_host_has_none() -> None:
    host = {**HOST, "properties": {"capacity": "core=2"}, "zone_properties": {"capacity": "core=1", "site": "x"}}
    message = v4.decode_message(begins(compute_resources=[host]))
    machine = message.events[1].machine
    assert machine.hosts[0].properties == {"capacity": "core=2", "site": "x"}
    assert machine.capacity.tolist() == [[2]]


def test_unknown_notifications_are_generic_events() -> None:
    message = v4.decode_message(frame("NOTIFY", {"type": "my_event", "n": 3}))
    assert message.events[1].kind == "my_event"
    assert message.events[1].data == {"type": "my_event", "n": 3}


def test_unknown_protocol() -> None:
    with pytest.raises(InputError, match="protocol '3': expected one of 4"):
        protocol("3")
