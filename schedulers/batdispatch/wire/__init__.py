"""Batsim's protocols: bytes <-> messages and replies. No sockets here.

A protocol is a module with the four functions of `Wire`; `protocol("4")` returns Batsim 4's.
"""

from __future__ import annotations

import importlib
from typing import Protocol, cast

from batdispatch.core.errors import InputError
from batdispatch.core.messages import Message, Reply

#: Protocol version -> module with the functions of `Wire`.
PROTOCOLS = {"4": "batdispatch.wire.batsim4"}


class Wire(Protocol):
    """What a protocol module offers. Decoding raises InputError for whatever is not a well-formed frame."""

    def decode_message(self, data: bytes) -> Message:
        """Read what a simulator sent."""

    def encode_message(self, message: Message) -> bytes:
        """Write a message as the simulator prints it."""

    def decode_reply(self, data: bytes) -> Reply:
        """Read what a dispatcher answered."""

    def encode_reply(self, reply: Reply) -> bytes:
        """Write a reply as the simulator reads it; ImpossibleDecision for what the protocol cannot express."""


def protocol(version: str) -> Wire:
    """Return the protocol of a Batsim version.

    Raises:
        InputError: there is no such protocol.
    """
    if version not in PROTOCOLS:
        raise InputError(f"protocol {version!r}: expected one of {', '.join(PROTOCOLS)}")
    return cast(Wire, importlib.import_module(PROTOCOLS[version]))
