"""The handshake: Batsim introduces itself in binary, the decision component answers with what it asks for.

Batsim sends a 32-bit size and its init string; the answer is 32-bit flags (1: binary messages follow, 2: JSON) and a
message that holds nothing but an EDCHelloEvent. Pre-releases sent the flags themselves, expected an empty answer, and
then said BatsimHelloEvent.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import msgspec

from batdispatch import __version__
from batdispatch.batsim.features import Features
from batdispatch.batsim.v5.replies import decode_greeting
from batdispatch.batsim.v5.shapes import ConstraintData
from batdispatch.core.errors import InputError

BINARY, JSON = 1, 2
#: The version of batprotocol whose JSON form this is.
BATPROTOCOL = "0.1.0"
_U32 = struct.Struct("<I")
_NO_BINARY = (
    "the binary form of batprotocol (flatbuffers) is not supported: its schema is not published on any package index. "
    "Batsim and the decision component must agree on JSON"
)


class Opening(NamedTuple):
    """A frame of Batsim's that opens an exchange; `old`: in the way of the pre-releases."""

    text: str
    old: bool


def write_opening(text: str) -> bytes:
    """Return the first frame of an exchange."""
    data = text.encode()
    return _U32.pack(len(data)) + data


def read_opening(frame: bytes) -> Opening | None:
    """Read the first frame of an exchange; None if it is a message.

    Raises:
        InputError: it announces binary messages.
    """
    if len(frame) >= 4 and _U32.unpack_from(frame)[0] == len(frame) - 4:
        return Opening(frame[4:].decode("utf-8", "replace"), False)
    if len(frame) >= 8 and _U32.unpack_from(frame, 4)[0] == len(frame) - 8:
        flags = _U32.unpack_from(frame)[0]
        if flags == BINARY:
            raise InputError(_NO_BINARY, source="handshake of Batsim")
        if flags == JSON:
            return Opening(frame[8:].decode("utf-8", "replace"), True)
    return None


def opens(frame: bytes) -> bool:
    """Return whether a frame looks like the first one of an exchange: a handshake, also of binary messages, or JSON."""
    if frame.lstrip().startswith(b"{"):
        return b'"event_type"' in frame
    try:
        return read_opening(frame) is not None
    except InputError:
        return True


def hello(features: Features) -> bytes:
    """Return the message that says who we are and what we ask for."""
    event = {
        "batprotocol_version": BATPROTOCOL,
        "decision_component_name": "batdispatch",
        "decision_component_version": __version__,
        "decision_component_commit": "",
        "requested_simulation_features": features,
    }
    events = [{"timestamp": 0.0, "event_type": "EDCHelloEvent", "event": event}]
    return msgspec.json.encode({"now": 0.0, "events": events})


def write_answer(message: bytes) -> bytes:
    """Return the answer to `write_opening`: flags, and a message with an EDCHelloEvent."""
    return _U32.pack(JSON) + message + b"\0"


def read_answer(answer: bytes) -> tuple[Features, ConstraintData]:
    """Read the answer to `write_opening`: what the decision component asks for, and what it says that it heeds.

    Raises:
        InputError: it is no such answer, or it asks for binary messages.
    """
    source = "handshake of the scheduler"
    if len(answer) < 4:
        raise InputError(f"has {len(answer)} bytes, expected flags and an EDCHelloEvent", source=source)
    flags = _U32.unpack_from(answer)[0]
    if flags == BINARY:
        raise InputError(_NO_BINARY, source=source)
    if flags != JSON:
        raise InputError(f"found flags {flags}, expected {JSON} (JSON)", source=source)
    data = answer[4:].rstrip(b"\0")
    greeting = decode_greeting(data, source)
    if greeting is None:
        raise InputError("holds other events, expected one EDCHelloEvent", source=source)
    try:
        features = msgspec.convert(greeting.requested_simulation_features, Features)
    except msgspec.ValidationError as problem:
        raise InputError(str(problem).replace("`", ""), source=source, place="requested_simulation_features") from None
    return features, greeting.scheduling_constraints


def record(frame: bytes) -> Any:
    """Return a frame as it stands in a recording: text without the final NUL, the handshake with its number."""
    if not frame.startswith(b"{") and len(frame) >= 4:
        number = _U32.unpack_from(frame)[0]
        text = frame[4:].rstrip(b"\0").decode("utf-8", "replace")
        if number == len(frame) - 4:
            return {"init_size_u32": number, "init_data": text}
        if number in (BINARY, JSON):
            return {"flags_u32": number, "message": text}
    return frame.rstrip(b"\0").decode("utf-8", "replace")


def unrecord(raw: Any) -> bytes:
    """Return the frame that stands in a recording.

    Raises:
        InputError: it is none.
    """
    if isinstance(raw, str):
        return raw.encode()
    if isinstance(raw, dict):
        for name, text, end in (("init_size_u32", "init_data", b""), ("flags_u32", "message", b"\0")):
            number, said = raw.get(name), raw.get(text)
            if type(number) is int and 0 <= number < 2**32 and isinstance(said, str):
                return _U32.pack(number) + said.encode() + end
    raise InputError("field raw: expected a frame as a text, or {init_size_u32, init_data} or {flags_u32, message}")
