"""A scripted Batsim for the tests of the decision process."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zmq

RECORDINGS = Path(__file__).parents[1] / "conformance" / "recordings" / "batsim4"


class Decider:
    """`batdispatch serve` in a process of its own, on a free loopback port."""

    def __init__(self, *arguments: str, program: str = "from batdispatch.cli.main import main; main()") -> None:
        command = [sys.executable, "-u", "-c", program, "serve", "--socket", "tcp://127.0.0.1:*", *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("listening on "), (line, self.finish())
        self.endpoint = line.split()[-1]

    def finish(self, seconds: float = 20) -> tuple[int, str]:
        """Wait for the end; return the exit status and what was printed."""
        out, err = self.process.communicate(timeout=seconds)
        return self.process.returncode, out + err


class Batsim:
    """The REQ side of an exchange."""

    def __init__(self, endpoint: str) -> None:
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.REQ)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.setsockopt(zmq.RCVTIMEO, 20_000)
        self.socket.connect(endpoint)

    def ask(self, frame: bytes) -> Any:
        """Send a frame and return the answer."""
        self.socket.send(frame)
        return json.loads(self.socket.recv())

    def leave(self) -> None:
        """Go away without a word."""
        self.socket.close(linger=0)
        self.context.term()


@pytest.fixture
def recordings() -> Path:
    """Folder of the recorded Batsim 4 exchanges."""
    return RECORDINGS


@pytest.fixture
def said() -> Callable[[str], list[bytes]]:
    """Return what Batsim said in a recording, frame by frame."""

    def read(name: str) -> list[bytes]:
        lines = map(json.loads, (RECORDINGS / name / "exchange.jsonl").read_text().splitlines())
        return [line["raw"].encode() for line in lines if line["dir"] == "batsim->sched"]

    return read


@pytest.fixture
def decide() -> Iterator[Callable[..., Decider]]:
    """Start decision processes that are gone after the test."""
    started: list[Decider] = []

    def start(*arguments: str, **more: str) -> Decider:
        started.append(Decider(*arguments, **more))
        return started[-1]

    yield start
    for decider in started:
        if decider.process.poll() is None:
            decider.process.kill()
        decider.process.wait()
        for stream in (decider.process.stdout, decider.process.stderr):
            assert stream is not None
            stream.close()


@pytest.fixture
def connect() -> Iterator[Callable[[str], Batsim]]:
    """Connect scripted Batsims that are gone after the test."""
    started: list[Batsim] = []

    def start(endpoint: str) -> Batsim:
        started.append(Batsim(endpoint))
        return started[-1]

    yield start
    for batsim in started:
        if not batsim.socket.closed:
            batsim.leave()
