"""A batch scheduler's plan: which capacity is reserved for whom and until when."""

from __future__ import annotations

import heapq
import math
from typing import Any

from batdispatch.core.allocation import Allocation
from batdispatch.core.job import Job
from batdispatch.core.ledger import Ledger
from batdispatch.core.space import HostSpace, PoolSpace, Space
from batdispatch.core.timeline import Timeline, end_of
from batdispatch.parts.placement.base import Placement

#: Start, end (s) and hosts of a reservation.
Place = tuple[float, float, Allocation]


class Plan:
    """Reservations of jobs that wait and of attempts that run, on the free capacity over time.

    Attributes:
        timeline: what is free when nothing but the plan happens.
        pooled: whether only the number of hosts is planned. On exclusive hosts such a plan is always carried out where
            jobs do not care which hosts they get.
        planned: reservations of jobs that wait, by a key that all attempts of a job share.
        held: reservations of attempts that run, by their id.
        window: end of the last reservation when the plan was made, in seconds.
    """

    def __init__(self, cluster: Ledger, placement: Placement) -> None:
        self._choose = placement.choose
        self.pooled = placement.complete and isinstance(cluster.space, HostSpace)
        self._space: Space[Any] = PoolSpace(cluster.machine) if self.pooled else cluster.space
        self.timeline = self._empty(cluster)
        self.planned: dict[str, Place] = {}
        self.held: dict[str, Place] = {}
        self.window = cluster.now
        #: (start, order of planning, key) of the reservations in `planned`, and some that are no more.
        self._starts: list[tuple[float, int, str]] = []
        self._order = 0

    def _empty(self, cluster: Ledger) -> Timeline[Any]:
        whole = cluster.space.only(cluster.space.whole(), ~cluster.unavailable)
        return Timeline(self._space, cluster.now, whole.bit_count() if self.pooled else whole)

    def _pick(self, free: Any, job: Job) -> Allocation | None:
        if self.pooled:
            return Allocation((1 << job.units) - 1) if job.units <= free else None
        return self._choose(free, job)

    # ------------------------------------------------------------------ jobs that wait

    def reserve(self, key: str, job: Job, duration: float, now: float, before: float = math.inf) -> bool:
        """Reserve a job's earliest place from `now` on that ends by `before`; return whether there is one."""
        found = self.timeline.earliest(job, duration, self._pick, after=now)
        if found is None:
            return False
        start, allocation = found
        end = end_of(start, duration)
        if end > before and before < math.inf:
            return False
        self.timeline.reserve(job, allocation, start, end)
        self.planned[key] = (start, end, allocation)
        self._enter(key)
        if end < math.inf:
            self.window = max(self.window, end)
        return True

    def withdraw(self, key: str, job: Job) -> bool:
        """Give a waiting job's reservation back; return whether it had one."""
        place = self.planned.pop(key, None)
        if place is None:
            return False
        self.timeline.release(job, place[2], place[0], place[1])
        return True

    def next_start(self) -> float:
        """Return the earliest planned start in seconds, infinite without one."""
        while self._starts:
            start, _, key = self._starts[0]
            place = self.planned.get(key)
            if place is not None and place[0] == start:
                return start
            heapq.heappop(self._starts)
        return math.inf

    def due(self, now: float) -> list[str]:
        """Take out and return the keys of the jobs that are planned to have started by `now`, in that order."""
        # A key may be there twice, if it was planned for the same time again.
        keys: dict[str, None] = {}
        while self.next_start() <= now:
            keys[heapq.heappop(self._starts)[2]] = None
        return list(keys)

    def remain_due(self, keys: list[str]) -> None:
        """Put back keys of jobs that were due but could not start."""
        for key in keys:
            self._enter(key)

    def _enter(self, key: str) -> None:
        self._order += 1
        heapq.heappush(self._starts, (self.planned[key][0], self._order, key))

    def may_move_up(self, key: str, job: Job, now: float) -> bool:
        """Return whether a planned job might start earlier, from `now` on: False only if it surely cannot."""
        place = self.planned[key]
        return place[0] > now and (not self.pooled or self.timeline.may_move_up(job, place, now))

    def longest_gap(self, job: Job) -> float:
        """Return the longest time, in seconds, for which each step of the plan's window has room for a job."""
        longest, began = 0.0, -1.0
        for time, free in zip(self.timeline.times, self.timeline.frees, strict=True):
            if time >= self.window:
                break
            if self._space.fits(free, job):
                began = time if began < 0 else began
            elif began >= 0:
                longest = max(longest, time - began)
                began = -1.0
        if began >= 0:
            longest = max(longest, self.window - began)
        # Times are rounded to microseconds.
        return longest + 1e-6

    # ------------------------------------------------------------------ attempts that run

    def begin(self, key: str, job: Job) -> None:
        """Note that a planned job starts as planned."""
        self.held[job.id] = self.planned.pop(key)

    def hold(self, job: Job, now: float, end: float, allocation: Allocation) -> None:
        """Note that a job starts now in a gap of the plan."""
        if self.pooled:
            allocation = Allocation((1 << job.units) - 1)
        self.timeline.reserve(job, allocation, now, end)
        self.held[job.id] = (now, end, allocation)

    def end(self, job: Job, now: float) -> bool:
        """Give back what an attempt that ended was to hold from `now` on; return whether that is anything."""
        _, end, allocation = self.held.pop(job.id)
        if end <= now:
            return False
        self.timeline.release(job, allocation, now, end)
        return True

    # ------------------------------------------------------------------ all

    def close_window(self, now: float) -> None:
        """Let the window end where the last reservation does."""
        ends = [end for _, end, _ in (*self.planned.values(), *self.held.values()) if end < math.inf]
        self.window = max(ends, default=now)

    def renew(self, cluster: Ledger, least: float) -> None:
        """Drop all reservations but those of running jobs; late ones get `least` seconds more."""
        self.timeline = self._empty(cluster)
        self.planned.clear()
        for job_id, (start, end, allocation) in self.held.items():
            later = max(end, cluster.now + least)
            self.held[job_id] = (start, later, allocation)
            self.timeline.reserve(cluster.running[job_id], allocation, cluster.now, later)
        self.close_window(cluster.now)
