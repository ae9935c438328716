"""A listening socket that talks with one peer, the first that says something, and refuses what any other one says."""

from __future__ import annotations

import selectors
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from batdispatch.core.errors import InputError
from batdispatch.links.connections import GLANCE, KEEPALIVE
from batdispatch.links.zmtp import Connection

#: What a refused peer is answered: no frame of any protocol, so that it stops with this text in its error message.
REFUSAL = b"refused: another simulation is being answered here, and one decision process answers one simulation"
#: Most peers whose refusal is told to the user.
_TOLD = 5
#: Connections that may wait to be accepted.
_BACKLOG = 100


class SinglePeer:
    """What listens at an endpoint, as a REP socket of ZeroMQ does, but with one partner.

    Whoever speaks first is the peer for good. The connection is what counts: a peer that lost its connection cannot
    come back, and no other one can take its place.

    Attributes:
        endpoint: where it listens.
        gone: whether the peer's connection is closed.
        left: whether a connection closed before there was a peer; who tells of it sets it back.
    """

    def __init__(self, address: str, limit: int, on_notice: Callable[[str], None] = lambda text: None) -> None:
        """Listen.

        Args:
            address: as `check_endpoint` returns it.
            limit: bytes of the longest message; the connection of who sends more is closed.
            on_notice: called with what is remarkable.

        Raises:
            OSError: the address cannot be bound.
        """
        self._limit, self._on_notice = limit, on_notice
        self.gone = self.left = False
        self._refused = 0
        self._peer: Connection | None = None
        #: Whether the peer is waited for together with all others, since it has said nothing for a while.
        self._idle = False
        #: All connections, and what accepts them.
        self._open = selectors.DefaultSelector()
        self._listener, self.endpoint = _listening(address)
        self._open.register(self._listener, selectors.EVENT_READ)
        self._looked = time.monotonic()

    @property
    def connected(self) -> bool:
        """Whether the peer is there or, before there is one, anybody."""
        return not self.gone if self._peer is not None else len(self._open.get_map()) > 1

    def close(self) -> None:
        """Close all connections; what was sent still arrives."""
        for key in list(self._open.get_map().values()):
            assert isinstance(key.fileobj, socket.socket)
            key.fileobj.close()
        self._open.close()
        if self.endpoint.startswith("ipc://"):
            _remove(self.endpoint[6:])

    def receive(self) -> bytes | None:
        """Return the peer's next frame, or None if a while has passed without one.

        Raises:
            InputError: the message has several parts, or does not come from a REQ socket.
        """
        if self._peer is None:
            return self._first()
        now = time.monotonic()
        if self._idle or now >= self._looked + GLANCE:
            self._looked = now
            self._look(GLANCE if self._idle else 0)
        parts = None if self._idle or self.gone else self._next(self._peer)
        return None if parts is None else _frame_of(parts)

    def send(self, frame: bytes) -> None:
        """Answer the peer; one that is gone is noticed when it is listened to again."""
        assert self._peer is not None
        with suppress(OSError):
            self._peer.send(frame)

    def _next(self, peer: Connection) -> list[bytes] | None:
        """Return the peer's next message, if it comes soon."""
        try:
            while (parts := peer.message()) is None:
                peer.read()
        except BlockingIOError:
            self._idle = True
            return None
        except OSError:
            self.gone = True
            self._drop(peer)
            return None
        return parts

    def _first(self) -> bytes | None:
        """Wait for the first message of anybody, who is the peer from then on."""
        found = self._look(GLANCE)
        if found is None:
            return None
        self._peer, parts = found
        link = self._peer.link
        link.setblocking(True)
        # A receive that blocks for a while takes one call of the system, where a timeout of Python takes two.
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, round(GLANCE * 1e6)))
        return _frame_of(parts)

    def _look(self, wait: float) -> tuple[Connection, list[bytes]] | None:
        """Accept and answer whoever is not the peer; return the first that speaks if there is no peer."""
        for key, _ in self._open.select(wait):
            other = key.data
            if other is None:
                self._accept()
                continue
            if other is self._peer:
                self._idle = False
                continue
            try:
                parts = self._heard(other)
            except OSError:
                self._drop(other)
                continue
            if parts is not None:
                return other, parts
        return None

    def _heard(self, other: Connection) -> list[bytes] | None:
        """Read from a connection once, and refuse what it says if there is a peer; return what it says else.

        Raises:
            OSError: the connection is broken.
        """
        with suppress(BlockingIOError):
            other.read()
        while (parts := other.message()) is not None:
            if self._peer is None:
                return parts
            other.send(REFUSAL)
            self._tell_refusal(other)
        return None

    def _tell_refusal(self, other: Connection) -> None:
        if not other.refused and self._refused < _TOLD:
            self._refused += 1
            self._on_notice("a second peer sent a message and was refused: one decision process answers one simulation")
        other.refused = True

    def _accept(self) -> None:
        with suppress(OSError):
            link, _ = self._listener.accept()
            link.setblocking(False)
            if link.family != socket.AF_UNIX:
                _prepare(link)
            self._open.register(link, selectors.EVENT_READ, Connection(link, self._limit))

    def _drop(self, other: Connection) -> None:
        self._open.unregister(other.link)
        other.link.close()
        self.left = True


def _frame_of(parts: list[bytes]) -> bytes:
    """Return what stands behind the empty part that a REQ socket puts before what it sends.

    Raises:
        InputError: it is not so.
    """
    if len(parts) < 2 or parts[0]:
        raise InputError("came from a socket that is no REQ socket, expected Batsim's", source="message of a peer")
    if len(parts) > 2:
        raise InputError(f"has {len(parts) - 1} parts, expected one", source="message of a peer")
    return parts[1]


def _listening(address: str) -> tuple[socket.socket, str]:
    """Return a socket that listens at an address, and what the address really is.

    Raises:
        OSError: it cannot be bound.
    """
    if address.startswith("ipc://"):
        path = address[6:]
        listener = socket.socket(socket.AF_UNIX)
        _remove(path)
        listener.bind("\0" + path[1:] if path.startswith("@") else path)
        listener.listen(_BACKLOG)
        return listener, address
    host, _, port = address.removeprefix("tcp://").rpartition(":")
    host = "0.0.0.0" if host == "*" else host.strip("[]")
    family, _, _, _, where = socket.getaddrinfo(host, 0 if port == "*" else int(port), type=socket.SOCK_STREAM)[0]
    listener = socket.create_server(where[:2], family=family, backlog=_BACKLOG)
    name, number = listener.getsockname()[:2]
    return listener, f"tcp://[{name}]:{number}" if family == socket.AF_INET6 else f"tcp://{name}:{number}"


def _remove(path: str) -> None:
    """Remove the file of a local socket; names that begin with @ have none."""
    if not path.startswith("@"):
        with suppress(OSError):
            Path(path).unlink()


def _prepare(link: socket.socket) -> None:
    """Send at once, and find out about hosts that vanish."""
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in zip(("TCP_KEEPIDLE", "TCP_KEEPINTVL", "TCP_KEEPCNT"), KEEPALIVE, strict=True):
        # Not every system has all of them.
        if hasattr(socket, name):
            link.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
