"""When a dispatcher decides apart from events: not too often, and at moments at which something was to happen."""

from __future__ import annotations

import math
from heapq import heappop, heappush

from batdispatch.core.line.ledger import SOONEST, Ledger
from batdispatch.core.line.ticks import tick_after
from batdispatch.core.plans.lateness import TOLERANCE
from batdispatch.core.plans.moments import end_of, milliseconds


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
        """If something may happen now, count it as having happened. If not, ask for a call when it may.

        Return whether it may.
        """
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


class Alarm:
    """Asks to be called when something that a plan expects has not happened, once for each moment.

    A running job that outlives its expected end causes no event. Without a call nothing would be planned anew for as
    long as it runs, whoever waits for it.
    """

    def __init__(self) -> None:
        #: Times of the calls that are to come, s: a heap, and the same as a set.
        self._coming: list[float] = []
        self._asked: set[float] = set()

    def missed(self, ledger: Ledger, time: float) -> None:
        """Ask for a call as soon as an end that was expected at `time`, in seconds, is overdue."""
        if time < math.inf:
            self.call(ledger, end_of(milliseconds(max(time, ledger.now) + TOLERANCE), SOONEST))

    def call(self, ledger: Ledger, time: float) -> None:
        """Ask for a call at `time`, in seconds and later than now, if none was asked for at that time.

        Time: O(log c) for c calls that are to come.
        """
        time = tick_after(time)
        while self._coming and self._coming[0] <= ledger.now:
            self._asked.discard(heappop(self._coming))
        if time not in self._asked:
            self._asked.add(time)
            heappush(self._coming, time)
            ledger.wake_at(time)
