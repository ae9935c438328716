"""The ticks of a simulator's clock: the moments that can be told, and that a call can be asked for.

A simulator tells microseconds. A moment that was reckoned, such as a start less the seconds that a host takes to wake
up, mostly lies between two of them. A call for such a moment comes at a tick before or after it, and whoever compares
the two would see that the moment is yet to come, or that it has passed. So each moment that is waited for is put on a
tick first, and the tick is what is compared with the clock. Batsim 5 counts the times of calls in milliseconds: there,
calls have coarser ticks than all else (`Ledger.call_from`, `Ledger.call_by`).
"""

from __future__ import annotations

#: Resolution of a simulator's clock, in seconds.
TICK = 1e-6
#: Digits behind the point of a tick, and of a call in Batsim 5.
DIGITS, DIGITS_OF_MILLISECONDS = 6, 3
#: Sums of times are off by less than this, in seconds, or by this share of them: a sum so close to a tick means it.
SLIVER = 1e-9
SHARE = 2.0**-51


def tick_after(time: float, digits: int = DIGITS) -> float:
    """Return the first tick that is not before a time, in seconds; ticks have so many digits behind the point."""
    # Most logs count whole seconds, and to round costs ten times as much as to see this.
    if not time % 1.0:
        return time
    nearest = round(time, digits)
    return nearest if time - nearest <= max(SLIVER, time * SHARE) else round(nearest + 10.0**-digits, digits)


def tick_before(time: float, digits: int = DIGITS) -> float:
    """Return the last tick that is not after a time, in seconds."""
    if not time % 1.0:
        return time
    nearest = round(time, digits)
    return nearest if nearest - time <= max(SLIVER, time * SHARE) else round(nearest - 10.0**-digits, digits)
