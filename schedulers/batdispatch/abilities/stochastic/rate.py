"""How much work of small jobs arrives, measured while they do."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from batdispatch.core.capacity.space import Space
from batdispatch.core.jobs.job import Job


def share_of(space: Space[Any], free: Any, job: Job) -> float:
    """Return which share of some free capacity a job takes while it runs, of the resource it takes most of.

    On whole hosts its units over the free hosts. More than 1 if it does not fit, infinite if nothing is free.
    """
    needed, offered = space.pooled_need(job), space.pooled(free)
    if not needed.any():
        # Whole nodes, of which the sums say nothing.
        return job.units / space.machine.size
    wanted = needed > 0
    if not offered[wanted].all():
        return math.inf
    return float(np.max(needed[wanted] / offered[wanted]))


class ArrivalRate:
    """Estimates Z = lambda epsilon, the work of small jobs that arrives a second, as a share of the machine.

    What a small job asks for is known when it arrives, what it uses when it has ended, so the work of those that still
    wait or run is estimated by what they ask for times the ratio of used to asked work among those that ended. Z is the
    work since the first submission over the time since then. It converges to the true rate as jobs arrive, whatever the
    requested times are, if the ratio is that of the jobs still to end; jobs without a requested time count when they
    have ended.

    References:
        Gainaru, Pallez, Sun, Raghavan: "Speculative scheduling for stochastic HPC applications", ICPP 2019 (the rate;
        how to measure it is not said). Cochran: "Sampling techniques", 1977, chapter 6 (ratio estimation).
    """

    def __init__(self) -> None:
        self._began: float | None = None
        #: Job id -> (share of the machine, requested seconds), while it waits or runs.
        self._present: dict[str, tuple[float, float]] = {}
        #: Seconds of the whole machine: asked for by all, by those that ended, used by those.
        self._asked = self._asked_by_ended = self._used = 0.0
        #: Used by jobs that asked for nothing.
        self._unasked = 0.0

    def begin(self, now: float) -> None:
        """Count from `now`, in seconds, on, unless something was submitted before."""
        if self._began is None:
            self._began = now

    def arrived(self, job: Job, share: float, asked: float) -> None:
        """Count a small job that takes a share of the machine and asks for some seconds, perhaps infinitely many."""
        self._present[job.id] = (share, asked)
        if asked < math.inf:
            self._asked += share * asked

    def ended(self, job: Job, used: float) -> None:
        """Learn how many seconds a small job ran."""
        share, asked = self._present.pop(job.id)
        if asked < math.inf:
            self._asked_by_ended += share * asked
            self._used += share * used
        else:
            self._unasked += share * used

    def withdrawn(self, job_id: str) -> None:
        """Forget a small job, if it was one, that was rejected: it brings no work."""
        share, asked = self._present.pop(job_id, (0.0, 0.0))
        if asked < math.inf:
            self._asked -= share * asked

    def at(self, now: float) -> float:
        """Return Z at `now`, in seconds; 0 at the beginning."""
        if self._began is None or now <= self._began:
            return 0.0
        ratio = self._used / self._asked_by_ended if self._asked_by_ended > 0 else 1.0
        return (self._asked * ratio + self._unasked) / (now - self._began)
