"""One exchange in Batsim 5's protocol; see `batdispatch.batsim.Wire`."""

from __future__ import annotations

from typing import Any

import msgspec

from batdispatch.batsim.features import Features
from batdispatch.batsim.v5 import handshake
from batdispatch.batsim.v5.messages import decode_message, encode_message
from batdispatch.batsim.v5.replies import decode_reply, encode_reply
from batdispatch.batsim.v5.state import ExchangeState
from batdispatch.core.line.messages import Message, Reply


class Batsim5:
    """The protocol and what one exchange has settled.

    Attributes:
        init: the text that Batsim was given for its decision component.
        compute_sharing: whether the decision component says that it lets jobs share hosts.
    """

    DIRECTIONS = ("batsim->edc", "edc->batsim")

    def __init__(self) -> None:
        self.init = ""
        self.compute_sharing = False
        self._state = ExchangeState()
        self._open = False
        self._old = False

    opens = staticmethod(handshake.opens)
    opening = staticmethod(handshake.write_opening)
    record = staticmethod(handshake.record)
    unrecord = staticmethod(handshake.unrecord)

    def answer_opening(self, frame: bytes, features: Features) -> bytes | None:
        """Return the answer to a frame that opens the exchange, or None if the frame is a message.

        Raises:
            InputError: the simulator announces binary messages.
        """
        if self._open:
            return None
        if self._old and b"BatsimHelloEvent" in frame:
            self._open = True
            self._state.features = features
            return handshake.hello(features) + b"\0"
        said = handshake.read_opening(frame)
        if said is None:
            return None
        self.init = said.text
        if said.old:
            self._old = True
            return b""
        self._open = True
        self._state.features = features
        return handshake.write_answer(handshake.hello(features))

    def read_answer(self, answer: bytes) -> Features:
        """Read the answer to `opening`: what the decision component asks for.

        Raises:
            InputError: it is no such answer, or it asks for binary messages.
        """
        features, constraints = handshake.read_answer(answer)
        self.compute_sharing = constraints.compute_sharing
        self._open = True
        self._state.features = features
        return features

    def decode_message(self, data: bytes) -> Message:
        """Read what a simulator sent."""
        return decode_message(data, self._state)

    def encode_message(self, message: Message) -> bytes:
        """Write a message as Batsim 5 sends it."""
        return encode_message(message, self._state)

    def decode_reply(self, data: bytes) -> Reply:
        """Read what a decision component answered."""
        return decode_reply(data, self._state)

    def encode_reply(self, reply: Reply) -> bytes:
        """Write a reply as Batsim 5 reads it."""
        return encode_reply(reply, self._state)

    def list_decisions(self, reply: Reply) -> list[dict[str, Any]]:
        """Return a reply's decisions as ``{timestamp, type, data}``; the names of calls do not count."""
        written: dict[str, Any] = msgspec.json.decode(self.encode_reply(reply).rstrip(b"\0"))
        for event in written["events"]:
            event["event"].pop("call_me_later_id", None)
        return [
            {"timestamp": event["timestamp"], "type": event["event_type"], "data": event["event"]}
            for event in written["events"]
        ]


def wire() -> Batsim5:
    """Return the protocol for one exchange."""
    return Batsim5()
