"""One exchange between a simulator and a dispatcher."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from batdispatch.core.line.decisions import Decision
from batdispatch.core.line.events import Event, SimulationEnds


class Message(msgspec.Struct, frozen=True, gc=False):
    """What a simulator says: everything that happened since the last message, in order of time."""

    #: Simulated time in seconds.
    now: float
    events: Sequence[Event]

    @property
    def is_last(self) -> bool:
        """Whether the simulation ends with this message."""
        return bool(self.events) and isinstance(self.events[-1], SimulationEnds)


class Reply(msgspec.Struct, frozen=True, gc=False):
    """What a dispatcher answers. `now` is when it finished deciding: later than the message's if deciding took time."""

    now: float
    decisions: Sequence[Decision]


class Peer(Protocol):
    """Anything that answers messages: a dispatcher in this process, or one behind a socket."""

    def handle(self, message: Message) -> Reply:
        """Answer a message."""
