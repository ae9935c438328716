"""Calls and probes that come again and again, in Batsim 5: at multiples of a period, counted from 0 s.

The first one comes when a whole period has passed. Of two periods one must divide the other: Batsim 5 ends a simulation
otherwise.
"""

from __future__ import annotations

import math

#: Share of a period by which a multiple may be missed: the noise of floating point.
_NOISE = 1e-9
#: Shortest period, s: Batsim 5 counts them in whole milliseconds.
_SHORTEST = 1e-3


def first_multiple(period: float, now: float) -> int:
    """Return which multiple of a period is the first one at which something comes that is asked for now."""
    return math.ceil((now + period) / period - _NOISE)


class Periods:
    """What comes again and again, by kind (call, probe) and name."""

    def __init__(self) -> None:
        #: Period, s, and how often it still comes.
        self._left: dict[tuple[str, str], tuple[float, float]] = {}

    def problem(self, kind: str, name: str, period: float, times: int | None) -> str | None:
        """Say why something cannot begin to come; None: it can."""
        if (kind, name) in self._left:
            return f"there is a {kind} {name!r} already"
        if not _SHORTEST <= period < math.inf or (times is not None and times < 1):
            often = f"{kind} {name!r} is to come {times} times every {period:g} s"
            return f"{often}, expected at least 1 time and {_SHORTEST:g} s"
        for (other, known), (theirs, _) in self._left.items():
            long, short = max(period, theirs), min(period, theirs)
            if abs(long / short - round(long / short)) > _NOISE * long / short:
                return (
                    f"{kind} {name!r} every {period:g} s and {other} {known!r} every {theirs:g} s: one of two periods "
                    "must divide the other"
                )
        return None

    def begin(self, kind: str, name: str, period: float, times: int | None) -> None:
        """Let something come, a number of times or (None) until it is stopped."""
        self._left[kind, name] = (period, math.inf if times is None else times)

    def came(self, kind: str, name: str) -> bool:
        """Note that something has come; return whether that was the last time."""
        period, left = self._left.get((kind, name), (0.0, math.inf))
        if left == 1:
            del self._left[kind, name]
        elif left < math.inf:
            self._left[kind, name] = (period, left - 1)
        return left == 1

    def stop(self, kind: str, name: str) -> bool:
        """Let something come no more; return whether it did until now."""
        return self._left.pop((kind, name), None) is not None
