"""Batsim's protocols: bytes <-> messages and replies. No sockets here.

A protocol is a module whose `wire()` returns a `Wire` for one exchange; `protocol("4")` does that for Batsim 4's.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Protocol, cast

from batdispatch.batsim.features import Features, features_for
from batdispatch.core.errors import InputError

if TYPE_CHECKING:
    from batdispatch.core.line.messages import Message, Reply

#: Protocol version -> module whose `wire()` returns a `Wire`.
PROTOCOLS = {"4": "batdispatch.batsim.v4", "5": "batdispatch.batsim.v5.exchange"}


class Wire(Protocol):
    """One exchange in one protocol. Decoding raises InputError for whatever is not a well-formed frame.

    The handshake comes first where the protocol has one: the simulator sends `opening`, the decision process answers
    `answer_opening`, the simulator reads that with `read_answer`.
    """

    @property
    def DIRECTIONS(self) -> tuple[str, str]:
        """How recordings name the two directions: from the simulator, to the simulator."""

    def opens(self, frame: bytes) -> bool:
        """Return whether a frame looks like the first one of a simulator that speaks this protocol."""

    def opening(self, text: str) -> bytes | None:
        """Return the frame with which a simulator opens an exchange, or None where its first message does that."""

    def answer_opening(self, frame: bytes, features: Features) -> bytes | None:
        """Return the answer to a frame that opens an exchange, or None if the frame is a message."""

    def read_answer(self, answer: bytes) -> Features:
        """Read the answer to `opening`: what the decision process asks for."""

    def decode_message(self, data: bytes) -> Message:
        """Read what a simulator sent."""

    def encode_message(self, message: Message) -> bytes:
        """Write a message as the simulator prints it."""

    def decode_reply(self, data: bytes) -> Reply:
        """Read what a dispatcher answered."""

    def encode_reply(self, reply: Reply) -> bytes:
        """Write a reply as the simulator reads it; ImpossibleDecision for what the protocol cannot express."""

    def record(self, frame: bytes) -> Any:
        """Return a frame as it stands in a recording."""

    def unrecord(self, raw: Any) -> bytes:
        """Return the frame that stands in a recording."""

    def list_decisions(self, reply: Reply) -> list[dict[str, Any]]:
        """Return a reply's decisions as ``{timestamp, type, data}`` to be compared: in one way of writing each."""


def protocol(version: str) -> Wire:
    """Return the protocol of a Batsim version, for one exchange.

    Raises:
        InputError: there is no such protocol.
    """
    if version not in PROTOCOLS:
        raise InputError(f"protocol {version!r}: expected one of {', '.join(PROTOCOLS)}")
    return cast(Wire, importlib.import_module(PROTOCOLS[version]).wire())


def check_spoken(frame: bytes, wire: Wire) -> None:
    """Check that a simulator's first frame is not one of another protocol than `wire`.

    Raises:
        InputError: it is; names the protocol that it seems to be.
    """
    if wire.opens(frame):
        return
    version = next((version for version in PROTOCOLS if protocol(version).opens(frame)), None)
    if version is not None:
        raise InputError(
            f"seems to be that of a Batsim {version}; for this Batsim use --protocol {version}",
            source="the first message",
        )


__all__ = ["PROTOCOLS", "Features", "Wire", "check_spoken", "features_for", "protocol"]
