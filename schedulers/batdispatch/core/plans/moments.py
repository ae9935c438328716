"""Times of plans: whole microseconds, as simulators have them."""

from __future__ import annotations

import math

#: Seconds by which sums of times may be off before they are rounded.
ROUNDING = 1e-5
#: Share of a millisecond: what is further below the next one was perhaps meant to be the one before.
ALMOST = 0.999


def end_of(start: float, duration: float) -> float:
    """Return when something that starts at `start` and lasts `duration` ends, in seconds.

    Rounded to microseconds as simulators do: otherwise 0.1 + 0.7 < 0.8 would leave slivers between one job's end and
    the next one's start, and a job that is planned anew at 0.8 would no longer fit before its successor.
    """
    end = start + duration
    # Most logs count whole seconds, and to round costs ten times as much as to see this.
    return round(end, 6) if end % 1.0 else end


def milliseconds(time: float) -> float:
    """Return a time in seconds, rounded up to milliseconds.

    Batsim 5 counts the times of calls in them. What is to be done at such a time is done then by all simulators.
    """
    exact = time * 1000
    up = math.ceil(exact)
    # To round costs ten times as much as to see that it makes no difference.
    return (up if up - exact < ALMOST else math.ceil(round(exact, 3))) / 1000
