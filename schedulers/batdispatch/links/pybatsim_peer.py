"""Any pybatsim scheduler as a peer: driven by the embedded engine, a recording or a test, without a socket."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from batdispatch.batsim import v4
from batdispatch.core.errors import BatdispatchError, InputError, SimulationError
from batdispatch.core.line.blame import interrupt_of
from batdispatch.core.line.messages import Message, Reply
from batdispatch.links.pybatsim import find_scheduler, require_pybatsim

#: pybatsim's constructor takes its network class from its module; it is replaced for that moment only.
_construction = threading.Lock()


class _Exchange:
    """Stands in for pybatsim's NetworkHandler: hands over one message and keeps the answer."""

    def __init__(self) -> None:
        self.message: dict[str, Any] | None = None
        self.answer: dict[str, Any] | None = None

    def bind(self) -> None:
        """Nothing to bind."""

    def close(self) -> None:
        """Nothing to close."""

    def recv(self, blocking: bool = False) -> dict[str, Any]:
        """Return the message, once."""
        message, self.message = self.message, None
        if message is None:
            raise SimulationError("the pybatsim scheduler asked for a message out of turn")
        return message

    def send(self, answer: dict[str, Any]) -> None:
        """Keep the answer."""
        self.answer = answer


class _Discard(io.TextIOBase):
    def write(self, text: str) -> int:
        return len(text)


class PybatsimPeer:
    """Answers messages with a pybatsim scheduler; see `batdispatch.core.line.messages.Peer`.

    Messages are turned into the JSON values that Batsim 4 would have sent, and the answers are checked as Batsim would
    check them, so the scheduler sees no difference. What it prints is discarded.

    Attributes:
        scheduler: the scheduler object.
    """

    def __init__(self, scheduler: str | type[Any], options: Mapping[str, Any] | None = None) -> None:
        """Create the scheduler, given by class or by name (see `batdispatch.links.pybatsim.find_scheduler`).

        Raises:
            InputError: pybatsim is missing, there is no such scheduler, or it refuses its options.
        """
        self._pybatsim = require_pybatsim()
        cls = find_scheduler(scheduler) if isinstance(scheduler, str) else scheduler
        self._name = cls.__name__
        self._exchange = _Exchange()
        self._batsim: Any = None
        try:
            with self._sheltered():
                self.scheduler: Any = cls(dict(options or {}))
        except Exception as problem:
            raise InputError(f"pybatsim scheduler {self._name} refuses its options: {_describe(problem)}") from None

    def handle(self, message: Message) -> Reply:
        """Answer a message.

        Raises:
            SimulationError: the scheduler failed with an exception of its own.
            InputError: it answered something that Batsim would refuse.
        """
        self._exchange.message = json.loads(v4.encode_message(message))
        self._exchange.answer = None
        try:
            with self._sheltered():
                if self._batsim is None:
                    self._batsim = self._begin()
                else:
                    self._batsim.do_next_event()
        except BatdispatchError:
            raise
        except Exception as problem:
            if (interrupt := interrupt_of(problem)) is not None:
                raise interrupt from None
            raise SimulationError(
                f"pybatsim scheduler {self._name} failed at {message.now:.6f} s: {_describe(problem)}"
            ) from problem
        if self._exchange.answer is None:
            raise SimulationError(f"pybatsim scheduler {self._name} did not answer at {message.now:.6f} s")
        return v4.decode_reply(json.dumps(self._exchange.answer).encode())

    def _begin(self) -> Any:
        # The constructor reads and answers the first message.
        with _construction:
            real = self._pybatsim.NetworkHandler
            self._pybatsim.NetworkHandler = lambda *args, **options: self._exchange
            try:
                return self._pybatsim.Batsim(self.scheduler, "", 0)
            finally:
                self._pybatsim.NetworkHandler = real

    @contextlib.contextmanager
    def _sheltered(self) -> Iterator[None]:
        """Keep what pybatsim does to the whole process (a recursion limit, printing) inside a call."""
        limit = sys.getrecursionlimit()
        with contextlib.redirect_stdout(_Discard()):
            try:
                yield
            finally:
                sys.setrecursionlimit(limit)


def _describe(problem: Exception) -> str:
    text = str(problem)
    return f"{type(problem).__name__}: {text}" if text else type(problem).__name__
