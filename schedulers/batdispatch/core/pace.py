"""How often a dispatcher decides that does not decide at every event."""

from __future__ import annotations

from batdispatch.core.lateness import TOLERANCE
from batdispatch.core.ledger import SOONEST, Ledger


class Pace:
    """Lets something happen at most once in so many seconds of simulated time.

    Attributes:
        next: soonest time at which it may happen, s.
    """

    def __init__(self, period: float) -> None:
        """Begin with nothing that has happened; `period` is in seconds, 0 where anything may happen at any time."""
        self._period = period
        self.next = 0.0
        #: Time for which a call was asked, s.
        self._called = -1.0

    def due(self, ledger: Ledger) -> bool:
        """Say whether it may happen now, and count it as having happened; else ask for a call when it may."""
        if ledger.now < self.next - TOLERANCE:
            self.call(ledger)
            return False
        self.next = ledger.now + self._period
        return True

    def call(self, ledger: Ledger) -> None:
        """Ask for a call at the soonest time, once; with a period of 0, for one as soon as there can be one."""
        if self._called != self.next:
            self._called = self.next
            ledger.wake_at(max(self.next, ledger.now + SOONEST))
