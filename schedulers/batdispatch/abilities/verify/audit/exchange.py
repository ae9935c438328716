"""A recorded exchange, of Batsim 4 or 5, as messages and replies in Batsim 4's words.

Batsim 5's frames are put into these words by those who replay them; recordings of the real Batsims hold that reader.
What the frames say is judged here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from batdispatch.abilities.verify.audit.findings import TOLERANCE
from batdispatch.abilities.verify.audit.hosts import Ints
from batdispatch.core.errors import InputError
from batdispatch.links.replay import read_in_batsim4


class Event(msgspec.Struct):
    """An event or a decision: ``{timestamp, type, data}``."""

    timestamp: float
    type: str
    data: dict[str, Any] = {}


class Frame(msgspec.Struct):
    """A message or a reply; times in seconds."""

    now: float
    events: list[Event]


class Clock(NamedTuple):
    """Whether what is decided happens at its moment (`exact`), and what happens is told at its moment."""

    exact: bool

    def slack(self, told: int) -> float:
        """Return by how many seconds something may happen later than it was decided, or be told later than it was.

        Batsim's messages take time on the platform's links, each event and each decision of a message some more.

        Args:
            told: number of events, or of decisions, in the message.
        """
        return TOLERANCE if self.exact else 0.05 + 2e-3 * told


class Outage(NamedTuple):
    """Hosts that went away, or came back, from `earliest` to `latest`, in seconds."""

    earliest: float
    latest: float
    back: bool
    mask: int

    def __str__(self) -> str:
        hosts = [bit for bit in range(self.mask.bit_length()) if self.mask >> bit & 1]
        shown = ", ".join(map(str, hosts[:10])) + (", ..." if len(hosts) > 10 else "")
        return f"that hosts {shown} {'came back' if self.back else 'went away'} at {self.latest:.6f} s"


class Silence(NamedTuple):
    """A time in which nothing runs, no call is due, and jobs wait: from `since` to `until`, in seconds.

    Attributes:
        waiting: rows of the jobs that wait, in order of arrival.
        away: the hosts that are away, as the bits of a number.
    """

    since: float
    until: float
    waiting: Ints
    away: int


_frame = msgspec.json.Decoder(Frame).decode


def read_exchanges(path: Path) -> Iterator[tuple[int, Frame | None, Frame | None]]:
    """Yield line, message and reply of the exchanges of a recording; a handshake of Batsim 5 has none of the two.

    Raises:
        BatdispatchError: a line is no frame, or messages and replies do not alternate.
        OSError: the file cannot be read.
    """
    line = 0
    try:
        for line, message, reply in read_in_batsim4(path):
            yield line, None if message is None else _frame(message), None if reply is None else _frame(reply)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
        raise InputError(f"is no frame: {problem!r}", source=str(path), place=f"line {line}") from None
