"""Up to when a plan got something back since a job was last given the best place in it.

A job that got its earliest start can start earlier only if something was given back since, and only before the end of
that: a window that begins later is as it was. The search for an earlier start ends there, and most jobs begin later.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import Any

#: Most times that are remembered; beyond them, each job is placed anew once.
_MOST = 500


class Returns:
    """Remembers until when a plan got something back, and how much of that each job was placed after."""

    def __init__(self) -> None:
        #: The returns (number, end in s) after which none had a later end: numbers ascend, ends descend.
        self._numbers: list[int] = []
        self._ends: list[float] = []
        self._count = 0
        #: By key: the reservation, and how many returns it is known to withstand.
        self._known: dict[str, tuple[Any, int]] = {}

    def clear(self) -> None:
        """Forget everything: each job has to be placed anew."""
        self._numbers.clear()
        self._ends.clear()
        self._known.clear()

    def add(self, start: float, end: float) -> None:
        """Note that something is free from `start` to `end`, in seconds."""
        if end <= start:
            return
        if len(self._ends) >= _MOST:
            self.clear()
        ends, numbers = self._ends, self._numbers
        while ends and ends[-1] <= end:
            ends.pop()
            numbers.pop()
        ends.append(end)
        numbers.append(self._count)
        self._count += 1

    def placed(self, key: str, kept: Any) -> None:
        """Note that a job has just been given the best place in the plan."""
        self._known[key] = kept, self._count

    def since(self, key: str, kept: Any) -> float:
        """Return the latest end of what was returned since a job was placed, in s; infinite if that is not known.

        Time: O(log k) for k returns that are remembered.

        Args:
            key: of the job.
            kept: its reservation.
        """
        known = self._known.get(key)
        if known is None or known[0] is not kept:
            return math.inf
        if known[1] == self._count:
            return -math.inf
        return self._ends[bisect_left(self._numbers, known[1])]
