"""One simulation is answered: whoever speaks first is the peer, and nobody else can harm or replace it."""

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zmq

from batdispatch.batsim import protocol
from batdispatch.core.errors import InputError
from batdispatch.links.remote_peer import RemotePeer
from batdispatch.links.single_peer import REFUSAL

Start = Callable[..., Any]
Said = Callable[[str], list[bytes]]


@pytest.fixture
def speaker() -> Iterator[Callable[..., zmq.Socket[bytes]]]:
    """Open sockets of any type that are closed after the test."""
    context = zmq.Context()

    def connected(endpoint: str, kind: int = zmq.REQ, **options: Any) -> zmq.Socket[bytes]:
        made = context.socket(kind)
        made.setsockopt(zmq.LINGER, 0)
        made.setsockopt(zmq.RCVTIMEO, 10_000)
        for name, value in options.items():
            made.setsockopt(getattr(zmq, name), value)
        made.connect(endpoint)
        return made

    yield connected
    context.destroy(linger=0)


def test_the_frames_of_a_second_peer_are_refused_and_the_first_goes_on(
    decide: Start, connect: Start, said: Said, recordings: Path, tmp_path: Path, speaker: Start
) -> None:
    record = tmp_path / "x.jsonl"
    decider = decide("--dispatcher", "filler", "--record", str(record))
    batsim = connect(decider.endpoint)
    frames = said("composed")
    answers = [batsim.ask(frame) for frame in frames[:3]]
    second = speaker(decider.endpoint)
    for frame in (frames[3], frames[-1], b"garbage", b""):
        second.send(frame)
        assert second.recv() == REFUSAL
    answers += [batsim.ask(frame) for frame in frames[3:]]
    status, printed = decider.finish()
    assert status == 0, printed
    assert printed.count("a second peer sent a message and was refused") == 1
    lines = [json.loads(line) for line in (recordings / "composed" / "exchange.jsonl").read_text().splitlines()]
    expected = [json.loads(line["raw"])["events"] for line in lines if line["dir"] == "sched->batsim"]
    kinds = [[event["type"] for event in answer["events"]] for answer in answers]
    assert kinds == [[event["type"] for event in events] for events in expected]
    assert len(record.read_text().splitlines()) == 2 * len(frames), "what was refused is not in the recording"


def test_the_end_that_a_second_peer_announces_is_not_the_end(
    decide: Start, connect: Start, said: Said, speaker: Start
) -> None:
    decider = decide("--dispatcher", "fcfs")
    batsim = connect(decider.endpoint)
    frames = said("delay")
    batsim.ask(frames[0])
    second = speaker(decider.endpoint)
    second.send(b'{"now":9,"events":[{"timestamp":9,"type":"SIMULATION_ENDS","data":{}}]}')
    assert second.recv() == REFUSAL
    assert decider.is_alive()
    batsim.ask(frames[1])


def test_a_second_peer_does_not_hide_that_the_first_is_gone(
    decide: Start, connect: Start, said: Said, speaker: Start
) -> None:
    decider = decide("--dispatcher", "fcfs", "--timeout", "60")
    other = speaker(decider.endpoint)
    batsim = connect(decider.endpoint)
    batsim.ask(said("delay")[0])
    other.send(b"x")
    assert other.recv() == REFUSAL
    batsim.leave()
    status, printed = decider.finish(10)
    assert status == 1
    assert "Batsim closed the connection after 1 messages" in printed


def test_a_second_peer_that_never_stops_talking_does_not_hide_it_either(
    decide: Start, connect: Start, said: Said, speaker: Start
) -> None:
    decider = decide("--dispatcher", "fcfs", "--timeout", "60")
    batsim = connect(decider.endpoint)
    batsim.ask(said("delay")[0])
    noisy = speaker(decider.endpoint, zmq.DEALER, SNDTIMEO=100)
    stop = threading.Event()

    def shout() -> None:
        while not stop.is_set():
            try:
                noisy.send_multipart([b"", b"x"])
            except zmq.ZMQError:
                time.sleep(0.001)

    thread = threading.Thread(target=shout)
    thread.start()
    try:
        time.sleep(0.2)
        batsim.leave()
        status, printed = decider.finish(15)
    finally:
        stop.set()
        thread.join()
    assert status == 1
    assert "Batsim closed the connection after 1 messages" in printed
    assert printed.count("refused") == 1


def test_nobody_can_take_the_name_of_the_first(decide: Start, said: Said, speaker: Start) -> None:
    """A connection may choose its identity; a second one of the same identity is not let in."""
    decider = decide("--dispatcher", "fcfs")
    first = speaker(decider.endpoint, ROUTING_ID=b"batsim")
    frames = said("composed")
    first.send(frames[0])
    first.recv()
    thief = speaker(decider.endpoint, ROUTING_ID=b"batsim", RCVTIMEO=300)
    thief.send(frames[-1])
    with pytest.raises(zmq.Again):
        thief.recv()
    for frame in frames[1:]:
        first.send(frame)
        assert first.recv().startswith(b"{")
    status, printed = decider.finish()
    assert status == 0, printed


def test_a_peer_that_connects_again_is_another_one(decide: Start, connect: Start, said: Said) -> None:
    decider = decide("--dispatcher", "fcfs", "--timeout", "60")
    frames = said("delay")
    batsim = connect(decider.endpoint)
    batsim.ask(frames[0])
    batsim.leave()
    connect(decider.endpoint).socket.send(frames[1])
    status, printed = decider.finish(10)
    assert status == 1
    assert "Batsim closed the connection after 1 messages" in printed


@pytest.mark.parametrize("after", [0, 2])
@pytest.mark.parametrize("count", [2, 5])
def test_a_message_of_several_parts_is_an_error(
    after: int, count: int, decide: Start, connect: Start, said: Said
) -> None:
    decider = decide("--dispatcher", "fcfs")
    batsim = connect(decider.endpoint)
    frames = said("delay")
    for frame in frames[:after]:
        batsim.ask(frame)
    batsim.socket.send_multipart([frames[after]] * count)
    status, printed = decider.finish(10)
    assert status == 2
    assert f"message of a peer: has {count} parts, expected one" in printed
    assert "bug" not in printed


def test_several_parts_of_a_second_peer_are_refused_as_one(
    decide: Start, connect: Start, said: Said, speaker: Start
) -> None:
    decider = decide("--dispatcher", "fcfs")
    batsim = connect(decider.endpoint)
    frames = said("composed")
    batsim.ask(frames[0])
    second = speaker(decider.endpoint)
    second.send_multipart([b"a", b"b", b"c"])
    assert second.recv() == REFUSAL
    dealer = speaker(decider.endpoint, zmq.DEALER)
    dealer.send(b"no empty part before this one")
    assert dealer.recv_multipart() == [b"", REFUSAL]
    for frame in frames[1:]:
        batsim.ask(frame)
    assert decider.finish()[0] == 0


@pytest.mark.parametrize("parts", [[b"x"], [b""], [b"x", b"y"]])
def test_a_first_peer_that_is_no_req_socket_is_told(parts: list[bytes], decide: Start, speaker: Start) -> None:
    decider = decide("--dispatcher", "fcfs")
    dealer = speaker(decider.endpoint, zmq.DEALER)
    dealer.send_multipart(parts)
    status, printed = decider.finish(10)
    assert status == 2
    assert "came from a socket that is no REQ socket" in printed


def test_a_local_socket_file_serves_as_well(decide: Start, connect: Start, said: Said, tmp_path: Path) -> None:
    path = Path(os.path.relpath(tmp_path / "s"))
    decider = decide(
        "--dispatcher", "fcfs", "--socket", f"ipc://{path}" if len(str(path)) < 90 else "ipc://@batdispatch-test"
    )
    batsim = connect(decider.endpoint)
    batsim.ask(said("delay")[0])
    batsim.leave()
    status, printed = decider.finish(10)
    assert status == 1
    assert "Batsim closed the connection after 1 messages" in printed


def test_an_answer_of_several_parts_is_an_error() -> None:
    context = zmq.Context()
    scheduler = context.socket(zmq.REP)
    port = scheduler.bind_to_random_port("tcp://127.0.0.1")

    def answer() -> None:
        scheduler.recv()
        scheduler.send_multipart([b'{"now":0.0,"events":[]}'] * 3)

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        with (
            RemotePeer(f"tcp://127.0.0.1:{port}", protocol("5"), timeout=10) as peer,
            pytest.raises(InputError, match="reply of the scheduler: has 3 parts, expected one"),
        ):
            peer.open("")
    finally:
        thread.join()
        context.destroy(linger=0)
