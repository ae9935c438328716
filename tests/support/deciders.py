"""A scripted Batsim, and deciders that it talks to, as fixtures: whoever uses them imports them into a conftest."""

import io
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, TextIO
from unittest import mock

import pytest
import zmq

from batdispatch.cli.main import main

MAIN = "from batdispatch.cli.main import main; main()"


class DeciderApart:
    """`batdispatch serve` in a process of its own, on a free loopback port."""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-u", "-c", MAIN, "serve", "--socket", "tcp://127.0.0.1:*", *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("listening on "), (line, self.finish())
        self.endpoint = line.split()[-1]

    def finish(self, seconds: float = 20) -> tuple[int, str]:
        """Wait for the end; return the exit status and what was printed."""
        out, err = self.process.communicate(timeout=seconds)
        return self.process.returncode, out + err

    def leave(self) -> None:
        """End it whatever it does."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()


class Decider(threading.Thread):
    """`batdispatch serve` in a thread of this process, on a free loopback port."""

    def __init__(self, *arguments: str) -> None:
        super().__init__(daemon=True)
        self.printed, self.ready, self.status = io.StringIO(), threading.Event(), -1
        words = ["batdispatch", "serve", "--socket", "tcp://127.0.0.1:*", *arguments]
        with mock.patch.object(sys, "argv", words), mock.patch("signal.signal"):
            self.start()
            assert self.ready.wait(20)
        line = self.printed.getvalue().partition("\n")[0]
        assert line.startswith("listening on "), self.printed.getvalue()
        self.endpoint = line.split()[-1]

    def run(self) -> None:
        try:
            main()
        except SystemExit as stop:
            self.status = int(stop.code or 0)
        finally:
            self.ready.set()

    def finish(self, seconds: float = 20) -> tuple[int, str]:
        """Wait for the end; return the exit status and what was printed after the endpoint."""
        self.join(seconds)
        assert not self.is_alive()
        return self.status, self.printed.getvalue().partition("\n")[2]

    def leave(self) -> None:
        """See that it has ended: nobody can end a thread."""
        self.finish(5)


class Voices(io.StringIO):
    """A stream that keeps what each decider prints for itself, and hands on the rest."""

    encoding = "utf-8"

    def __init__(self, real: TextIO) -> None:
        super().__init__()
        self.real = real

    def write(self, text: str) -> int:
        speaker = threading.current_thread()
        if not isinstance(speaker, Decider):
            return self.real.write(text)
        count = speaker.printed.write(text)
        if "\n" in text:
            speaker.ready.set()
        return count


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
def decide(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Start deciders that are gone after the test; those `apart` can be sent signals, and may die."""
    started: list[Decider | DeciderApart] = []

    def start(*arguments: str, apart: bool = False) -> Decider | DeciderApart:
        # Not before: pytest puts its own streams there when a test begins.
        for name in ("stdout", "stderr"):
            monkeypatch.setattr(sys, name, Voices(getattr(sys, name)))
        started.append(DeciderApart(*arguments) if apart else Decider(*arguments))
        return started[-1]

    yield start
    for decider in started:
        decider.leave()


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
