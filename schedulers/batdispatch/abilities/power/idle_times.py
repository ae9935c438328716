"""Since when hosts have been idle."""

from __future__ import annotations

import math

from batdispatch.core.line.ticks import tick_after


class IdleTimes:
    """Groups of hosts that became idle together, by when they did."""

    def __init__(self, after: float) -> None:
        """Begin without hosts; `after`: how long a host must be idle to be due, in seconds."""
        self._after = after
        #: (since when in s, mask), oldest first.
        self._groups: list[tuple[float, int]] = []
        self._idle = 0

    def see(self, idle: int, now: float) -> None:
        """Note which hosts are idle now; `idle` is a mask."""
        gone = self._idle & ~idle
        if gone:
            self._groups = [(since, left) for since, hosts in self._groups if (left := hosts & ~gone)]
        fresh = idle & ~self._idle
        if fresh:
            self._groups.append((now, fresh))
        self._idle = idle

    def since(self, now: float) -> int:
        """Return the mask of the hosts that have been idle for long enough."""
        due = 0
        for since, hosts in self._groups:
            if tick_after(since + self._after) > now:
                break
            due |= hosts
        return due

    def next_due(self, now: float) -> float:
        """Return when further hosts will have been idle for long enough, in seconds, or infinity."""
        return next((at for since, _ in self._groups if (at := tick_after(since + self._after)) > now), math.inf)
