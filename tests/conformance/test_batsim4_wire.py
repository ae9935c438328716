"""Every recorded Batsim 4 frame is decoded and written again with the same meaning."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from batdispatch.batsim import v4
from batdispatch.core.errors import ImpossibleDecision, InputError
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e

RECORDINGS = Path(__file__).parent / "recordings" / "batsim4"
NAMES = sorted(folder.name for folder in RECORDINGS.iterdir())

#: Recordings of frames that Batsim refuses -> what we say about them. (The other refusals need to know the state of the
#: simulation, so they are the ledger's and the engine's.)
REFUSED = {
    "err_dyn_no_subtime": (InputError, r"event \d+ \(REGISTER_JOB\), field data.job.subtime: found nothing"),
    "err_past_call": (ImpossibleDecision, r"a call at 3.0 s was asked for at 5.000001 s"),
    "err_two_optionals": (InputError, r"\(EXECUTE_JOB\).*found 'mapping and storage_mapping', expected at most one"),
    "err_unknown_event": (InputError, r"\(FOO\), field type: unknown event type"),
    "err_unknown_notify": (InputError, r"\(NOTIFY\), field data.type: found 'no_more_dynamic'"),
}


def frames(name: str, direction: str) -> list[bytes]:
    lines = (RECORDINGS / name / "exchange.jsonl").read_text().splitlines()
    return [line["raw"].encode() for line in map(json.loads, lines) if line["dir"] == direction]


def rounded(value: Any) -> Any:
    """Numbers to microseconds, whole or not."""
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items()}
    return [rounded(part) for part in value] if isinstance(value, list) else value


def without_freedoms(frame: Any) -> Any:
    """What a reply may write in several ways, in one way: short ids of registered jobs, executor indices as numbers."""
    for event in frame["events"]:
        if event["type"] == "REGISTER_JOB":
            event["data"]["job"]["id"] = event["data"]["job_id"]
        if "mapping" in event["data"]:
            event["data"]["mapping"] = {int(k): int(v) for k, v in event["data"]["mapping"].items()}
    return frame


@pytest.mark.parametrize("name", NAMES)
def test_messages_are_read_and_written_again(name: str) -> None:
    recorded = frames(name, "batsim->sched")
    assert recorded
    for frame in recorded:
        again = v4.encode_message(v4.decode_message(frame))
        assert rounded(json.loads(again)) == rounded(json.loads(frame))


@pytest.mark.parametrize("name", NAMES)
def test_messages_print_floats_as_batsim_does(name: str) -> None:
    for frame in frames(name, "batsim->sched"):
        again = v4.encode_message(v4.decode_message(frame))
        # Every printed number that has a fraction has six digits of it.
        assert all(len(digits) == 6 for digits in re.findall(rb"[:\[,]-?\d+\.(\d+)", again))
        stamps = re.compile(rb'"(?:now|timestamp)":\d+\.\d{6}\b')
        assert sorted(stamps.findall(again)) == sorted(stamps.findall(frame))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in REFUSED])
def test_replies_are_read_and_written_again(name: str) -> None:
    for frame in frames(name, "sched->batsim"):
        again = v4.encode_reply(v4.decode_reply(frame))
        assert rounded(without_freedoms(json.loads(again))) == rounded(without_freedoms(json.loads(frame)))


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_replies_that_batsim_refuses_are_refused_with_a_reason(name: str) -> None:
    *good, bad = frames(name, "sched->batsim")
    for frame in good:
        v4.encode_reply(v4.decode_reply(frame))
    kind, text = REFUSED[name]
    with pytest.raises(kind, match=text):
        v4.encode_reply(v4.decode_reply(bad))


def test_simulation_begins_builds_the_machine() -> None:
    message = v4.decode_message(frames("pfs", "batsim->sched")[0])
    (event,) = message.events
    assert isinstance(event, e.SimulationBegins)
    machine = event.machine
    assert [host.name for host in machine.hosts] == ["alder", "birch", "cedar", "nfs", "pfs"]
    assert machine.size == 3
    assert [host.id for host in machine.storage] == [3, 4]
    assert machine.hosts[4].properties == {"role": "storage"}
    assert event.config["dynamic-jobs-enabled"] is False
    assert event.config["allow_storage_sharing"] is True
    assert event.config["allow_compute_sharing"] is False
    assert event.workloads == {"w0": "workloads/pfs.json"}
    assert event.profiles["w0"]["pfs"]["bytes_to_write"] == 2e6


def test_every_kind_of_event_and_decision_of_the_recordings_is_seen() -> None:
    events = {
        type(event)
        for name in NAMES
        for frame in frames(name, "batsim->sched")
        for event in v4.decode_message(frame).events
    }
    decisions = {
        type(decision)
        for name in NAMES
        if name not in REFUSED
        for frame in frames(name, "sched->batsim")
        for decision in v4.decode_reply(frame).decisions
    }
    # Not recorded: what needs Batsim's energy plug-in, what nobody said, and what only Batsim 5 knows.
    assert set(e.Event.__subclasses__()) - events == {e.ResourceStateChanged, e.EnergyAnswer, e.ProbeData}
    unrecorded = {d.SetResourceState, d.QueryEnergy, d.ContinueRegistration, d.StopSimulation}
    unrecorded |= {d.CallEvery, d.StopCalls, d.CreateProbe, d.StopProbe}
    assert set(d.Decision.__subclasses__()) - decisions == unrecorded


def test_progress_of_killed_sequences_is_kept() -> None:
    (killed,) = (
        event
        for frame in frames("kill", "batsim->sched")[-6:]
        for event in v4.decode_message(frame).events
        if isinstance(event, e.JobsKilled)
    )
    assert killed.progress["w0!kn"]["current_task"]["current_task"] == {"profile_name": "d10", "progress": 0.5}


def test_mapping_that_fills_hosts_becomes_unit_counts() -> None:
    decisions = [
        decision
        for frame in frames("mapping", "sched->batsim")
        for decision in v4.decode_reply(frame).decisions
        if isinstance(decision, d.Execute)
    ]
    assert [decision.mapping for decision in decisions] == [None, {0: 1, 1: 0}, {0: 0, 1: 1}, None]
    assert decisions[3].allocation.counts == (2, 2)
    assert decisions[3].executors() == {0: 0, 1: 0, 2: 1, 3: 1}


@pytest.mark.parametrize(
    ("mapping", "counts"),
    [
        ({"0": "0", "1": "0", "2": "1"}, (2, 1)),
        ({"0": 0, "1": 0, "2": 1}, (2, 1)),
        ({"1": "0", "0": "0", "2": "1"}, (2, 1)),
        ({"0": "0", "1": "0", "2": "0"}, None),
        ({"0": "0", "1": "1", "2": "0"}, None),
        ({"0": "1", "1": "1", "2": "0"}, None),
        ({"0": "00", "1": "0", "2": "1"}, (2, 1)),
    ],
)
def test_unit_counts_however_the_mapping_is_written(
    mapping: dict[str, str | int], counts: tuple[int, ...] | None
) -> None:
    data = {"job_id": "w0!1", "alloc": "4-5", "mapping": mapping}
    frame = {"now": 1.0, "events": [{"timestamp": 1.0, "type": "EXECUTE_JOB", "data": data}]}
    (decision,) = v4.decode_reply(json.dumps(frame).encode()).decisions
    assert isinstance(decision, d.Execute)
    assert decision.allocation.counts == counts
    assert decision.executors() == {int(executor): int(index) for executor, index in mapping.items()}
