"""What users have used of the machine, where older use counts less: the basis of Slurm's fair-share factor."""

from __future__ import annotations

import math
from collections.abc import Iterable

from batdispatch.parts.ordering.fair_tree import Association

#: Use by a running job: its account and user, how much it holds, and since when, in seconds.
Holding = tuple[Association, float, float]


class DecayedUsage:
    """Use of each user, in amount x seconds. What was used `half_life` seconds ago counts half.

    A user who holds the amount c from a to b has used, at t >= b, the integral of c 2^(-(t - s) / half_life) over s
    from a to b. Slurm sums the same over periods of some minutes (`PriorityCalcPeriod`).
    """

    def __init__(self, half_life: float) -> None:
        """Begin with nothing used; `half_life` is in seconds, infinite where use is never forgotten."""
        self._half_life = half_life
        #: User -> what jobs that have ended used, and the time of which this is said, in seconds.
        self._ended: dict[Association, tuple[float, float]] = {}

    def ended(self, holding: Holding, now: float) -> None:
        """Count a job that ended at `now`, in seconds."""
        user, amount, start = holding
        self._ended[user] = (self._of_ended(user, now) + amount * self._lasting(now - start), now)

    def at(self, now: float, running: Iterable[Holding]) -> dict[Association, float]:
        """Return what every user has used at `now`, in seconds, with the jobs that are running."""
        used = {user: self._of_ended(user, now) for user in self._ended}
        for user, amount, start in running:
            used[user] = used.get(user, 0.0) + amount * self._lasting(now - start)
        return used

    def _of_ended(self, user: Association, now: float) -> float:
        used, at = self._ended.get(user, (0.0, now))
        return used * math.exp2((at - now) / self._half_life)

    def _lasting(self, seconds: float) -> float:
        """Return what is left of an amount of 1 that was held for the last `seconds` seconds."""
        if math.isinf(self._half_life):
            return seconds
        # 1 - 2^-x, without the loss of digits where x is small.
        return -math.expm1(-seconds / self._half_life * math.log(2)) * self._half_life / math.log(2)
