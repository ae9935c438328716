"""When slurmctld looks at its queue: the ticks of its background loop, and the sleep of its backfill thread.

References:
    Slurm 22.05, `_slurmctld_background` in controller.c and `backfill_agent` in backfill.c.
"""

from __future__ import annotations

import math
from typing import Literal

from batdispatch.core.line.ledger import Ledger
from batdispatch.core.plans.lateness import TOLERANCE
from batdispatch.core.plans.moments import end_of
from batdispatch.core.plans.pace import Alarm

#: Seconds between two looks of the backfill thread at whether something has changed.
_POLL = 1.0


def _on_grid(time: float, origin: float, step: float) -> float:
    """Return the first of origin, origin + step, origin + 2 step, ... that does not lie before a time, in seconds."""
    return origin if time <= origin else end_of(origin, math.ceil((time - origin) / step - 1e-9) * step)


def _idle_until(awaited: float) -> float:
    return awaited - TOLERANCE if awaited < math.inf else -math.inf


class MainLoopClock:
    """Says when the main loop runs after something has happened.

    slurmctld looks once in `tick` seconds whether something has happened, and runs the loop if it last did so at least
    `delay` seconds ago. Every `full` seconds it runs the loop for the whole queue.

    Where decisions take time, a call may come after the moment that it was asked for. What is due is then what was due
    at that moment.
    """

    def __init__(self, ledger: Ledger, tick: float, delay: float, full: float) -> None:
        """Begin when the simulation does; times in seconds. A `tick` of 0: each event is acted on at once."""
        self._tick = tick
        self._delay = delay
        self._full = full
        self._last = -math.inf
        self._last_full = ledger.now
        self._alarm = Alarm()
        #: The moment for which a call was asked, s, while something is to be done then.
        self._awaited = math.inf
        #: Whether the loop runs at the next call, whatever the clock says.
        self._at_once = False
        #: When slurmctld hears of the first thing that has happened since the loop ran, s.
        self._heard = -math.inf

    def hear(self, moment: float) -> None:
        """Note that slurmctld hears at a moment, in seconds, that something has happened."""
        self._heard = moment if self._heard == -math.inf else min(self._heard, moment)

    def hurry(self) -> None:
        """Let the loop run at once: Slurm does so when a job has ended that was preempted."""
        self._at_once = True

    def forget(self) -> None:
        """Note that there is nothing left to be done at the moment for which a call was asked."""
        self._heard = -math.inf
        self._awaited = math.inf

    def idle_until(self) -> float:
        """Return until when `due` says no if nothing happens, after it said so, in seconds; else minus infinity."""
        return _idle_until(self._awaited)

    def due(self, ledger: Ledger, *, whole: bool = False) -> Literal["no", "head", "whole"]:
        """Return whether the loop runs now, for the head of the queue or for all of it. If not, ask for a call.

        If the loop is to run now, it counts as run. `whole`: only a run for the whole queue is waited for.
        """
        if not self._tick or self._at_once:
            self._at_once = False
            return "head"
        now = min(ledger.now, self._awaited)
        passed = math.floor((now - self._last_full) / self._full + 1e-9)
        if passed >= 1:
            ran = end_of(self._last_full, passed * self._full)
            if now > ran + TOLERANCE:
                # Nothing was there for it to do.
                self._last_full, self._last = ran, max(self._last, ran)
        next_full = end_of(self._last_full, self._full)
        next_head = _on_grid(max(self._heard - TOLERANCE, now - TOLERANCE, self._last + self._delay), 0.0, self._tick)
        moment = next_full if whole else min(next_head, next_full)
        if now < moment - TOLERANCE:
            self._awaited = moment
            self._alarm.call(ledger, moment)
            return "no"
        self._last = moment
        self._heard = -math.inf
        self._awaited = math.inf
        if moment >= next_full:
            self._last_full = next_full
            return "whole"
        return "head"


class PassClock:
    """Says when a backfill pass is made after something has changed.

    The thread sleeps for `interval` seconds between two passes. A pass with waiting jobs counts as a change, so while
    jobs wait there is a pass in each interval; of these, only those after a change matter. When no job waited, the
    thread looks each second whether something has changed.
    """

    def __init__(self, interval: float, phase: float) -> None:
        """Begin; the first pass may be at `phase`. Times in seconds; an `interval` of 0: a pass at each event."""
        self._interval = interval
        self._last = phase - interval
        #: Whether jobs waited in the last pass.
        self._busy = False
        #: When a pass is due that nobody was called for, since no job waited.
        self._silent: float | None = None
        self._alarm = Alarm()
        #: The moment for which a call was asked, s; a call that comes later stands for one at that moment.
        self._awaited = math.inf

    def changed(self, now: float) -> None:
        """Note a change that comes while no job waits: the next pass finds nothing to do."""
        self._awaited = math.inf
        if self._silent is not None and self._silent <= now + TOLERANCE:
            self._last, self._busy = self._silent, False
        self._silent = self._next(now)

    def idle_until(self) -> float:
        """Return until when `due` says no if nothing happens, after it said so, in seconds; else minus infinity."""
        return _idle_until(self._awaited)

    def due(self, ledger: Ledger) -> bool:
        """Return whether a pass is to be made now, since something has changed. If not, ask for a call.

        If a pass is to be made now, it counts as made.
        """
        if not self._interval:
            return True
        now = min(ledger.now, self._awaited)
        if self._silent is not None:
            self.changed(now)
            self._silent = None
        moment = self._next(now)
        if now < moment - TOLERANCE:
            self._awaited = moment
            self._alarm.call(ledger, moment)
            return False
        self._last, self._busy, self._awaited = moment, True, math.inf
        return True

    def _next(self, now: float) -> float:
        first = end_of(self._last, self._interval)
        return _on_grid(now - TOLERANCE, first, self._interval if self._busy else _POLL)
