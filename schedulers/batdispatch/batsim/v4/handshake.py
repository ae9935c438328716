"""Batsim 4 opens an exchange with its first message: there is no handshake, and frames are recorded as they are."""

from __future__ import annotations

from typing import Any

import msgspec

from batdispatch.batsim.features import Features
from batdispatch.batsim.v4.replies import encode_reply
from batdispatch.core.errors import InputError
from batdispatch.core.line.messages import Reply

#: How recordings name the two directions: from the simulator, to the simulator.
DIRECTIONS = ("batsim->sched", "sched->batsim")


def opens(frame: bytes) -> bool:
    """Return whether a frame looks like Batsim 4's first one: it says so in its text."""
    return frame.lstrip().startswith(b"{") and b'"SIMULATION_BEGINS"' in frame


def opening(text: str) -> bytes | None:
    """Return None: there is no handshake."""
    return None


def answer_opening(frame: bytes, features: Features) -> bytes | None:
    """Return None: every frame is a message."""
    return None


def read_answer(answer: bytes) -> Features:
    """Return what an answer to a handshake asks for; there is none."""
    raise InputError("Batsim 4 has no handshake")


def record(frame: bytes) -> Any:
    """Return a frame as it stands in a recording: its text."""
    return frame.decode("utf-8", "replace")


def unrecord(raw: Any) -> bytes:
    """Return the frame that stands in a recording.

    Raises:
        InputError: it is no text.
    """
    if not isinstance(raw, str):
        raise InputError("field raw: found no text, expected a frame as a text")
    return raw.encode()


def list_decisions(reply: Reply) -> list[dict[str, Any]]:
    """Return a reply's decisions as ``{timestamp, type, data}``, in one way of writing each."""
    value: list[dict[str, Any]] = msgspec.json.decode(encode_reply(reply))["events"]
    return value
