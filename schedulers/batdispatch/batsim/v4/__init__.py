"""Batsim 4's protocol (as 4.2.1 speaks it): one JSON object ``{now, events: [{timestamp, type, data}]}`` each way.

Formatting freedoms that decoding and encoding again do not preserve, none of which changes the meaning: spaces and the
order of keys; the digits of a number beyond microseconds (messages) or the shortest form that reads back (replies); a
walltime of -1 is left out; properties of a host's zone are written as the host's own; the id inside a registered job is
written in full; executor mappings are written as strings.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

from batdispatch.batsim.v4.handshake import (
    DIRECTIONS,
    answer_opening,
    list_decisions,
    opening,
    opens,
    read_answer,
    record,
    unrecord,
)
from batdispatch.batsim.v4.messages import decode_message, encode_message
from batdispatch.batsim.v4.replies import decode_reply, encode_reply

if TYPE_CHECKING:
    from batdispatch.batsim import Wire


def wire() -> Wire:
    """Return this module: the protocol keeps no state."""
    return cast("Wire", sys.modules[__name__])


__all__ = [
    "DIRECTIONS",
    "answer_opening",
    "decode_message",
    "decode_reply",
    "encode_message",
    "encode_reply",
    "list_decisions",
    "opening",
    "opens",
    "read_answer",
    "record",
    "unrecord",
    "wire",
]
