"""EASY backfilling."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

from batdispatch.core.job import Job
from batdispatch.core.ledger import Ledger
from batdispatch.core.options import Options
from batdispatch.core.space import HostSpace, PoolSpace, Space
from batdispatch.core.timeline import end_of
from batdispatch.dispatchers.backfilling.queue import Ends, QueueDispatcher, QueueOptions
from batdispatch.parts.prediction.estimates import LEAST


class EasyOptions(QueueOptions, frozen=True, kw_only=True):
    """Options of EASY.

    ordering, placement, default_walltime, prediction: see `batdispatch explain fcfs`.
    reservation: what the head of the queue reserves at its shadow time. `count`: a number of hosts (on shared nodes:
        the possibility to be placed), as in the literature. `hosts`: particular hosts, as Batsim's easy_bf does;
        backfilled jobs that outlive the shadow time stay off them.
    """

    reservation: Literal["count", "hosts"] = "count"


class Easy(QueueDispatcher):
    """Start jobs in order; when the head does not fit, others may run ahead if they do not delay it.

    Lifka: "The ANL/IBM SP scheduling system", JSSPP 1995; Mu'alem, Feitelson, TPDS 2001, section 2.1. The shadow time
    is the earliest moment at which enough running jobs have reached their expected end for the head to start. A job is
    backfilled if it fits now and either ends by the shadow time or uses only what the head leaves spare then.

    Guarantee: no backfilled job delays the head beyond its shadow time, if no job outlives its expected end. Jobs
    without a walltime are expected to run for ever unless `default_walltime` says otherwise; where all do, there is no
    shadow time, whatever fits starts as with filler, and the head may starve.
    Time: linear in the queue and in the running jobs when capacity was freed; otherwise only new jobs are considered.
    Deviation: on shared nodes the reservation is per node and resource, where the literature counts processors.
    """

    options_type: ClassVar[type[Options]] = EasyOptions

    def begin(self, cluster: Ledger) -> None:
        super().begin(cluster)
        self.ends = Ends()
        cluster.on_start = lambda job: self.ends.add(job, end_of(cluster.now, self.estimate(job)))
        #: Capacity as the reservation sees it: a mere number, or the exact hosts.
        self._counts = self.options.reservation == "count"
        pooled = self._counts and self.placement.complete and isinstance(cluster.space, HostSpace)
        self._space: Space[Any] = PoolSpace(cluster.machine) if pooled else cluster.space
        self._pooled = pooled
        self._basis: tuple[int, str] = (-1, "")
        self._shadow = math.inf
        #: Free at the shadow time: all of it for `count`, without the head's own hosts for `hosts`.
        self._at_shadow: Any = None

    def on_end(self, cluster: Ledger, job: Job) -> None:
        super().on_end(cluster, job)
        self.ends.remove(job)

    def decide(self, cluster: Ledger) -> None:
        if not self.waiting:
            return
        candidates = self.fresh_in_order(cluster)
        late = self._shadow <= cluster.now and not self.estimates.exact_requests
        if late or self.ordering.dynamic or (cluster.epoch, self.waiting[0].id) != self._basis:
            self.start_from_head(cluster)
            candidates = self.waiting
            if len(candidates) < 2:
                self._basis = (-1, "")
                self.fresh = []
                return
            self._reserve(cluster, candidates[0])
            self._basis = (cluster.epoch, candidates[0].id)
        head = self.waiting[0]
        candidates = cluster.space.plausible(cluster.free, candidates)
        if self._pooled:
            # A number suffices to see who would delay the head, before hosts are chosen.
            spare, now, shadow, estimate = self._at_shadow - head.units, cluster.now, self._shadow, self.estimate
            candidates = [job for job in candidates if job.units <= spare or end_of(now, estimate(job)) <= shadow]
        self.forget_started([job for job in candidates if job is not head and self._backfill(cluster, job, head)])

    def _backfill(self, cluster: Ledger, job: Job, head: Job) -> bool:
        """Start a job if it does not delay the head."""
        free = cluster.free
        if not cluster.space.fits(free, job):
            return False
        outlives = end_of(cluster.now, self.estimate(job)) > self._shadow
        if outlives and not self._counts:
            free = cluster.space.meet(free, self._at_shadow)
        allocation = self.choose(free, job)
        if allocation is None:
            return False
        if outlives:
            left = self._space.take(self._at_shadow, job, allocation)
            if self._counts and not self._head_fits(left, head):
                return False
            self._at_shadow = left
        cluster.start(job, allocation)
        return True

    def _reserve(self, cluster: Ledger, head: Job) -> None:
        """Find the head's shadow time and what is free then."""
        space = self._space
        free = cluster.free.bit_count() if self._pooled else cluster.free
        self._shadow = math.inf
        # Requests are limits, predictions may be too short: who outlives one is expected to end a little later.
        soonest = -math.inf if self.estimates.exact_requests else cluster.now + LEAST
        for expected, _, job in self.ends:
            end = max(expected, soonest)
            if end > self._shadow:
                break
            assert job.allocation is not None
            if self._pooled:
                free += (job.allocation.mask & ~cluster.unavailable).bit_count()
            else:
                free = space.give(free, job, job.allocation)
                if cluster.unavailable:
                    free = space.only(free, ~cluster.unavailable)
            # The loop goes on through the jobs that end at the very same time.
            if self._shadow == math.inf and self._head_fits(free, head):
                self._shadow = end
        self._at_shadow = free
        if not self._counts:
            allocation = self.choose(free, head)
            if allocation is not None:
                self._at_shadow = space.take(free, head, allocation)

    def _head_fits(self, free: Any, head: Job) -> bool:
        return self._space.fits(free, head) and (self.placement.complete or self.choose(free, head) is not None)
