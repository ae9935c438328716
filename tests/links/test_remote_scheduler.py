"""A scheduler behind a socket that dies is noticed at once; one that only takes its time is not taken for dead."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zmq

from batdispatch.batsim import v4
from batdispatch.core.errors import SimulationError
from batdispatch.core.line.messages import Message
from batdispatch.links.connections import GLANCE, GRACE
from batdispatch.links.remote_peer import RemotePeer

RECORDINGS = Path(__file__).parents[1] / "conformance" / "recordings"
ANSWER = b'{"now": 3.0, "events": []}'


@pytest.fixture
def scheduler() -> Iterator[zmq.Socket[bytes]]:
    context = zmq.Context()
    socket = context.socket(zmq.REP)
    socket.setsockopt(zmq.LINGER, 1000)
    socket.setsockopt(zmq.RCVTIMEO, 20_000)
    socket.bind("tcp://127.0.0.1:*")
    yield socket
    socket.close()
    context.term()


def in_background(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_one_that_goes_without_an_answer(scheduler: zmq.Socket[bytes]) -> None:
    def answer_once() -> None:
        scheduler.recv()
        scheduler.send(ANSWER)
        scheduler.recv()
        scheduler.close(linger=0)

    endpoint = scheduler.getsockopt_string(zmq.LAST_ENDPOINT)
    thread = in_background(answer_once)
    # No time-out comes to help.
    with RemotePeer(endpoint, v4, timeout=10**6) as peer:
        assert peer.handle(Message(3.0, [])).decisions == []
        with pytest.raises(SimulationError, match="closed the connection after 1 answers"):
            peer.handle(Message(3.0, []))
    thread.join()


def test_one_that_takes_its_time(scheduler: zmq.Socket[bytes]) -> None:
    def think() -> None:
        scheduler.recv()
        time.sleep(2 * (GLANCE + GRACE))
        scheduler.send(ANSWER)

    endpoint = scheduler.getsockopt_string(zmq.LAST_ENDPOINT)
    thread = in_background(think)
    with RemotePeer(endpoint, v4, timeout=60) as peer:
        assert peer.handle(Message(3.0, [])).now == 3.0
    thread.join()


def test_one_that_comes_late_and_leaves_with_its_last_answer() -> None:
    context = zmq.Context()
    place = context.socket(zmq.REP)
    place.bind("tcp://127.0.0.1:*")
    endpoint = place.getsockopt_string(zmq.LAST_ENDPOINT)
    place.close(linger=0)
    context.term()

    def come_late() -> None:
        time.sleep(3 * GLANCE)
        late = zmq.Context()
        socket = late.socket(zmq.REP)
        socket.bind(endpoint)
        socket.recv()
        time.sleep(2 * GLANCE)
        socket.send(ANSWER)
        socket.close(linger=1000)
        late.term()

    thread = in_background(come_late)
    with RemotePeer(endpoint, v4, timeout=60) as peer:
        assert peer.handle(Message(3.0, [])).now == 3.0
        thread.join()
        with pytest.raises(SimulationError, match="closed the connection after 1 answers"):
            peer.handle(Message(3.0, []))


THINKING = '''
import os, signal

from batdispatch import Dispatcher


class Dying(Dispatcher):
    """Ends at its third decision, as when the kernel runs out of memory."""

    calls = 0

    def decide(self, ledger):
        self.calls += 1
        if self.calls == 3:
            os.kill(os.getpid(), signal.SIGKILL)
'''


def test_the_command_says_so(decide: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "dying.py").write_text(THINKING)
    decider = decide("--dispatcher", f"{tmp_path / 'dying.py'}:Dying", apart=True)
    jobs = [{"id": str(at), "subtime": at, "res": 1, "profile": "d"} for at in range(9)]
    (tmp_path / "w.json").write_text(
        json.dumps({"nb_res": 4, "jobs": jobs, "profiles": {"d": {"type": "delay", "delay": 3}}})
    )
    words = ["--platform", str(RECORDINGS / "platforms" / "four.xml"), "--workload", str(tmp_path / "w.json")]
    words += ["--socket", decider.endpoint, "--timeout", "600", "--out", str(tmp_path / "out")]
    done = subprocess.run(
        [sys.executable, "-c", "from batdispatch.cli.main import main; main()", "engine", *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "closed the connection after 2 answers" in done.stderr
    assert not list((tmp_path / "out").glob("*.csv"))
