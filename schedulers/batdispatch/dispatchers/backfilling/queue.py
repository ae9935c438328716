"""The base of dispatchers that serve a queue in some order with some placement."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

import msgspec

from batdispatch.core.dispatcher import Dispatcher
from batdispatch.core.job import Job
from batdispatch.core.ledger import Ledger
from batdispatch.core.options import Options
from batdispatch.parts.ordering import make_ordering
from batdispatch.parts.placement.base import Placement, find_placement
from batdispatch.parts.prediction import Estimates


class QueueOptions(Options, frozen=True, kw_only=True):
    """Options of every queue dispatcher.

    ordering: which waiting job goes first (`batdispatch list orderings`).
    placement: on which free hosts a job goes (`batdispatch list placements`).
    default_walltime: seconds that a job without a walltime is expected to run; infinite unless given. Nothing is killed
        by it.
    prediction: how long jobs are expected to run (`batdispatch list predictions`); no prediction exceeds the walltime.
    """

    ordering: str = "fcfs"
    placement: str = "first-fit"
    prediction: str = "requested"
    default_walltime: Annotated[float, msgspec.Meta(gt=0)] = math.inf


class QueueDispatcher(Dispatcher):
    """Keeps the waiting jobs in the chosen order.

    Attributes:
        waiting: waiting jobs, as sorted as the last call of `in_order` left them.
        fresh: jobs submitted since the last decision.
    """

    options_type: ClassVar[type[Options]] = QueueOptions

    def __init__(self, options: Options | None = None, seed: int = 0) -> None:
        super().__init__(options, seed)
        self.ordering = make_ordering(self.options.ordering)
        self._placement_class = find_placement(self.options.placement)
        self.estimates = Estimates(self.options.prediction, self.options.default_walltime)
        self.waiting: list[Job] = []
        self.fresh: list[Job] = []
        self._keys: dict[str, tuple[float, int]] = {}

    def begin(self, cluster: Ledger) -> None:
        self.placement: Placement = self._placement_class(cluster.machine)
        self.choose = self.placement.choose
        self.estimates.begin(cluster)

    def estimate(self, job: Job) -> float:
        """Return how long a job is expected to run, in seconds."""
        return self.estimates.of(job)

    def on_submit(self, cluster: Ledger, job: Job) -> None:
        if not self.placement.complete and self.choose(cluster.space.whole(), job) is None:
            cluster.reject(job, f"placement {self.options.placement} finds no place for it even on the idle machine")
            return
        self.fresh.append(job)
        if self.ordering.dynamic:
            self.waiting.append(job)
        else:
            self._keys[job.id] = (self.ordering.key(job, cluster.now, self.estimate(job)), job.rank)
            insort(self.waiting, job, key=self._key)

    def on_end(self, cluster: Ledger, job: Job) -> None:
        self.estimates.ended(job, cluster.now)

    def report(self) -> dict[str, Any]:
        return {"prediction": self.estimates.report()}

    def _key(self, job: Job) -> tuple[float, int]:
        return self._keys[job.id]

    def in_order(self, cluster: Ledger) -> list[Job]:
        """Return the waiting jobs in order; the caller may shorten the list but not reorder it."""
        if self.ordering.dynamic:
            self._sort(self.waiting, cluster.now)
        return self.waiting

    def fresh_in_order(self, cluster: Ledger) -> list[Job]:
        """Return the jobs submitted since the last decision, in order."""
        if len(self.fresh) > 1:
            self._sort(self.fresh, cluster.now)
        return self.fresh

    def _sort(self, jobs: list[Job], now: float) -> None:
        key, estimate = self.ordering.key, self.estimate
        jobs.sort(key=self._key if not self.ordering.dynamic else lambda job: (key(job, now, estimate(job)), job.rank))

    def forget_started(self, started: list[Job]) -> None:
        """Drop jobs that were started from `waiting`, and all from `fresh`: the end of a decision."""
        for job in started:
            self.waiting.remove(job)
            self._keys.pop(job.id, None)
        self.fresh = []

    def start_from_head(self, cluster: Ledger) -> int:
        """Start jobs in order until one does not fit, and return how many were started."""
        started = 0
        for job in self.in_order(cluster):
            allocation = self.choose(cluster.free, job)
            if allocation is None:
                break
            cluster.start(job, allocation)
            self._keys.pop(job.id, None)
            started += 1
        if started:
            del self.waiting[:started]
        return started


class Ends:
    """Running jobs in order of their expected end."""

    def __init__(self) -> None:
        self._sorted: list[tuple[float, int, Job]] = []
        self._of: dict[str, float] = {}

    def add(self, job: Job, end: float) -> None:
        """Enter a job that is expected to end at `end`, in seconds."""
        insort(self._sorted, (end, job.rank, job))
        self._of[job.id] = end

    def remove(self, job: Job) -> None:
        """Take out a job that ended."""
        end = self._of.pop(job.id)
        index = bisect_left(self._sorted, (end, job.rank))
        del self._sorted[index]

    def overdue(self, now: float) -> list[Job]:
        """Return the jobs that were expected to end before `now`."""
        return [job for _, _, job in self._sorted[: bisect_left(self._sorted, (now,))]]

    def __iter__(self) -> Iterator[tuple[float, int, Job]]:
        return iter(self._sorted)
