"""Both directions of the bridge: our dispatchers in pybatsim's launcher, pybatsim's schedulers as our peers."""

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from batdispatch.batsim import v4
from batdispatch.core.errors import InputError, SimulationError
from batdispatch.links.batdispatcher_path import batdispatcher_path
from batdispatch.links.pybatsim import find_scheduler, require_pybatsim
from batdispatch.links.pybatsim_peer import PybatsimPeer
from batdispatch.links.replay import read_recording, replay

pytest.importorskip("batsim.batsim", reason="pybatsim is not installed")

Said = Callable[[str], list[bytes]]
Connect = Callable[[str], Any]


def launch(endpoint: str, options: dict[str, Any], *more: str) -> subprocess.Popen[str]:
    program = "import sys; from batsim.cmds.launcher import main; sys.exit(main())"
    arguments = [str(batdispatcher_path()), "-s", endpoint, "-o", json.dumps(options), "-t", "5000", *more]
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


def free_endpoint() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"tcp://127.0.0.1:{server.getsockname()[1]}"


def decided(reply: Any) -> list[Any]:
    return [(event["type"], event["data"]) for event in reply["events"]]


def recorded(recordings: Path, name: str) -> list[Any]:
    lines = map(json.loads, (recordings / name / "exchange.jsonl").read_text().splitlines())
    return [decided(json.loads(line["raw"])) for line in lines if line["dir"] == "sched->batsim"]


@pytest.mark.parametrize("name", ["events", "walltime", "composed"])
def test_our_dispatcher_in_the_stock_launcher(name: str, connect: Connect, said: Said, recordings: Path) -> None:
    endpoint = free_endpoint()
    process = launch(endpoint, {"dispatcher": "easy", "options": {"reservation": "hosts"}})
    batsim = connect(endpoint)
    answers = [decided(batsim.ask(frame)) for frame in said(name)]
    out, err = process.communicate(timeout=20)
    assert answers == recorded(recordings, name)
    # pybatsim itself exits with 1 when its counters say that a job was forgotten.
    assert process.returncode == 0, out + err
    assert re.search(r"Job submitted: \d+ , scheduled: \d+", out)


def test_every_decision_reaches_batsim_through_pybatsim(connect: Connect, said: Said, tmp_path: Path) -> None:
    (tmp_path / "busy.py").write_text(BUSY)
    endpoint = free_endpoint()
    process = launch(endpoint, {"dispatcher": f"{tmp_path}/busy.py:Busy", "decision_time": 0.25})
    batsim = connect(endpoint)
    first, second = (batsim.ask(frame) for frame in said("dyn_ack")[:2])
    batsim.leave()
    process.kill()
    process.communicate()
    assert first["now"] == pytest.approx(0.25)
    assert decided(first) == [
        ("REGISTER_PROFILE", {"workload_name": "dyn", "profile_name": "p1", "profile": {"type": "delay", "delay": 5}}),
        (
            "REGISTER_JOB",
            {"job_id": "dyn!j1", "job": {"id": "dyn!j1", "subtime": 0, "res": 1, "profile": "p1", "color": "red"}},
        ),
        ("CALL_ME_LATER", {"timestamp": 20.0}),
        ("SET_RESOURCE_STATE", {"resources": "2-3", "state": "1"}),
        ("QUERY", {"requests": {"consumed_energy": {}}}),
    ]
    assert decided(second) == [
        ("SET_JOB_METADATA", {"job_id": "w0!s0", "metadata": "hello"}),
        ("EXECUTE_JOB", {"job_id": "w0!s0", "alloc": "1", "mapping": {"0": "0"}}),
        ("TO_JOB_MSG", {"job_id": "w0!s0", "msg": "go"}),
        ("KILL_JOB", {"job_ids": ["w0!s0"]}),
        ("CHANGE_JOB_STATE", {"job_id": "dyn!j1", "job_state": "RUNNING"}),
        ("REJECT_JOB", {"job_id": "dyn!j1"}),
        ("NOTIFY", {"type": "registration_finished"}),
        ("NOTIFY", {"type": "continue_registration"}),
    ]


BUSY = """
from batdispatch.core.hosts.allocation import Allocation, Place
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request


class Busy(Dispatcher):
    registers_jobs = True

    def registration_done(self, ledger):
        return False

    def decide(self, ledger):
        if not ledger.queue:
            ledger.register_profile("dyn", "p1", {"type": "delay", "delay": 5})
            ledger.register_job(Job(id="dyn!j1", request=Request(), profile="p1", extra={"color": "red"}))
            ledger.wake_at(20.0)
            ledger.set_state(Allocation.of([2, 3]), "1")
            ledger.query_energy()
            return
        job, other = ledger.queue["w0!s0"], ledger.queue["dyn!j1"]
        ledger.set_metadata(job, "hello")
        ledger.start(job, Place(Allocation.of([1]), mapping={0: 0}))
        ledger.send_message(job, "go")
        ledger.kill([job])
        ledger.change_state(other, "RUNNING")
        ledger.reject(other, "enough")
        ledger.finish_registration()
        ledger.continue_registration()
"""


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"dispatcher": "esay"}, "did you mean 'easy'?"),
        ({"dispatcher": "easy", "options": {"reservation": "x"}}, "reservation='x' is not one of"),
        ({"name": "easy"}, "option 'name': expected dispatcher, options, seed, decision_time"),
        ({"dispatcher": 3}, "expected {"),
        ({"seed": -1}, "expected {"),
        ({"decision_time": "soon"}, "decision_time: found 'soon'"),
    ],
)
def test_wrong_options_in_the_launcher(options: dict[str, Any], expected: str) -> None:
    process = launch(free_endpoint(), options)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 2
    assert expected in err
    assert "Traceback" not in err


def test_protect_is_refused(connect: Connect, said: Said) -> None:
    endpoint = free_endpoint()
    process = launch(endpoint, {"dispatcher": "easy"}, "--protect")
    connect(endpoint).socket.send(said("delay")[0])
    _, err = process.communicate(timeout=20)
    assert process.returncode == 2
    assert "--protect hides events" in err


def test_a_malformed_message_in_the_launcher(connect: Connect, said: Said) -> None:
    endpoint = free_endpoint()
    process = launch(endpoint, {"dispatcher": "easy"})
    frame = said("delay")[0].replace(b'"nb_compute_resources":4', b'"nb_compute_resources":5')
    connect(endpoint).socket.send(frame)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 2
    assert "nb_compute_resources: found 5, expected 4" in err
    assert "Traceback" not in err


@pytest.mark.parametrize(("scheduler", "name"), [("easyBackfill", "delay"), ("easyBackfill", "walltime")])
def test_pybatsims_scheduler_as_a_peer(scheduler: str, name: str, recordings: Path) -> None:
    limit = sys.getrecursionlimit()
    result = replay(recordings / name / "exchange.jsonl", PybatsimPeer(scheduler), v4)
    assert result.difference is None
    assert result.decisions >= 4
    # pybatsim raises the limit for the whole process, which would disarm the guard against nested messages.
    assert sys.getrecursionlimit() == limit


def test_pybatsims_filler_spends_time_and_prints_nothing(recordings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    peer = PybatsimPeer("fillerSched")
    replies = [
        peer.handle(v4.decode_message(exchange.message))
        for exchange in read_recording(recordings / "events" / "exchange.jsonl")
        if b"event_machine" not in exchange.message and b"my_event" not in exchange.message
    ]
    assert [str(decision.allocation) for reply in replies for decision in reply.decisions] == ["0-1", "0-3"]
    assert replies[1].now == pytest.approx(4e-6 + 0.005)
    assert capsys.readouterr().out == ""


def test_two_peers_do_not_disturb_each_other(recordings: Path) -> None:
    path = recordings / "delay" / "exchange.jsonl"
    peers = [PybatsimPeer("easyBackfill"), PybatsimPeer("easyBackfill")]
    for exchange in read_recording(path):
        message = [peer.handle(v4.decode_message(exchange.message)) for peer in peers]
        assert v4.encode_reply(message[0]) == v4.encode_reply(message[1])


def test_a_failing_scheduler_is_a_failed_run(recordings: Path) -> None:
    peer = PybatsimPeer("fillerSched")
    with pytest.raises(SimulationError, match=r"FillerSched failed at 5.000001 s: NotImplementedError"):
        replay(recordings / "events" / "exchange.jsonl", peer, v4)


def test_answers_that_batsim_refuses_are_refused(recordings: Path, tmp_path: Path) -> None:
    (tmp_path / "wrongSched.py").write_text(
        "from batsim.batsim import BatsimScheduler\n"
        "class WrongSched(BatsimScheduler):\n"
        "    def onSimulationBegins(self):\n"
        "        self.bs.wake_me_up_at('noon')\n"
    )
    peer = PybatsimPeer(str(tmp_path / "wrongSched.py"))
    with pytest.raises(InputError, match=r"\(CALL_ME_LATER\), field data.timestamp: found 'noon'"):
        replay(recordings / "delay" / "exchange.jsonl", peer, v4)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("easyBackfil", "cannot be loaded"),
        ("schedulers.easyBackfill:Nothing", "has no scheduler class 'Nothing'"),
        ("json:JSONDecoder", "has no scheduler class 'JSONDecoder'"),
        ("nowhere.py", "cannot be loaded"),
    ],
)
def test_unknown_schedulers(name: str, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        find_scheduler(name)


def test_schedulers_are_found_in_every_way() -> None:
    assert find_scheduler("easyBackfill") is find_scheduler("schedulers.easyBackfill:EasyBackfill")
    assert find_scheduler("schedulers.easyBackfill") is find_scheduler("easyBackfill")


def test_missing_pybatsim_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "batsim", None)
    monkeypatch.delitem(sys.modules, "batsim.batsim", raising=False)
    with pytest.raises(InputError, match=r"pip install --no-deps pybatsim==3.2.1"):
        require_pybatsim()
