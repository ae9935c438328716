"""A dispatcher behind a socket, as an engine in Batsim's place sees it: a ZeroMQ REQ socket that connects."""

from __future__ import annotations

import time
from collections.abc import Callable

import zmq

from batdispatch.batsim import Features, Wire
from batdispatch.core.errors import InputError, SimulationError
from batdispatch.core.line.messages import Message, Reply
from batdispatch.links.connections import GLANCE, Connections, keep_alive
from batdispatch.links.endpoint import check_endpoint
from batdispatch.links.options import MAX_MESSAGE


class RemotePeer:
    """Asks a scheduler at an endpoint; a context manager.

    Raises:
        InputError: the endpoint, or an answer, is malformed.
        SimulationError: the scheduler closed the connection, as it does when it dies, or no answer came within
            `timeout` seconds. One that has not been there yet is waited for.
    """

    def __init__(
        self, endpoint: str, wire: Wire, *, timeout: float = 600.0, watch: Callable[[], None] = lambda: None
    ) -> None:
        """Take where the scheduler listens; `watch` is called while an answer is waited for, and may raise."""
        self.endpoint = endpoint
        self._address = check_endpoint(endpoint, allow_remote=True)
        self._wire = wire
        self._timeout = timeout
        self._watch = watch
        self._answered = 0
        self._context: zmq.Context[zmq.Socket[bytes]] | None = None
        self._socket: zmq.Socket[bytes] | None = None
        self._connections: Connections | None = None

    def __enter__(self) -> RemotePeer:
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.REQ)
        self._socket.setsockopt(zmq.MAXMSGSIZE, MAX_MESSAGE)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.setsockopt(zmq.RCVTIMEO, max(round(min(self._timeout, GLANCE) * 1000), 1))
        self._socket.setsockopt(zmq.SNDTIMEO, max(round(self._timeout * 1000), 1))
        if self._address.startswith("tcp://["):
            self._socket.setsockopt(zmq.IPV6, 1)
        keep_alive(self._socket)
        self._connections = Connections(self._socket)
        try:
            self._socket.connect(self._address)
        except zmq.ZMQError as problem:
            self.__exit__(None, None, None)
            raise InputError(f"endpoint {self.endpoint!r} cannot be connected to: {problem.strerror}") from None
        return self

    def __exit__(self, *problem: object) -> None:
        assert self._socket is not None
        assert self._context is not None
        if self._connections is not None:
            self._connections.monitor.close(linger=0)
        self._socket.close()
        self._context.term()

    def open(self, text: str = "") -> Features | None:
        """Introduce the simulator; return what the scheduler asks for, or None where the protocol has no handshake."""
        frame = self._wire.opening(text)
        return None if frame is None else self._wire.read_answer(self._ask(frame))

    def handle(self, message: Message) -> Reply:
        """Send a message and wait for the answer."""
        return self._wire.decode_reply(self._ask(self._wire.encode_message(message)))

    def _ask(self, frame: bytes) -> bytes:
        assert self._socket is not None
        began = time.monotonic()
        try:
            self._socket.send(frame)
        except zmq.Again:
            raise self._silent() from None
        while True:
            try:
                answer, *more = self._socket.recv_multipart()
            except zmq.Again:
                self._look_around(began)
            else:
                if more:
                    raise InputError(f"has {1 + len(more)} parts, expected one", source="reply of the scheduler")
                self._answered += 1
                return answer

    def _look_around(self, began: float) -> None:
        """Report a scheduler that is gone, or has not answered for too long."""
        assert self._connections is not None
        self._watch()
        self._connections.update()
        if self._connections.gone:
            raise SimulationError(
                f"the scheduler at {self.endpoint} closed the connection after {self._answered} answers and left the "
                "next message unanswered (it stopped, or it refused the message)"
            )
        if time.monotonic() >= began + self._timeout:
            raise self._silent()

    def _silent(self) -> SimulationError:
        return SimulationError(
            f"the scheduler at {self.endpoint} has not answered for {self._timeout:g} s "
            f"(after {self._answered} answers)"
        )
