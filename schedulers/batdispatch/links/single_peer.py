"""A listening socket that talks with one peer, the first that says something, and refuses what any other one says."""

from __future__ import annotations

from collections.abc import Callable

import zmq

from batdispatch.core.errors import InputError
from batdispatch.links.connections import Connections

#: What a refused peer is answered: no frame of any protocol, so that it stops with this text in its error message.
REFUSAL = b"refused: another simulation is being answered here, and one decision process answers one simulation"
#: The flag as a number: as a member of its enumeration it costs a conversion each time.
_MORE = int(zmq.SNDMORE)
#: Most peers whose refusal is told to the user.
_TOLD = 5


class SinglePeer:
    """A ROUTER socket that is used as a REP socket is, but with one partner.

    ZeroMQ gives every connection an identity, and an answer to it never reaches another one. Whoever speaks first is
    the peer for good. The connection is what counts: a peer that lost its connection cannot come back, and no other one
    can take its place.

    Attributes:
        connections: those of the socket; once a peer spoke, its own counts.
    """

    def __init__(self, socket: zmq.Socket[bytes], on_notice: Callable[[str], None] = lambda text: None) -> None:
        """Take a ROUTER socket before it is bound."""
        self.connections = Connections(socket)
        self._socket = socket
        self._on_notice = on_notice
        self._identity: bytes | None = None
        self._refused: set[bytes] = set()

    def close(self) -> None:
        """Stop watching; the socket stays open."""
        self.connections.monitor.close(linger=0)

    def receive(self) -> bytes | None:
        """Return the peer's next frame, or None if another one's frame was refused.

        Raises:
            zmq.Again: the socket's time is over, and nobody said anything.
            InputError: the message has several parts.
        """
        receive = self._socket.recv
        sender = receive()
        if sender != self._identity:
            if self._identity is not None:
                self._refuse(sender)
                return None
            return self._begin(sender)
        # A REQ socket puts an empty part before what it sends.
        mark, frame = receive(), receive(copy=False)
        # Asking the socket whether there is more would take as long as all of this.
        if mark or frame.more:
            raise _not_one_part(2 + self._skip())
        return frame.bytes

    def send(self, frame: bytes) -> None:
        """Answer the peer."""
        assert self._identity is not None
        send = self._socket.send
        send(self._identity, _MORE)
        send(b"", _MORE)
        send(frame)

    def _begin(self, sender: bytes) -> bytes:
        """Make whoever sent the message that is being received the peer, and return the frame."""
        parts = [self._socket.recv(copy=False)]
        while parts[-1].more:
            parts.append(self._socket.recv(copy=False))
            if len(parts) > 2:
                raise _not_one_part(len(parts) + self._skip())
        if len(parts) != 2 or len(parts[0]):
            raise InputError("came from a socket that is no REQ socket, expected Batsim's", source="message of a peer")
        self._identity = sender
        self.connections.follow(int(parts[1].get(zmq.SRCFD)))
        return parts[1].bytes

    def _refuse(self, sender: bytes) -> None:
        self._skip()
        for part in (sender, b""):
            self._socket.send(part, _MORE)
        self._socket.send(REFUSAL)
        if sender not in self._refused and len(self._refused) < _TOLD:
            self._refused.add(sender)
            self._on_notice("a second peer sent a message and was refused: one decision process answers one simulation")

    def _skip(self) -> int:
        """Pass over what is left of a message, and return the number of parts."""
        count = 0
        while self._socket.getsockopt(zmq.RCVMORE):
            self._socket.recv(copy=False)
            count += 1
        return count


def _not_one_part(count: int) -> InputError:
    return InputError(f"has {count - 1} parts, expected one", source="message of a peer")
