"""How a job runs that follows a usage trace: each rank by itself, and the job ends when it knows of all their ends.

In Batsim 4 a rank tells the job's first host by a message when it has ended; one message comes after the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from batdispatch.engines.activities import Placement
from batdispatch.engines.timing import PlatformTimer
from batdispatch.engines.traces import Step, Trace

#: Seconds that a rank's word takes, given the rank's host and the job's first one.
RankDelay = Callable[[int, int], float]


class Rank:
    """One rank in progress; the subject of its activities."""

    __slots__ = ("done", "due", "handle", "host", "replay", "steps")

    def __init__(self, replay: TraceReplay, steps: tuple[Step, ...], host: int) -> None:
        self.replay, self.steps, self.host = replay, steps, host
        #: Steps that have begun, and the handle of the last one's activity.
        self.done, self.handle = 0, 0
        self.due = math.inf


class TraceReplay:
    """All ranks of a running job.

    Attributes:
        subject: the job.
        end: when the job knows that all have ended that have, s.
    """

    def __init__(
        self, trace: Trace, placement: Placement, timer: PlatformTimer, subject: Any, delay: RankDelay, now: float
    ) -> None:
        """Let all ranks begin."""
        self._placement, self._timer, self._delay = placement, timer, delay
        self.subject = subject
        self.end = now
        ranks = [Rank(self, steps, placement.host_of(number)) for number, steps in enumerate(trace)]
        self._first = placement.host_of(0)
        self._left = len(ranks)
        self._running: dict[Rank, None] = {}
        for rank in ranks:
            self._go_on(rank, now)

    @property
    def over(self) -> bool:
        """Whether all ranks have ended."""
        return not self._left

    def step_ended(self, rank: Rank, now: float) -> bool:
        """Let a rank go on whose step has ended; return whether it was the last one of the job."""
        if rank not in self._running:
            return False
        del self._running[rank]
        self._go_on(rank, now)
        return self.over

    def _go_on(self, rank: Rank, now: float) -> None:
        if rank.done < len(rank.steps):
            activity = self._placement.step(rank.host, *rank.steps[rank.done])
            rank.done += 1
            self._running[rank] = None
            rank.handle = self._timer.start(activity, rank, now)
            return
        self._left -= 1
        self.end = max(self.end, now) + (self._delay(rank.host, self._first) if rank.host != self._first else 0.0)

    def cancel(self) -> None:
        """Stop all ranks."""
        for rank in self._running:
            self._timer.cancel(rank.handle)
        self._running.clear()
