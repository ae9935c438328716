"""ZeroMQ's protocol as `serve` speaks it: frames in any pieces, commands, and bytes that mean nothing."""

import socket
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.links.zmtp import Connection

GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x01NULL" + bytes(48)
READY = b"\x04\x19\x05READY\x0bSocket-Type\0\0\0\x03REQ"
LIMIT = 1000


class Pair:
    """A connection and its other end."""

    def __init__(self) -> None:
        self.other, link = socket.socketpair()
        link.setblocking(False)
        self.connection = Connection(link, LIMIT)
        assert self.other.recv(64).startswith(b"\xff")

    def close(self) -> None:
        self.other.close()
        self.connection.link.close()

    def take(self, data: bytes) -> list[list[bytes]]:
        """Send some bytes, and return the messages that are whole then."""
        self.other.sendall(data)
        self.connection.read()
        messages = []
        while (message := self.connection.message()) is not None:
            messages.append(message)
        return messages


@pytest.fixture
def pair() -> Iterator[Pair]:
    made = Pair()
    yield made
    made.close()


@given(bodies=st.lists(st.binary(max_size=400), min_size=1, max_size=4), cuts=st.lists(st.integers(1, 90), max_size=30))
def test_messages_may_come_in_any_pieces(bodies: list[bytes], cuts: list[int]) -> None:
    said = GREETING + READY
    for body in bodies:
        size = bytes((0, len(body))) if len(body) < 256 else b"\x02" + len(body).to_bytes(8, "big")
        said += b"\x01\x00" + size + body
    pair = Pair()
    try:
        messages = []
        for cut in [*cuts, len(said)]:
            piece, said = said[:cut], said[cut:]
            messages += pair.take(piece) if piece else []
        assert messages == [[b"", body] for body in bodies]
    finally:
        pair.close()


def test_whoever_asks_whether_somebody_is_there_is_answered(pair: Pair) -> None:
    assert pair.take(GREETING + READY) == []
    pair.other.recv(1000)
    assert pair.take(b"\x04\x09\x04PING\x00\x10hi") == []
    assert pair.other.recv(1000) == b"\x04\x07\x04PONGhi"


def test_an_answer_has_an_empty_part_before_it(pair: Pair) -> None:
    for answer, size in ((b"x", b"\x00\x01"), (b"y" * 300, b"\x02" + (300).to_bytes(8, "big"))):
        pair.connection.send(answer)
        assert pair.other.recv(1000) == b"\x01\x00" + size + answer


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1",
        GREETING[:10] + b"\x01" + GREETING[11:],
        GREETING.replace(b"NULL", b"PLAIN")[:64],
        GREETING + READY + b"\x02" + (LIMIT + 1).to_bytes(8, "big"),
        GREETING + READY + (b"\x01\xc8" + bytes(200)) * 6,
    ],
)
def test_what_is_no_zmtp_or_too_long_breaks_the_connection(pair: Pair, data: bytes) -> None:
    with pytest.raises(OSError, match=r"ZMTP|too long"):
        pair.take(data)


@given(data=st.binary(max_size=300))
def test_any_bytes_are_messages_or_break_the_connection(data: bytes) -> None:
    pair = Pair()
    try:
        pair.take(GREETING + READY)
        pair.take(b"\x04\x00" + data)
    except OSError:
        pass
    finally:
        pair.close()
