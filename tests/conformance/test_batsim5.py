"""Every recorded Batsim 5 exchange is decoded, written again, and replayed; the handshake is answered."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from batdispatch.batsim import Features, features_for, protocol
from batdispatch.batsim.v5.exchange import Batsim5
from batdispatch.core.errors import ImpossibleDecision, InputError
from batdispatch.core.jobs.job import JobState
from batdispatch.core.line import events as e
from batdispatch.core.line.dispatcher import Dispatcher, create
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.session import Session
from batdispatch.links.replay import check_wire, read_recording, replay, told_by
from batdispatch.results.frame import read_jobs
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec
from scripted import Scripted
from simulating import start_all
from with_simgrid import needs_simgrid

RECORDINGS = Path(__file__).parent / "recordings" / "batsim5"
NAMES = sorted(folder.name for folder in RECORDINGS.iterdir())
#: Values that batprotocol's schema has as defaults: a field that has one may be left out.
DEFAULTS: dict[str, Any] = {
    "extra_data": "",
    "rigid": True,
    "walltime": None,
    "profiles": [],
    "call_me_later_id": "",
    "last_periodic_call": False,
}


def exchange(name: str) -> Path:
    return RECORDINGS / name / "exchange.jsonl"


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in exchange(name).read_text().splitlines()]


def opened(name: str) -> Batsim5:
    """The protocol after the recorded handshake."""
    wire = Batsim5()
    first, second = lines(name)[:2]
    assert wire.answer_opening(wire.unrecord(first["raw"]), Features()) is not None
    wire.read_answer(wire.unrecord(second["raw"]))
    return wire


def plain(value: Any) -> Any:
    """Numbers to microseconds, hosts as intervals, defaults left out."""
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, dict):
        kept = {k: plain(v) for k, v in value.items() if k not in DEFAULTS or v != DEFAULTS[k]}
        if "host_allocation" in kept:
            kept["host_allocation"] = sorted(hosts(kept["host_allocation"]))
        return kept
    return [plain(part) for part in value] if isinstance(value, list) else value


def hosts(text: str) -> set[int]:
    bounds = [[int(end) for end in part.split("-")] for part in text.split()]
    return {host for ends in bounds for host in range(ends[0], ends[-1] + 1)}


@pytest.mark.parametrize("name", NAMES)
def test_every_frame_is_read_and_written_again_with_the_same_meaning(name: str) -> None:
    wire = opened(name)
    seen = 0
    for line in lines(name)[2:]:
        frame = line["raw"].encode() + b"\0"
        if line["dir"] == "batsim->edc":
            again = wire.encode_message(wire.decode_message(frame))
        else:
            again = wire.encode_reply(wire.decode_reply(frame))
        assert again.endswith(b"\0")
        assert plain(json.loads(again[:-1])) == plain(json.loads(line["raw"]))
        seen += 1
    assert seen >= 8


@pytest.mark.parametrize("name", NAMES)
def test_the_handshake_is_read_and_written_again(name: str) -> None:
    wire = Batsim5()
    first, second = (line["raw"] for line in lines(name)[:2])
    assert wire.opening("init string") == wire.unrecord(first)
    assert wire.record(wire.unrecord(first)) == first
    assert wire.record(wire.unrecord(second)) == second
    features = json.loads(second["message"])["events"][0]["event"]["requested_simulation_features"]
    assert wire.read_answer(wire.unrecord(second)) == Features(**features)
    # Ours, asked for the same, differs only in who we are.
    frame = Batsim5().answer_opening(wire.unrecord(first), Features(**features))
    assert frame is not None
    assert struct.unpack_from("<I", frame) == (second["flags_u32"],)
    ours, theirs = (json.loads(text)["events"] for text in (frame[4:].rstrip(b"\0"), second["message"]))
    assert len(ours) == 1
    assert ours[0]["event_type"] == theirs[0]["event_type"]
    assert ours[0]["event"].keys() == theirs[0]["event"].keys()
    assert ours[0]["event"]["requested_simulation_features"] == features


class Registering(Dispatcher):
    """Registers a job of its own at the beginning and runs whatever fits."""

    registers_jobs = True

    def begin(self, ledger: Ledger) -> None:
        self.done = False

    def decide(self, ledger: Ledger) -> None:
        if not self.done:
            self.done = True
            ledger.register_profile("mine", "p", {"type": "delay", "delay": 5.0})
        start_all(ledger)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dispatcher", [lambda: create("fcfs"), Registering], ids=["fcfs", "registering"])
def test_a_dispatcher_of_ours_answers_the_recorded_handshake_with_the_features_it_needs(
    name: str, dispatcher: Any
) -> None:
    session = Session(dispatcher())
    wire = Batsim5()
    wanted = features_for(registers_jobs=session.dispatcher.registers_jobs)
    frames = [wire.unrecord(line["raw"]) for line in lines(name) if line["dir"] == "batsim->edc"]
    answer = wire.answer_opening(frames[0], wanted)
    assert wire.init == "init string"
    assert answer is not None
    asked = json.loads(answer[4:].rstrip(b"\0"))["events"][0]["event"]["requested_simulation_features"]
    registering = isinstance(session.dispatcher, Registering)
    assert asked.get("dynamic_registration", False) is registering
    assert asked.get("acknowledge_dynamic_jobs", False) is registering
    assert asked.get("profile_reuse", False) is registering
    assert asked["forward_profiles_on_simulation_begins"] is True
    # What it asked for is what it is allowed to do.
    first = json.loads(wire.encode_reply(session.handle(wire.decode_message(frames[1])))[:-1])
    kinds = [event["event_type"] for event in first["events"]]
    assert ("RegisterProfileEvent" in kinds) is registering
    assert "FinishRegistrationEvent" not in kinds


def test_features_that_were_not_asked_for_cannot_be_used() -> None:
    class Unannounced(Registering):
        registers_jobs = False

    wire = opened("delays")
    begins = wire.decode_message(wire.unrecord(lines("delays")[2]["raw"]))
    with pytest.raises(InputError, match="the dispatcher registers jobs"):
        Session(Registering()).handle(begins)
    with pytest.raises(ImpossibleDecision, match="registering profiles is not enabled"):
        Session(Unannounced()).handle(begins)


def scripted(name: str) -> Session:
    wire = opened(name)
    replies = [
        list(wire.decode_reply(line["raw"].encode()).decisions)
        for line in lines(name)[2:]
        if line["dir"] != "batsim->edc"
    ]
    return Session(Scripted(replies))


@pytest.mark.parametrize("name", NAMES)
def test_recorded_decisions_pass_the_ledger_and_come_out_the_same(name: str) -> None:
    assert told_by(exchange(name)) == "5"
    session = scripted(name)
    result = replay(exchange(name), session, protocol("5"))
    assert result.difference is None
    assert result.messages == sum(line["dir"] == "batsim->edc" for line in lines(name)) - 1
    assert session.ended
    assert session.ledger is not None
    assert not session.ledger.running


@pytest.mark.parametrize("name", ["delays", "delays_forward", "hello_bad_version"])
def test_fcfs_decides_what_was_recorded_of_another_fcfs(name: str) -> None:
    assert replay(exchange(name), Session(create("fcfs")), protocol("5")).difference is None


@pytest.mark.parametrize("name", NAMES)
def test_check_wire_accepts_every_recording(name: str) -> None:
    assert check_wire(exchange(name), protocol("5")).messages == len(lines(name)) // 2


def events(name: str) -> list[e.Event]:
    wire = opened(name)
    frames = [found.message for found in read_recording(exchange(name), Batsim5())][1:]
    return [event for frame in frames for event in wire.decode_message(frame).events]


def test_a_kill_is_told_with_return_codes_and_progress() -> None:
    ended = {event.job_id: event for event in events("kill") if isinstance(event, e.JobCompleted)}
    assert {name: (job.state, job.return_code) for name, job in ended.items()} == {
        "w0!kd": (JobState.COMPLETED_KILLED, -1),
        "w0!kp": (JobState.COMPLETED_KILLED, -2),
        "w0!ks": (JobState.COMPLETED_KILLED, -1),
        "w0!late": (JobState.COMPLETED_SUCCESSFULLY, 0),
    }
    progress = {}
    for event in events("kill"):
        if isinstance(event, e.JobsKilled):
            progress |= event.progress
            assert "seq" not in event.profiles.get("w0", {}) or event.profiles["w0"]["seq"]["repeat"] == 3
    assert progress["w0!kd"] == {"profile_name": "d30", "progress": pytest.approx(8 / 30, abs=1e-6)}
    # The second of three rounds of two tasks: Batsim 4 counts tasks across rounds.
    assert progress["w0!ks"]["current_task_index"] == 2
    assert progress["w0!ks"]["current_repetition"] == 1
    assert progress["w0!ks"]["current_task"]["profile_name"] == "d10"
    assert progress["w0!ks"]["current_task"]["progress"] == pytest.approx(0.6, abs=1e-5)


def test_forwarded_profiles_are_ours() -> None:
    begins = events("delays_forward")[0]
    assert isinstance(begins, e.SimulationBegins)
    profiles = begins.profiles["w0"]
    assert profiles["nap"] == {"type": "delay", "delay": 12.5}
    assert profiles["phases"] == {"type": "composed", "repeat": 3, "seq": ["compute", "all_to_one"]}
    assert profiles["compute"] == {"type": "parallel", "cpu": [1e8] * 4, "com": [0.0] * 16}
    assert profiles["even"] == {"type": "parallel_homogeneous", "cpu": 3e8, "com": 2e6}
    # Batsim 4 has no amounts that are spread over pairs: this one is not mistaken for parallel_homogeneous_total.
    assert profiles["spread"]["type"] == "ParallelTaskHomogeneousProfile"
    submitted = [event for event in events("delays_forward") if isinstance(event, e.JobSubmitted)]
    assert [event.profile for event in submitted] == [profiles[event.job.profile] for event in submitted]
    assert submitted[-1].job.user == "ada"


@needs_simgrid
def test_run_times_of_batsim_5_profiles_are_those_recorded(tmp_path: Path) -> None:
    inputs = RECORDINGS.parent
    spec = RunSpec(
        platform=str(inputs / "platforms" / "four.xml"),
        workload=str(inputs / "workloads" / "profiles5.json"),
        dispatcher="fcfs",
    )
    execute(spec, tmp_path)
    ours, theirs = (
        read_jobs(folder / "jobs.csv").set_index("job_id") for folder in (tmp_path, RECORDINGS / "delays_forward")
    )
    assert ours["allocated_resources"].to_dict() == theirs["allocated_resources"].to_dict()
    for job, seconds in theirs["execution_time"].items():
        assert ours.loc[job, "execution_time"] == pytest.approx(seconds, abs=2e-6), job


def test_hosts_are_told_with_their_speeds() -> None:
    begins = events("delays")[0]
    assert isinstance(begins, e.SimulationBegins)
    assert [(host.name, host.speed) for host in begins.machine.hosts] == [
        ("alder", 8e7),
        ("birch", 8e7),
        ("cedar", 5e7),
        ("dogwood", 5e7),
    ]
    assert begins.config["batsim_version"] == "5.0.0-rc2"
    assert begins.workloads == {"w0": "workloads/delays5.json"}
