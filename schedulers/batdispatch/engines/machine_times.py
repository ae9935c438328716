"""How long hosts computed, were idle and were away, as Batsim sums it up in schedule.csv."""

from __future__ import annotations

import numpy as np

from batdispatch.core import hostset

#: Masks kept until they are entered for each host.
_BLOCK = 512


def _nanoseconds(seconds: float) -> int:
    """Whole numbers add up exactly in whatever order."""
    return round(seconds * 1e9)


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
        #: Hosts that are idle, compute, and are away.
        self._counts = (self._size, 0, 0)
        self._sums = [0, 0, 0]
        #: int64 [host], ns: last change of each host, without those in `_recent`.
        self._last = np.zeros(hosts.bit_length(), dtype=np.int64)
        self._recent: list[tuple[int, int]] = []

    def change(self, now: float, changed: int, *, computing: int, away: int) -> None:
        """Note a change.

        Args:
            now: when, s.
            changed: mask of the hosts whose state changed.
            computing: hosts that compute from now on and are not away.
            away: hosts that are away from now on.
        """
        time = _nanoseconds(now)
        self._count_until(time)
        self._counts = (self._size - computing - away, computing, away)
        self._recent.append((time, changed))
        if len(self._recent) >= _BLOCK:
            self._enter()

    def _count_until(self, time: int) -> None:
        passed = time - self._since
        if passed:
            for state, count in enumerate(self._counts):
                self._sums[state] += count * passed
            self._since = time

    def _enter(self) -> None:
        later = 0
        for time, mask in reversed(self._recent):
            for first, last in hostset.runs(mask & ~later):
                self._last[first : last + 1] = time
            later |= mask
            if later == self._hosts:
                break
        self._recent.clear()

    def totals(self, away: int) -> tuple[float, float, float]:
        """Return the seconds that hosts were idle, computed and were away, when the simulation ends and no job runs.

        Args:
            away: mask of the hosts that are away.
        """
        self._enter()
        idle, computing, absent = self._sums
        idle -= self._since_last(self._hosts & ~away)
        absent -= self._since_last(away)
        return idle / 1e9, computing / 1e9, absent / 1e9

    def _since_last(self, hosts: int) -> int:
        return int((self._since - self._last[hostset.ids(hosts)]).sum())
