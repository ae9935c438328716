"""Conservative backfilling of stochastic jobs."""

from __future__ import annotations

import math
from typing import ClassVar

from batdispatch.core.allocation import Allocation
from batdispatch.core.job import Job
from batdispatch.core.ledger import Ledger
from batdispatch.core.options import Options
from batdispatch.dispatchers.backfilling.conservative import Conservative, Place
from batdispatch.dispatchers.stochastic.attempts import StochasticOptions
from batdispatch.dispatchers.stochastic.runs import Run
from batdispatch.dispatchers.stochastic.speculation import Speculative, gaps_from_now


class StochasticConservative(Speculative, Conservative):
    """Conservative backfilling with reservation sequences: each job that states its law runs attempt after attempt.

    The plan is compressed at every end, so it re-packs: see `stochastic-easy`. Speculation: gaps of the plan from now
    on; a job is tried only where its own planned start is not before the gap's end, and keeps that start if it fails.

    Source: Gainaru, Pallez, Sun, Raghavan, ICPP 2019 (the sequences, the rule of speculation); the combination is this
    package's.
    Guarantee and time: as conservative, with requests in place of walltimes.
    """

    options_type: ClassVar[type[Options]] = StochasticOptions

    def begin(self, cluster: Ledger) -> None:
        super().begin(cluster)
        #: Places in the plan of jobs that are tried before them, by id of the job that was submitted.
        self._kept: dict[str, Place] = {}

    def on_submit(self, cluster: Ledger, job: Job) -> None:
        super().on_submit(cluster, job)
        run = self.runs.get(job.id)
        if run is not None and run.job.id in self._kept:
            self._plan[job.id] = self._kept.pop(run.job.id)

    def on_done(self, cluster: Ledger, run: Run) -> None:
        place = self._kept.pop(run.job.id, None)
        if place is not None:
            self._timeline.release(run.job, place[2], place[0], place[1])
            self._freed = True

    def decide(self, cluster: Ledger) -> None:
        self.end_overdue(cluster)
        Conservative.decide(self, cluster)
        self.forget_started(self.speculate(cluster, lambda: gaps_from_now(self._timeline, cluster.now, math.inf)))

    def may_try(self, job: Job, end: float) -> bool:
        place = self._plan.get(job.id)
        return place is None or place[0] >= end

    def hold(self, cluster: Ledger, job: Job, end: float, allocation: Allocation) -> None:
        place = self._plan.pop(job.id, None)
        if place is not None:
            self._kept[self.runs[job.id].job.id] = place
        self._timeline.reserve(job, allocation, cluster.now, end)
        self._plan[job.id] = (cluster.now, end, allocation)
        self._ends.add(job, end)

    def _plan_anew(self, cluster: Ledger) -> None:
        self._kept.clear()
        super()._plan_anew(cluster)
