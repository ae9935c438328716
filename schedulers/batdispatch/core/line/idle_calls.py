"""Notices a dispatcher that has itself called without end while nothing happens."""

from __future__ import annotations

from collections.abc import Sequence

from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.core.line.messages import Message

#: If this many calls in a row bring nothing, within `WITHIN` seconds of simulated time, the dispatcher loops for ever.
#: An hour would take 1.8 million such calls, and a dispatcher that waits for a certain moment needs a single one.
MOST = 10_000
WITHIN = 20.0


class IdleCalls:
    """Counts messages that tell nothing but that a call is due, and that are answered by nothing but further calls."""

    def __init__(self) -> None:
        self._count = 0
        self._since = 0.0

    def interrupt(self) -> None:
        """Take note of a message that tells something else."""
        self._count = 0

    def endless(self, message: Message, decisions: Sequence[d.Decision]) -> str:
        """Take note of a message and its decisions, and return what happens if it is an endless loop, else ''.

        Time: O(1) for each message that tells something or is answered by something.
        """
        # Nearly every message tells something in its first event, or is answered by something.
        for event in message.events:
            if not isinstance(event, e.RequestedCall):
                self._count = 0
                return ""
        for decision in decisions:
            if not isinstance(decision, d.CallMeLater):
                self._count = 0
                return ""
        if not self._count or message.now - self._since >= WITHIN:
            self._count, self._since = 0, message.now
        self._count += 1
        if self._count < MOST:
            return ""
        return (
            f"it has been called {self._count:,} times in a row since {self._since:.6f} s, while nothing happened, and "
            f"did nothing but ask for further calls{_next(decisions)}. If it waits for an event, it is called then "
            "without asking; if it waits for a moment, ask wake_at for that moment once: "
            "what is asked for twice comes twice"
        )


def _next(decisions: Sequence[d.Decision]) -> str:
    times = [one.at for one in decisions if isinstance(one, d.CallMeLater)]
    return f", the next one at {min(times):.6f} s" if times else ""
