"""How late the end of a job may be told before a plan takes the job for one that outlived its expected end.

Real clocks are never equal. Where a simulator sends messages, a job that is killed at its walltime is told to have
ended later than start + walltime: in recordings of Batsim 4.2.1 by 1 us to 0.25 ms, which is the latency of the way
from the job's first host to the master, and by as much again for each other job that ends at the same moment. A plan
that took such a job for late would be made anew at every kill.
"""

from __future__ import annotations

#: Seconds after its expected end at which the end of a job is still on time: the one tolerance of all plans.
TOLERANCE = 0.01


def overdue(end: float, now: float) -> bool:
    """Return whether a job that was expected to end at `end` is late at `now`, both in seconds."""
    return now > end + TOLERANCE


class Lateness:
    """How late ends may come in one plan.

    Attributes:
        delay: seconds that the plan adds to how long each job is expected to run.
        slack: seconds by which a job may come too late for its place in the plan; 0 where `delay` covers `TOLERANCE`.
    """

    __slots__ = ("delay", "slack")

    def __init__(self, delay: float = 0.0) -> None:
        self.delay = delay
        self.slack = max(0.0, TOLERANCE - delay)

    def booked(self, expected: float) -> float:
        """Return for how many seconds a plan keeps the hosts of a job that is expected to run for `expected`."""
        return expected + self.delay
