"""How long hosts computed, were idle and were away, as Batsim sums it up in schedule.csv."""

from __future__ import annotations

import numpy as np

from batdispatch.core.hosts import hostset
from batdispatch.core.hosts.hostruns import Bounds

#: Changes kept until they are entered for each host.
_BLOCK = 512
#: In a second. Whole numbers add up exactly in whatever order.
NANOSECONDS = 1e9


class MachineTimes:
    """Sums over the hosts of the seconds spent in each state.

    Batsim counts a host's time in a state when the host leaves the state. So what a host does from its last change to
    the end of the simulation does not count, nor a host that never does anything. A host that is away does not
    compute, whatever runs on it.
    """

    def __init__(self, hosts: int) -> None:
        """Start at 0 s with all hosts idle.

        Args:
            hosts: mask of them.
        """
        self._hosts = hosts
        self._size = hosts.bit_count()
        self._since = 0
        #: Hosts that compute and hosts that are away; the others are idle.
        self._computing = self._away = 0
        #: Their sums up to the last change, ns times hosts.
        self._computed = self._absent = 0
        #: float64 [host], s: last change of each host, without those in `_recent`.
        self._last = np.zeros(hosts.bit_length())
        self._recent: list[tuple[float, Bounds]] = []

    def change(self, now: float, changed: Bounds, computing: int, away: int) -> None:
        """Note a change.

        Args:
            now: when, s.
            changed: bounds of the hosts whose state changed. Those that begin to compute may be left out: they change
                again before the simulation ends.
            computing: hosts that compute from now on and are not away.
            away: hosts that are away from now on.
        """
        time = round(now * NANOSECONDS)
        passed = time - self._since
        if passed:
            self._computed += self._computing * passed
            self._absent += self._away * passed
            self._since = time
        self._computing = computing
        self._away = away
        if changed:
            self._recent.append((now, changed))
            if len(self._recent) >= _BLOCK:
                self._enter()

    def _enter(self) -> None:
        last = self._last
        for time, changed in self._recent:
            for index in range(0, len(changed), 2):
                last[changed[index] : changed[index + 1]] = time
        self._recent.clear()

    def totals(self, away: int) -> tuple[float, float, float]:
        """Return the seconds that hosts were idle, computed and were away, when the simulation ends and no job runs.

        Args:
            away: mask of the hosts that are away.
        """
        self._enter()
        idle = self._size * self._since - self._computed - self._absent - self._since_last(self._hosts & ~away)
        absent = self._absent - self._since_last(away)
        return idle / NANOSECONDS, self._computed / NANOSECONDS, absent / NANOSECONDS

    def _since_last(self, hosts: int) -> int:
        # Of Python's whole numbers, because 64 bits hold the nanoseconds of 292 years, and of many hosts fewer.
        moments, counts = np.unique(self._last[hostset.ids(hosts)], return_counts=True)
        times = [round(moment * NANOSECONDS) for moment in moments.tolist()]
        return sum(count * (self._since - time) for time, count in zip(times, counts.tolist(), strict=True))
