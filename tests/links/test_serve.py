"""The decision process over real sockets: a whole simulation, and everything that may go wrong with the other side."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zmq

from command_line import call

Start = Callable[..., Any]
Said = Callable[[str], list[bytes]]
DISPATCHERS = Path(__file__).with_name("dispatchers_for_serve.py")


def without_times(reply: Any) -> list[Any]:
    return [(event["type"], event["data"]) for event in reply["events"]]


@pytest.mark.parametrize("name", ["composed", "events", "walltime"])
def test_a_recorded_simulation_is_answered_as_recorded(
    name: str, decide: Start, connect: Start, said: Said, recordings: Path, tmp_path: Path
) -> None:
    record = tmp_path / "exchange.jsonl"
    decider = decide("--dispatcher", "filler", "--record", str(record), apart=name == "composed")
    batsim = connect(decider.endpoint)
    answers = []
    for frame in said(name):
        assert not record.exists()
        answers.append(batsim.ask(frame))
    status, printed = decider.finish()
    assert status == 0, printed
    assert f"simulation ended after {len(answers)} messages" in printed
    lines = [json.loads(line) for line in (recordings / name / "exchange.jsonl").read_text().splitlines()]
    expected = [json.loads(line["raw"]) for line in lines if line["dir"] == "sched->batsim"]
    assert [without_times(answer) for answer in answers] == [without_times(reply) for reply in expected]
    recorded = [json.loads(line) for line in record.read_text().splitlines()]
    assert [line["dir"] for line in recorded] == [line["dir"] for line in lines]
    assert [line["raw"] for line in recorded[::2]] == [line["raw"] for line in lines[::2]]
    assert [json.loads(line["raw"]) for line in recorded[1::2]] == answers
    assert list(tmp_path.iterdir()) == [record]


def test_a_peer_that_dies_is_reported_at_once(decide: Start, connect: Start, said: Said, tmp_path: Path) -> None:
    record = tmp_path / "x.jsonl"
    decider = decide("--dispatcher", "fcfs", "--timeout", "60", "--record", str(record))
    batsim = connect(decider.endpoint)
    for frame in said("delay")[:3]:
        batsim.ask(frame)
    batsim.leave()
    status, printed = decider.finish(30)
    assert status == 1
    assert "batdispatch: error: Batsim closed the connection after 3 messages" in printed
    assert "Traceback" not in printed
    # What was exchanged until then can be looked at.
    assert not record.exists()
    assert len((tmp_path / "x.jsonl.partial").read_text().splitlines()) == 6


def test_that_no_batsim_has_connected_is_said_long_before_the_wait_is_given_up(decide: Start) -> None:
    decider = decide("--dispatcher", "fcfs", "--timeout", "4")
    status, printed = decider.finish(15)
    assert status == 1
    assert printed.count("batdispatch: no Batsim has connected yet; if yours has ended") == 1
    assert "no Batsim has connected for 4 s" in printed


def test_a_peer_that_is_killed_is_reported_at_once(decide: Start, said: Said) -> None:
    decider = decide("--dispatcher", "fcfs", "--timeout", "60")
    program = (
        "import sys, time, zmq; s = zmq.Context().socket(zmq.REQ); s.connect(sys.argv[1]);"
        "s.send(sys.argv[2].encode()); s.recv(); print('answered', flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", program, decider.endpoint, said("delay")[0].decode()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as batsim:
        assert batsim.stdout is not None
        assert batsim.stdout.readline() == "answered\n"
        batsim.kill()
    status, printed = decider.finish(30)
    assert status == 1
    assert "closed the connection after 1 messages" in printed


def test_a_silent_peer_is_reported_in_time(decide: Start, connect: Start, said: Said) -> None:
    decider = decide("--dispatcher", "fcfs", "--timeout", "0.5")
    batsim = connect(decider.endpoint)
    batsim.ask(said("delay")[0])
    began = time.monotonic()
    status, printed = decider.finish(30)
    assert status == 1
    assert "Batsim is connected but has said nothing for 0.5 s (after 1 messages)" in printed
    assert time.monotonic() - began > 0.3


def test_nobody_comes(decide: Start) -> None:
    status, printed = decide("--dispatcher", "fcfs", "--timeout", "0.3").finish(10)
    assert status == 1
    assert "no Batsim has connected for 0.3 s" in printed


def test_an_oversized_message_ends_the_connection_and_not_the_memory(decide: Start, connect: Start, said: Said) -> None:
    decider = decide("--dispatcher", "fcfs", "--max-message", "1", "--timeout", "60")
    batsim = connect(decider.endpoint)
    batsim.ask(said("delay")[0])
    batsim.socket.send(b" " * (2 << 20))
    status, printed = decider.finish(10)
    assert status == 1
    assert "or it sent a message above --max-message 1 MiB" in printed


def test_an_oversized_first_message_is_reported_with_the_limit(decide: Start, connect: Start) -> None:
    decider = decide("--dispatcher", "fcfs", "--max-message", "1", "--timeout", "2")
    connect(decider.endpoint).socket.send(b" " * (2 << 20))
    status, printed = decider.finish(30)
    assert status == 1
    assert "left without a message that was accepted: it stopped, or its first message was above --max-mess" in printed
    assert "error: " in printed
    assert "no Batsim has connected for" not in printed


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (b"hello", "message from Batsim: JSON is malformed"),
        (b"", "message from Batsim: is empty"),
        (b'{"now": 0, "events": [' * 5000, "message from Batsim"),
        (b'{"now": 0, "events": []}', "the first event must be SIMULATION_BEGINS"),
        (b'{"now": 0, "events": [{"timestamp": 0, "type": "FOO", "data": {}}]}', r"event 0 (FOO), field type"),
    ],
)
def test_garbage_ends_with_a_message(
    frame: bytes, expected: str, decide: Start, connect: Start, tmp_path: Path
) -> None:
    record = tmp_path / "x.jsonl"
    decider = decide("--dispatcher", "fcfs", "--record", str(record))
    batsim = connect(decider.endpoint)
    batsim.socket.send(frame)
    status, printed = decider.finish(10)
    assert status == 2
    assert expected in printed
    assert printed.count("\n") == 1
    assert json.loads((tmp_path / "x.jsonl.partial").read_text())["raw"].encode() == frame
    assert not record.exists()


def test_an_end_with_jobs_left_is_a_failed_run(decide: Start, connect: Start, said: Said, tmp_path: Path) -> None:
    record = tmp_path / "x.jsonl"
    decider = decide("--dispatcher", "fcfs", "--record", str(record))
    batsim = connect(decider.endpoint)
    for frame in said("delay")[:2]:
        batsim.ask(frame)
    batsim.socket.send(b'{"now":9.0,"events":[{"timestamp":9.0,"type":"SIMULATION_ENDS","data":{}}]}')
    status, printed = decider.finish(10)
    assert status == 1
    assert "error: the simulation ended at 9.000000 s with jobs left: 1 running (w0!0); 1 waiting (w0!1)" in printed
    assert not record.exists()


def test_a_completion_on_other_hosts_is_an_error(decide: Start, connect: Start, said: Said) -> None:
    decider = decide("--dispatcher", "fcfs")
    batsim = connect(decider.endpoint)
    for frame in said("delay")[:2]:
        batsim.ask(frame)
    data = b'{"job_id":"w0!0","job_state":"COMPLETED_SUCCESSFULLY","return_code":0,"alloc":"3"}'
    batsim.socket.send(b'{"now":9.0,"events":[{"timestamp":9.0,"type":"JOB_COMPLETED","data":%b}]}' % data)
    status, printed = decider.finish(10)
    assert status == 2
    assert "job w0!0 was reported complete on hosts 3, expected those it was started on, 0" in printed


def test_something_that_does_not_speak_zeromq_is_ignored(decide: Start, connect: Start, said: Said) -> None:
    decider = decide("--dispatcher", "fcfs")
    host, port = decider.endpoint.removeprefix("tcp://").split(":")
    import socket

    with socket.create_connection((host, int(port))) as probe:
        probe.sendall(b"GET / HTTP/1.1\r\n\r\n")
        batsim = connect(decider.endpoint)
        for frame in said("composed"):
            batsim.ask(frame)
    status, _ = decider.finish(10)
    assert status == 0


def test_a_peer_that_leaves_before_it_says_anything_is_no_failure(decide: Start, connect: Start, said: Said) -> None:
    decider = decide("--dispatcher", "fcfs")
    early = zmq.Context()
    socket = early.socket(zmq.REQ)
    monitor = socket.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED)
    socket.connect(decider.endpoint)
    assert monitor.poll(10_000)
    monitor.close(linger=0)
    socket.close(linger=0)
    early.term()
    batsim = connect(decider.endpoint)
    for frame in said("composed"):
        batsim.ask(frame)
    status, printed = decider.finish(10)
    assert status == 0, printed


@pytest.mark.parametrize(("number", "expected"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
@pytest.mark.parametrize("messages", [0, 3])
def test_signals_stop_between_messages(
    number: signal.Signals, expected: int, messages: int, decide: Start, connect: Start, said: Said, tmp_path: Path
) -> None:
    record = tmp_path / "x.jsonl"
    decider = decide("--dispatcher", "fcfs", "--record", str(record), apart=True)
    batsim = connect(decider.endpoint)
    for frame in said("delay")[:messages]:
        batsim.ask(frame)
    decider.process.send_signal(number)
    status, printed = decider.finish(10)
    assert status == expected
    assert f"stopped by {number.name} after {messages} messages" in printed
    assert "Traceback" not in printed
    assert not record.exists()
    lines = (tmp_path / "x.jsonl.partial").read_text().splitlines()
    assert len([json.loads(line) for line in lines]) == 2 * messages


def test_a_signal_while_deciding_lets_the_answer_leave(decide: Start, connect: Start, said: Said) -> None:
    decider = decide("--dispatcher", f"{DISPATCHERS}:Slow", apart=True)
    batsim = connect(decider.endpoint)
    batsim.socket.send(said("delay")[0])
    time.sleep(0.4)
    decider.process.terminate()
    assert json.loads(batsim.socket.recv())["events"] == []
    status, printed = decider.finish(10)
    assert status == 143
    assert "after 1 messages" in printed


def test_a_second_signal_stops_a_dispatcher_that_never_decides(decide: Start, connect: Start, said: Said) -> None:
    decider = decide("--dispatcher", f"{DISPATCHERS}:Stuck", apart=True)
    batsim = connect(decider.endpoint)
    batsim.socket.send(said("delay")[0])
    assert decider.process.stdout.readline() == "deciding\n"
    decider.process.send_signal(signal.SIGINT)
    time.sleep(0.2)
    assert decider.process.poll() is None
    decider.process.send_signal(signal.SIGINT)
    status, printed = decider.finish(10)
    assert status == 130
    assert "Traceback" not in printed


def test_an_impossible_decision_is_never_sent(decide: Start, connect: Start, said: Said) -> None:
    decider = decide("--dispatcher", f"{DISPATCHERS}:Overlapping")
    batsim = connect(decider.endpoint)
    first, second, *_ = said("err_busy_host")
    batsim.ask(first)
    batsim.ask(second)
    batsim.socket.send(said("err_busy_host")[2])
    status, printed = decider.finish(10)
    assert status == 1
    assert "cannot start on 0" in printed
    assert "Traceback" not in printed


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--socket", "tcp://0.0.0.0:*"], "can be reached from other machines"),
        (["--socket", "tcp://*:28000"], "can be reached from other machines"),
        (["--socket", "tcp://example.org:28000"], "can be reached from other machines"),
        (["--socket", "udp://127.0.0.1:28000"], "expected tcp://ADDRESS:PORT"),
        (["--socket", "tcp://127.0.0.1:99999"], "expected tcp://ADDRESS:PORT"),
        (["--socket", "tcp://127.0.0.1"], "expected tcp://ADDRESS:PORT"),
        (["--socket", "ipc://"], "expected ipc://PATH"),
        (["--socket", "ipc:///nowhere/at/all"], "cannot be bound"),
        (["--socket", "tcp://192.0.2.1:28000", "--allow-remote"], "cannot be bound"),
        (["--dispatcher", "esay"], "did you mean 'easy'?"),
        (["--dispatcher", "easy", "--set", "reservation"], "option --set: found 'reservation', expected KEY=VALUE"),
        (["--dispatcher", "easy", "--set", "reservation=x"], "reservation='x' is not one of"),
        (["--dispatcher", "easy", "--set", "a=1", "--set", "a=2"], "'a' is given twice"),
        (["--decision-time", "soon"], "option --decision-time: found 'soon'"),
        (["--decision-time", "-1"], "option --decision-time: found '-1'"),
        (["--decision-time", "nan"], "option --decision-time: found 'nan'"),
        (["--protocol", "3"], "'3' is not"),
        (["--timeout", "-5"], "--timeout"),
        (["--max-message", "0"], "--max-message"),
        (["--record", "/nowhere/x.jsonl"], "No such file or directory"),
    ],
)
def test_wrong_options(arguments: list[str], expected: str) -> None:
    named = [] if "--dispatcher" in arguments else ["--dispatcher", "fcfs"]
    done = call("serve", *named, *arguments)
    assert done.status == 2, done.err
    assert expected in done.err
    assert "Traceback" not in done.err
    assert not done.out


def test_a_taken_endpoint_is_reported(decide: Start) -> None:
    decider = decide("--dispatcher", "fcfs", apart=True)
    program = "from batdispatch.cli.main import main; main()"
    command = [sys.executable, "-c", program, "serve", "--dispatcher", "fcfs", "--socket", decider.endpoint]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 2
    assert "cannot be bound: Address already in use" in done.stderr
