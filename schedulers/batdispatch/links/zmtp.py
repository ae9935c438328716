"""ZeroMQ's protocol on the side of who answers: ZMTP 3.0 (RFC 23) with the mechanism NULL, and envelopes of RFC 28.

ZeroMQ itself hands each message from one thread to another, which costs more than all that is done with the message
here. What this file knows of the protocol is the greeting, the commands READY and PING, and frames.
"""

from __future__ import annotations

import socket

#: Flags of a frame: more parts follow; its size takes 8 bytes; it is a command.
_MORE, _LONG, _COMMAND = 1, 2, 4
_GREETED = 64
#: Signature, version, mechanism; that this is no server of a mechanism, and filler.
_GREETING = (b"\xff".ljust(9, b"\0") + b"\x7f" + b"\x03\x00" + b"NULL".ljust(20, b"\0")).ljust(_GREETED, b"\0")
_VERSION, _MECHANISM = 10, slice(12, 32)
_PING, _PONG, _TTL = b"\x04PING", b"\x04PONG", 2
#: Bytes that are read at a time.
_CHUNK = 1 << 16
#: Most parts of a message that are kept.
_PARTS = 1024


def _framed(body: bytes, flags: int = 0) -> bytes:
    size = len(body)
    if size < 256:
        return bytes((flags, size)) + body
    return bytes((flags | _LONG,)) + size.to_bytes(8, "big") + body


def _field(name: bytes, value: bytes) -> bytes:
    return bytes((len(name),)) + name + len(value).to_bytes(4, "big") + value


_READY = _framed(b"\x05READY" + _field(b"Socket-Type", b"REP") + _field(b"Identity", b""), _COMMAND)
#: What stands before an answer: an empty part, behind which more follows.
_ENVELOPE = _framed(b"", _MORE)


class Connection:
    """A connection that somebody opened to here.

    Whatever breaks it raises OSError: it closes, it does not speak this protocol, a message is too long.
    """

    def __init__(self, link: socket.socket, limit: int) -> None:
        """Greet.

        Args:
            link: the connection.
            limit: bytes of the longest message accepted.
        """
        self.link = link
        self._limit = limit
        self._data = bytearray()
        self._parts: list[bytes] = []
        self._greeted = False
        #: Whether it was told that it is not answered here.
        self.refused = False
        link.sendall(_GREETING)

    def read(self) -> None:
        """Read what has come, and wait for something as long as the socket waits.

        Raises:
            BlockingIOError: nothing came.
            OSError: see above.
        """
        data = self.link.recv(_CHUNK)
        if not data:
            raise ConnectionResetError("it was closed")
        self._data += data

    def message(self) -> list[bytes] | None:
        """Return the parts of the next message that was read, or None if it is not there as a whole.

        Raises:
            OSError: see above.
        """
        if not self._greeted and not self._greet():
            return None
        while (frame := self._frame()) is not None:
            flags, body = frame
            if flags & _COMMAND:
                self._answer(body)
                continue
            if len(self._parts) < _PARTS:
                self._parts.append(body)
            if sum(map(len, self._parts)) > self._limit:
                raise ConnectionAbortedError("a message is too long")
            if not flags & _MORE:
                parts, self._parts = self._parts, []
                return parts
        return None

    def send(self, answer: bytes) -> None:
        """Answer a message.

        Raises:
            OSError: see above.
        """
        self.link.sendall(_ENVELOPE + _framed(answer))

    def _greet(self) -> bool:
        """Take the other's greeting, and return whether it is there as a whole."""
        data = self._data
        if data[:1] not in (b"", _GREETING[:1]):
            raise ConnectionAbortedError("it does not speak ZMTP")
        if len(data) < _GREETED:
            return False
        if data[_VERSION] < _GREETING[_VERSION] or data[_MECHANISM] != _GREETING[_MECHANISM]:
            raise ConnectionAbortedError("it does not speak ZMTP 3 without a mechanism")
        del data[:_GREETED]
        self._greeted = True
        self.link.sendall(_READY)
        return True

    def _frame(self) -> tuple[int, bytes] | None:
        """Return flags and body of the next frame, or None if it is not there as a whole."""
        data = self._data
        if len(data) < 2:
            return None
        flags, begin, size = data[0], 2, data[1]
        if flags & _LONG:
            if len(data) < 9:
                return None
            begin, size = 9, int.from_bytes(data[1:9], "big")
            if size > self._limit:
                raise ConnectionAbortedError("a message is too long")
        end = begin + size
        if len(data) < end:
            return None
        body = bytes(data[begin:end])
        del data[:end]
        return flags, body

    def _answer(self, command: bytes) -> None:
        """Answer a command that wants an answer."""
        if command.startswith(_PING):
            self.link.sendall(_framed(_PONG + command[len(_PING) + _TTL :], _COMMAND))
