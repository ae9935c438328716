"""What a plan got back since a job was last given the best place in it: most jobs cannot gain by it, and need not move.

A job that got its earliest start could start earlier only in a stretch that overlaps something given back since:
before, there was no such stretch. So it is enough to look around each return how long the sums over the machine allow a
job like this to run there. That is found out once for each return and each need, not for each job.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from batdispatch.core.allocation import Allocation
from batdispatch.core.job import Job
from batdispatch.core.timeline import Timeline

#: Most returns that are remembered; looking anew for a place then costs no more than going through them.
_MOST = 500
#: Seconds by which sums of times may be off.
_ROUNDING = 1e-5


class Return(NamedTuple):
    """What was given back: `allocation`, from `start` to `end` in seconds.

    `around` holds what is known of the stretches that overlap it, by need: the longest one's length and the last one's
    end, s. They may shrink afterwards, and what makes them longer is a return of its own.
    """

    allocation: Allocation
    start: float
    end: float
    around: dict[Sequence[int], tuple[float, float]]


class Returns:
    """What a plan got back, and which jobs have been placed, or seen not to gain, after how much of it."""

    def __init__(self) -> None:
        self._returns: list[Return] = []
        #: By key: the reservation, and how many returns it is known to withstand.
        self._known: dict[str, tuple[Any, int]] = {}

    def clear(self) -> None:
        """Forget everything: each job has to be placed anew."""
        self._returns.clear()
        self._known.clear()

    def add(self, allocation: Allocation, start: float, end: float) -> None:
        """Note that what a job was to have on an allocation is free from `start` to `end`, in seconds."""
        if end <= start:
            return
        if len(self._returns) >= _MOST:
            self.clear()
        self._returns.append(Return(allocation, start, end, {}))

    def placed(self, key: str, kept: Any) -> None:
        """Note that a job has the best place that there is now."""
        self._known[key] = kept, len(self._returns)

    def may_gain(self, key: str, kept: Any, timeline: Timeline[Any], slack: float) -> bool:
        """Return whether a job might get another start, or another place: False only if it surely cannot.

        Time: O(1) for each return since the last answer, and O(s) for each return and need.

        Args:
            key: of the job.
            kept: its reservation.
            timeline: the plan.
            slack: seconds by which its place may be too short for it.
        """
        known = self._known.get(key)
        if known is None or known[0] is not kept or kept.cut:
            return True
        returns = self._returns
        count = len(returns)
        if known[1] == count:
            return False
        job: Job = kept.job
        need = tuple(timeline.space.sums_needed(job))
        start, end = kept.start, kept.end
        duration = end - start - slack - _ROUNDING
        for _, begin, until, around in returns[known[1] :]:
            if begin >= end:
                continue
            if until > start:
                return True
            stretch = around.get(need)
            if stretch is None:
                stretch = around[need] = timeline.around(job, begin, until)
            if stretch[0] >= duration or stretch[1] >= start:
                return True
        self._known[key] = kept, count
        return False
