"""Which nodes a backfill pass has reserved for nobody yet, from now on: Slurm's table of node spaces.

Times on it are whole steps of the resolution, rounded down. Records follow each other without gaps; the last one ends
with the window.

References:
    Slurm 22.05, `_add_reservation`, `_test_resv_overlap` and `_attempt_backfill` in backfill.c.
"""

from __future__ import annotations

import math
from bisect import bisect_right


class ReservedNodes:
    """The table of one pass.

    Attributes:
        ends: when each record ends, s, ascending; the next one begins there.
        masks: the hosts that are reserved for nobody in each record.
    """

    def __init__(self, now: float, window: float, resolution: float, clock: float, hosts: int) -> None:
        """Begin with nothing reserved.

        Args:
            now: s.
            window: how far the table reaches, s.
            resolution: step of its times, s; 0: times are kept as they are.
            clock: what the clock whose multiples they are shows at 0, s.
            hosts: mask of all hosts.
        """
        self._resolution = resolution
        self._clock = clock
        self._begin = self.rounded(now)
        self.ends = [max(self.rounded(now + window), self._begin + resolution)]
        self.masks = [hosts]

    def rounded(self, time: float) -> float:
        """Return a time, rounded down to the resolution, in seconds."""
        step = self._resolution
        return (time + self._clock) // step * step - self._clock if step and time < math.inf else time

    def add(self, hosts: int, start: float, end: float) -> None:
        """Reserve hosts from a start to an end, in seconds, rounded; for one step of the resolution at the least."""
        start = max(self.rounded(start), self._begin)
        end = max(self.rounded(end), start + self._resolution)
        first, last = self._cut(start), self._cut(end)
        for index in range(first, last):
            self.masks[index] &= ~hosts

    def _cut(self, time: float) -> int:
        """Let a record begin at a time, if that lies within the table, and return its index."""
        index = bisect_right(self.ends, time)
        if index == len(self.ends):
            return index
        begin = self.ends[index - 1] if index else self._begin
        if begin < time:
            self.ends.insert(index, time)
            self.masks.insert(index, self.masks[index])
            return index + 1
        return index

    def available(self, hosts: int, start: float, end: float) -> tuple[int, float]:
        """Return which of some hosts are reserved for nobody all the time, and when it makes sense to look again.

        That is the first end of a record behind which there are hosts that this record has not; 0: never.

        Args:
            hosts: mask.
            start: s.
            end: s; a record that begins just then counts.
        """
        later = 0.0
        left = hosts
        ends, masks = self.ends, self.masks
        for index in range(bisect_right(ends, start), len(ends)):
            mask = masks[index]
            if not later and index + 1 < len(ends) and hosts & masks[index + 1] & ~(left & mask):
                later = ends[index]
            if index and ends[index - 1] > end:
                break
            left &= mask
        return left, later

    def overlaps(self, hosts: int, start: float, end: float) -> bool:
        """Return whether a reservation of hosts from a start to an end, in seconds, would meet another one."""
        start, end = self.rounded(start), self.rounded(end)
        begin = self._begin
        for until, mask in zip(self.ends, self.masks, strict=True):
            if until > start and begin < end and hosts & ~mask:
                return True
            begin = until
        return False
