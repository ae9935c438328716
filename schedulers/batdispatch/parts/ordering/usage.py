"""What users have used of the machine, where older use counts less: the basis of Slurm's fair-share factor."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from batdispatch.parts.ordering.fair_tree import Association


class Holding(NamedTuple):
    """What a job holds that has started."""

    owner: Association
    amount: float
    #: Since when, s.
    start: float
    #: Position in the order of arrival, and when the job came, s.
    rank: int = 0
    came: float = -math.inf


class DecayedUsage:
    """Use of each user, in amount x seconds. What was used `half_life` seconds ago counts half.

    It depends on what happened, and not on when it is asked for: sums are made in the order of ends and starts.

    A user who holds the amount c from a to b has used, at t >= b, the integral of c 2^(-(t - s) / half_life) over s
    from a to b. Slurm sums the same over periods of some minutes (`PriorityCalcPeriod`).
    """

    def __init__(self, half_life: float) -> None:
        """Begin with nothing used; `half_life` is in seconds, infinite where use is never forgotten."""
        self._half_life = half_life
        #: User -> what jobs that have ended used, and the time of which this is said, in seconds.
        self._ended: dict[Association, tuple[float, float]] = {}
        #: Jobs that have ended and are not counted there yet, and when they ended, s.
        self._recent: deque[tuple[Holding, float]] = deque()

    def ended(self, holding: Holding, now: float) -> None:
        """Count a job that ended at `now`, in seconds."""
        self._recent.append((holding, now))

    def at(self, moment: float, running: Iterable[Holding]) -> dict[Association, float]:
        """Return what each user had used at a moment who had a job that had started, or that was to start later.

        Args:
            moment: s, not before that of an earlier question, and not behind now.
            running: the jobs that run now; those that started or even came behind the moment are left out.
        """
        while self._recent and self._recent[0][1] <= moment:
            (user, amount, start, *_), end = self._recent.popleft()
            self._ended[user] = (self._of_ended(user, end) + amount * self._lasting(end - start), end)
        used = {user: self._of_ended(user, moment) for user in self._ended}
        holdings = [*(holding for holding, _ in self._recent), *running]
        for user, amount, start, _, came in sorted(holdings, key=lambda one: (one.start, one.rank)):
            if start <= moment:
                used[user] = used.get(user, 0.0) + amount * self._lasting(moment - start)
            elif came <= moment:
                used.setdefault(user, 0.0)
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
