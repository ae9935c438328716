"""List scheduling: a plan made by taking jobs from a list, in one of the two classical ways.

`forward`
    At each moment, the first jobs of the list that fit start. The schedules are *non-delay*: no job waits while there
    is room for it, whatever that does to jobs before it in the list.
`serial`
    Each job of the list in turn gets its earliest start. The schedules are *active*: no job could start earlier without
    delaying one that stands before it. A job that cannot start yet keeps later ones from delaying it.

Both are told what is free now and when running jobs give something back; neither changes what it is given. In
complexities, n is the number of jobs of the list, r the number of running jobs, s the number of steps of the timeline,
and p the time of one placement.

References:
    [1] R. Kolisch. Serial and parallel resource-constrained project scheduling methods revisited: theory and
        computation. European Journal of Operational Research, 90(2), 1996, pp. 320-333. (`forward` is the parallel
        method there.)
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from batdispatch.core.capacity.space import Space
from batdispatch.core.hosts.allocation import Allocation, Place
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.core.plans.moments import end_of
from batdispatch.core.plans.reservations import Reservation
from batdispatch.core.plans.timeline import Timeline

#: Chooses a place for a job within what is free from a start to an end, beside what is planned already, or None.
Chooser = Callable[[Any, Job, float, float, Sequence[Reservation]], Place | None]
#: Time in seconds at which a running job gives back what it uses on an allocation.
End = tuple[float, Job, Allocation]


class ListEntry(NamedTuple):
    """A job of a list.

    Attributes:
        job: the job.
        duration: how long it is expected to run, s.
        weight: what each second of delay costs.
        after: earliest start allowed, s.
    """

    job: Job
    duration: float
    weight: float = 0.0
    after: float = -math.inf


def forward(
    space: Space[Any],
    free: Any,
    ends: Sequence[End],
    listed: Sequence[ListEntry],
    choose: Chooser,
    now: float = 0.0,
) -> list[Reservation | None]:
    """Return a reservation for each job of the list, in its order: a non-delay schedule.

    None stands for a job that finds no place even when nothing runs any more.

    Guarantee: no job of the list waits at a moment when `choose` finds a place for it.
    Time: O(n (n + r) p). Most jobs are ruled out by sums over the machine before a place is looked for.

    Args:
        space: interprets `free`.
        free: what is free now.
        ends: of the running jobs; times must not lie before `now`.
        listed: the list, first job first.
        choose: chooses places.
        now: s.
    """
    planned: list[Reservation] = []
    found: list[Reservation | None] = [None] * len(listed)
    waiting = np.arange(len(listed))
    needs = space.pooled_needs([one.job for one in listed])
    sums = space.pooled(free)
    # (time, order of entry, who gives back; None: a moment from which on a job may start)
    events: list[tuple[float, int, Job | None, Allocation | None]] = [
        (time, index, job, allocation) for index, (time, job, allocation) in enumerate(ends)
    ]
    events += [(after, -1, None, None) for after in sorted({one.after for one in listed}) if after > now]
    heapq.heapify(events)
    entered = len(events)
    while len(waiting):
        begun: list[int] = []
        # At one moment capacity only shrinks: what does not fit once does not fit again.
        unfit: set[Request] = set()
        for position in np.flatnonzero(np.all(needs <= sums, axis=1)).tolist():
            index = int(waiting[position])
            job, duration, _, after = listed[index]
            if after > now or job.request in unfit or (begun and (needs[position] > sums).any()):
                continue
            end = end_of(now, duration)
            place = choose(free, job, now, end, planned)
            if place is None:
                if not space.fits(free, job):
                    unfit.add(job.request)
                continue
            free = space.take(free, job, place.allocation)
            sums = sums - space.pooled_use(job, place.allocation)
            kept = found[index] = Reservation(job, now, end, place)
            planned.append(kept)
            begun.append(position)
            entered += 1
            heapq.heappush(events, (end, entered, job, place.allocation))
        if begun:
            left = np.ones(len(waiting), dtype=bool)
            left[begun] = False
            waiting, needs = waiting[left], needs[left]
        if not events or math.isinf(events[0][0]):
            break
        now = events[0][0]
        while events and events[0][0] <= now:
            _, _, ended, allocation = heapq.heappop(events)
            if ended is not None and allocation is not None:
                free = space.give(free, ended, allocation)
                sums = sums + space.pooled_use(ended, allocation)
    return found


def serial(
    timeline: Timeline[Any], listed: Sequence[ListEntry], choose: Chooser, limit: float = math.inf
) -> list[Reservation | None] | None:
    """Return a reservation for each job of the list, in its order: an active schedule.

    None stands for a job that finds no place at any time.

    Guarantee: no job starts later than the first moment at which the jobs before it in the list leave it a place.
    Time: O(n s p).

    Args:
        timeline: what is free when no job of the list starts.
        listed: the list, first job first.
        choose: chooses places.
        limit: None is returned instead of a schedule as soon as the sum of weight x start, over the jobs that found a
            place so far, is this or more.
    """
    timeline = timeline.copy()
    planned: list[Reservation] = []
    found: list[Reservation | None] = []
    cost: float = 0

    def place(free: Any, job: Job, start: float, end: float) -> Place | None:
        return choose(free, job, start, end, planned)

    for job, duration, weight, after in listed:
        earliest = timeline.earliest(job, duration, place, after=after)
        if earliest is None:
            found.append(None)
            continue
        start, where = earliest
        cost += weight * start
        if cost >= limit:
            return None
        kept = Reservation(job, start, end_of(start, duration), where)
        timeline.reserve(job, where.allocation, start, kept.end)
        planned.append(kept)
        found.append(kept)
    return found
