"""Jobs that are run under a sequence of requests, attempt after attempt."""

from __future__ import annotations

import heapq
import math
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Annotated, Any, ClassVar

import msgspec

from batdispatch.core.job import Job, JobState
from batdispatch.core.ledger import Ledger
from batdispatch.core.options import Options
from batdispatch.dispatchers.backfilling.queue import QueueDispatcher, QueueOptions
from batdispatch.dispatchers.stochastic.rate import ArrivalRate, share_of
from batdispatch.dispatchers.stochastic.runs import MAX_HISTORY, Run, attempt_id, run_of
from batdispatch.parts.requests.base import Settings, find_requests, request

#: Seconds by which a reservation exceeds its request, so that a job of exactly the request's length succeeds.
MARGIN = 1e-3


class StochasticOptions(QueueOptions, frozen=True, kw_only=True):
    """Options of every dispatcher of stochastic jobs.

    requests: how long to ask for, attempt after attempt (`batdispatch list requests`).
    rate: work of small jobs that arrives a second, as a share of the machine; none: measured as they arrive and end.
    grid: points of the grid on which sequences are optimised; none: continuously.
    runs: previous runs that count for `neuroscience`.
    factor: by how much a request grows after a failure where no other is planned.
    speculate: whether a gap that no request fits is given to the job that is expected to use it best.
    """

    requests: str = "toptimal"
    rate: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    grid: Annotated[int, msgspec.Meta(ge=1, le=20_000)] | None = None
    runs: Annotated[int, msgspec.Meta(ge=1, le=MAX_HISTORY)] = 5
    factor: Annotated[float, msgspec.Meta(ge=1.01, le=100)] = 1.5
    speculate: bool = False


class Attempts(QueueDispatcher):
    """Overwrites the requested time of each job that states its law, and runs it again with the next request.

    A job states the law of its run time in the field ``runtime_law``, in seconds; the others are small jobs of known
    run time. A mixin: ``class Mine(Attempts, Base)`` for any queue dispatcher Base whose `decide` first calls
    `end_overdue`.

    An attempt that outlives its reservation is stopped at it and the job is registered again with the same profile, its
    field ``parent`` being the first job's id. How the reservation is enforced: a registered attempt has its request as
    walltime, so Batsim 4 and 5 stop it by themselves; the job that was submitted came with the walltime of its user,
    which neither version can change, and a speculative attempt ends before its request, so these are stopped by a call
    at the time (CALL_ME_LATER) and KILL_JOB. Nobody but the submitted job needs a rejected or dummy row.
    """

    options_type: ClassVar[type[Options]] = StochasticOptions
    registers_jobs = True

    def begin(self, cluster: Ledger) -> None:
        super().begin(cluster)
        options = self.options
        settings = Settings(grid=options.grid, runs=options.runs, factor=options.factor)
        self._strategy = find_requests(options.requests)(settings)
        #: By id of the attempt that is registered, waits or runs.
        self.runs: dict[str, Run] = {}
        #: (time, id of a running attempt that is to be stopped then).
        self._stops: list[tuple[float, str]] = []
        self._known: dict[tuple[str, float], tuple[float, ...]] = {}
        self._history: dict[str, deque[float]] = defaultdict(lambda: deque(maxlen=options.runs))
        self._rate = ArrivalRate()
        self._failures = self._speculations = 0
        before = cluster.on_start
        cluster.on_start = lambda job: self._started(cluster, job, before)

    # ------------------------------------------------------------------ requests

    def estimate(self, job: Job) -> float:
        run = self.runs.get(job.id)
        return super().estimate(job) if run is None else min(self.reservation_of(run), run.limit)

    def request_of(self, run: Run) -> float:
        """Return the current request of a job, in seconds."""
        return request(run.sequence, run.index, self._strategy.settings.factor)

    def reservation_of(self, run: Run) -> float:
        """Return how long the current request of a job is reserved, in seconds.

        In whole milliseconds, so that jobs are stopped at the same time by Batsim 4, which counts microseconds, as by
        Batsim 5, which counts calls in milliseconds.
        """
        return round(math.ceil(round(self.request_of(run) * 1000, 3)) / 1000 + MARGIN, 3)

    def rate_of(self, cluster: Ledger, job: Job) -> float:
        """Return the backfilling rate zeta = Z p / P of a job, 0 to 1, in steps of 0.01 where Z is measured."""
        rate: float | None = self.options.rate
        share = share_of(cluster.space, cluster.space.whole(), job)
        if rate is not None:
            return min(rate * share, 1.0)
        return round(min(self._rate.at(cluster.now) * share, 1.0), 2)

    def choose_requests(self, cluster: Ledger, run: Run) -> None:
        """Give a job the sequence of the strategy as things stand, and the first request that may suffice."""
        strategy = self._strategy
        zeta = self.rate_of(cluster, run.job) if strategy.uses_rate else 0.0
        if strategy.uses_history:
            run.sequence = strategy.sequence(run.law, zeta, run.history or list(self._history[run.law.text]))
        else:
            key = (run.law.text, zeta)
            if key not in self._known:
                self._known[key] = strategy.sequence(run.law, zeta)
            run.sequence = self._known[key]
        run.index = 0
        self._skip_failed(run)

    def _skip_failed(self, run: Run) -> None:
        """Make the first request of a job's sequence that is not known to be too short the current one."""
        while self.request_of(run) <= run.floor + MARGIN / 2:
            run.index += 1

    # ------------------------------------------------------------------ events

    def on_submit(self, cluster: Ledger, job: Job) -> None:
        self._rate.begin(cluster.now)
        run = self.runs.get(job.id)
        if run is None:
            run = run_of(job)
            if run is not None:
                self.runs[job.id] = run
                self.choose_requests(cluster, run)
        elif run.place is not None:
            job.submission, job.rank = run.place
            run.place = None
        super().on_submit(cluster, job)
        if job.state is JobState.REJECTED:
            self.runs.pop(job.id, None)
        elif run is None:
            share = share_of(cluster.space, cluster.space.whole(), job)
            self._rate.arrived(job, share, self.estimates.requested(job))

    def _started(self, cluster: Ledger, job: Job, before: Callable[[Job], None] | None) -> None:
        if before is not None:
            before(job)
        run = self.runs.get(job.id)
        if run is None:
            return
        run.limit = min(run.limit, self.reservation_of(run))
        if run.limit < job.walltime:
            self._stop_at(cluster, cluster.now + run.limit, job.id)

    def _stop_at(self, cluster: Ledger, time: float, job_id: str) -> None:
        heapq.heappush(self._stops, (round(time, 6), job_id))
        cluster.wake_at(round(time, 6))

    def end_overdue(self, cluster: Ledger) -> None:
        """Stop the attempts whose time is over."""
        late: list[Job] = []
        while self._stops and self._stops[0][0] <= cluster.now:
            _, job_id = heapq.heappop(self._stops)
            job = cluster.running.get(job_id)
            if job is None:
                continue
            due = round(job.start + self.runs[job_id].limit, 6)
            if due > cluster.now:
                # It started later than it was decided.
                self._stop_at(cluster, due, job_id)
            else:
                late.append(job)
        cluster.kill(late)

    def on_end(self, cluster: Ledger, job: Job) -> None:
        super().on_end(cluster, job)
        run = self.runs.pop(job.id, None)
        if run is None:
            self._rate.ended(job, cluster.now - job.start)
            return
        limit, run.limit = run.limit, math.inf
        if job.state is JobState.COMPLETED_SUCCESSFULLY:
            self._history[run.law.text].append(cluster.now - job.start)
        if job.state not in (JobState.COMPLETED_KILLED, JobState.COMPLETED_WALLTIME_REACHED):
            self.on_done(cluster, run)
            return
        reached = min(limit - MARGIN, job.walltime)
        run.floor = max(run.floor, reached)
        if self.request_of(run) > run.floor + MARGIN / 2:
            # Stopped before its request: a speculation, or a walltime of the user's below it.
            self._speculations += 1
            run.place = (job.submission, job.rank)
        else:
            self._failures += 1
            # Another rate's sequence would ask for hardly more than what has just failed.
            self._skip_failed(run)
        self._again(cluster, run)

    def on_done(self, cluster: Ledger, run: Run) -> None:
        """Learn that a stochastic job needs no further attempt."""

    def _again(self, cluster: Ledger, run: Run) -> None:
        """Register the next attempt."""
        run.attempts += 1
        first = run.job
        again = Job(
            id=attempt_id(first.id, run.attempts),
            units=first.units,
            submission=cluster.now,
            walltime=self.reservation_of(run),
            profile=first.profile,
            demand=first.demand,
            user=first.user,
            extra={**first.extra, "parent": first.id, "attempt": run.attempts},
        )
        self.runs[again.id] = run
        cluster.register_job(again)

    def registration_done(self, cluster: Ledger) -> bool:
        return super().registration_done(cluster) and not self.runs

    def report(self) -> dict[str, Any]:
        return {**super().report(), "failed_attempts": self._failures, "failed_speculations": self._speculations}
