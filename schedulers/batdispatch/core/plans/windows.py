"""The windows of a timeline in which a sum over the machine suffices: where every search for a start begins."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Generator, Sequence

from batdispatch.core.plans.moments import ROUNDING, end_of

#: A window: its first step, the step behind its last one, and its start and end in seconds.
SumWindow = tuple[int, int, float, float]
#: Windows in the order of their starts. To `send` a step says where the next window begins at the earliest.
SumWindows = Generator[SumWindow, int, None]


def windows(
    times: Sequence[float],
    sums: Sequence[int],
    least: int,
    index: int,
    duration: float,
    after: float,
    stop: int,
    own: int,
) -> SumWindows:
    """Yield windows in each step of which the sum suffices, beginning with the earliest one.

    Who takes a window sends the step at which the next one may begin, later than the first step of this one. All steps
    before the end of this window are known to suffice then, and are not looked at again.

    A generator and no function for one window: it keeps what it knows between two windows, and to go on with it costs
    half as much as a call.

    Time: O(s) for all windows together.

    Args:
        times: where the steps begin, s.
        sums: one number for each step.
        least: how large the number must be in each step of the window before `own`.
        index: the step at which the earliest window begins.
        duration: of each window, s.
        after: earliest start, s.
        stop: step before which each window must begin, at most `own`.
        own: step from which on the numbers do not matter.
    """
    # From `index` on the sums suffice up to step `known`.
    known = index
    while index < stop:
        if known <= index:
            while sums[index] < least:
                index += 1
                if index == stop:
                    return
            known = index + 1
        start = times[index]
        start = max(start, after)
        # To round costs more than the rest, and matters only close to the end.
        end = start + duration - ROUNDING
        while known < own and times[known] < end and sums[known] >= least:
            known += 1
        if known >= own or times[known] >= end:
            end = end_of(start, duration)
            while known < own and times[known] < end and sums[known] >= least:
                known += 1
        if known < own and times[known] < end:
            index = known = known + 1
            continue
        if known >= own:
            known = bisect_left(times, end, known)
        index = yield index, known, start, end
