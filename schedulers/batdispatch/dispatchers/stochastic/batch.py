"""The batch scheduler of the speculative scheduling paper."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Literal

import msgspec

from batdispatch.core.allocation import Allocation
from batdispatch.core.events import Event, MachinesAvailable, MachinesUnavailable
from batdispatch.core.job import Job
from batdispatch.core.ledger import Ledger
from batdispatch.core.options import Options
from batdispatch.dispatchers.stochastic.attempts import StochasticOptions
from batdispatch.dispatchers.stochastic.plan import Plan
from batdispatch.dispatchers.stochastic.runs import Run
from batdispatch.dispatchers.stochastic.speculation import Speculative, gaps_from_now
from batdispatch.dispatchers.stochastic.unplaced import Need, Unplaced

#: Seconds that a planned start may be late, because messages take time, before the plan is made anew.
LATE = 1.0


class BatchOptions(StochasticOptions, frozen=True, kw_only=True):
    """Options of the batch scheduler.

    ordering: order in which a batch is planned and gaps are filled; the paper's is largest-area.
    plan: `rigid`: planned starts do not move, what an early end frees is only filled; `repack`: they move up at every
        end.
    batch: most jobs planned together.
    """

    ordering: str = "largest-area"
    plan: Literal["rigid", "repack"] = "rigid"
    batch: Annotated[int, msgspec.Meta(ge=1)] = 100


class StochasticBatch(Speculative):
    """Plans stochastic jobs in batches, fills what early ends free, and may speculate on gaps that no request fits.

    Gainaru, Pallez, Sun, Raghavan: "Speculative scheduling for stochastic HPC applications", ICPP 2019. The waiting
    jobs of the long queue (those that state a law) that came first make a batch; in the ordering, each is reserved the
    earliest gap of the plan that is as long as its request. When a job ends early, waiting jobs and small ones are
    reserved what it leaves, inside the plan's window, if their request fits. A job that fails comes again with its next
    request. The next batch is planned when no reservation is left.

    Speculation: a gap from now on that no request fits is given to the job of largest `gain`, among those whose
    reservation, if any, begins after the gap. It is stopped at the gap's end and keeps its place and request.

    Guarantee: with a rigid plan no planned job starts earlier or later than planned, if no host goes away and small
    jobs keep the times they are expected to take.
    Time: an end costs a search of the plan for each different size that waits, and for each job that may fit a gap.
    Deviations: the paper does not say which hundred jobs make a batch nor whether jobs with a reservation may
    speculate; small jobs fill gaps, and are planned alone when no long job waits.
    """

    options_type: ClassVar[type[Options]] = BatchOptions

    def begin(self, cluster: Ledger) -> None:
        super().begin(cluster)
        self._plan = Plan(cluster, self.placement)
        #: Jobs that wait, by the keys of the plan.
        self._by_root: dict[str, Job] = {}
        self._unplaced = Unplaced()
        #: Whether capacity was freed since the last decision, and whether the plan no longer holds.
        self._freed = self._void = False
        self._next_call = -1.0

    def _root(self, job: Job) -> str:
        """Return the id of the job that was submitted, the key of all its attempts."""
        run = self.runs.get(job.id)
        return job.id if run is None else run.job.id

    # ------------------------------------------------------------------ events

    def on_submit(self, cluster: Ledger, job: Job) -> None:
        super().on_submit(cluster, job)
        if job.id in cluster.queue:
            root = self._root(job)
            self._by_root[root] = job
            if root not in self._plan.planned:
                self._unplaced.add(job, self.estimate(job))

    def on_end(self, cluster: Ledger, job: Job) -> None:
        self._freed |= self._plan.end(job, cluster.now)
        super().on_end(cluster, job)

    def on_done(self, cluster: Ledger, run: Run) -> None:
        # A speculation that succeeded needs its reservation no more.
        self._freed |= self._plan.withdraw(run.job.id, run.job)

    def on_event(self, cluster: Ledger, event: Event) -> None:
        super().on_event(cluster, event)
        if isinstance(event, MachinesAvailable | MachinesUnavailable):
            self._void = True

    # ------------------------------------------------------------------ decisions

    def decide(self, cluster: Ledger) -> None:
        self.end_overdue(cluster)
        plan = self._plan
        plan.timeline.advance(cluster.now)
        jobs = self.in_order(cluster)
        if plan.next_start() < cluster.now - LATE:
            self._void = True
        if self._void:
            plan.renew(cluster, LATE)
            if plan.held:
                self._plan_batch(cluster, jobs)
        elif self._freed and self.options.plan == "repack":
            self._repack(cluster)
        if not (plan.planned or plan.held):
            if jobs:
                self._plan_batch(cluster, jobs)
        elif not (self._freed or self._void):
            self._fill(cluster, self.fresh_in_order(cluster))
        else:
            self._fill(cluster, self._that_may_fit(cluster))
        self._freed = self._void = False
        started = self._start_planned(cluster)
        started += self.speculate(cluster, lambda: gaps_from_now(plan.timeline, cluster.now, plan.window))
        self.forget_started(started)

    def _plan_batch(self, cluster: Ledger, jobs: list[Job]) -> None:
        """Plan the long jobs that came first, or the small ones where none is left; then fill the plan."""
        long = [job for job in jobs if job.id in self.runs]
        for job in long:
            run = self.runs[job.id]
            if self._strategy.uses_rate and run.attempts == 1:
                self.choose_requests(cluster, run)
        first = sorted(long or jobs, key=lambda job: job.rank)[: self.options.batch]
        members = {job.id for job in first}
        self._plan.window = cluster.now
        self._unplaced = Unplaced()
        for job in jobs:
            planned = job.id in members and self._plan.reserve(self._root(job), job, self.estimate(job), cluster.now)
            if not planned:
                self._unplaced.add(job, self.estimate(job))
        self._fill(cluster, self._that_may_fit(cluster))

    def _that_may_fit(self, cluster: Ledger) -> list[Job]:
        """Return the jobs without a place that the length of gaps does not rule out, in order."""
        jobs = self._unplaced.within(self._plan.longest_gap)
        self._sort(jobs, cluster.now)
        return jobs

    def _fill(self, cluster: Ledger, jobs: list[Job]) -> None:
        """Reserve places inside the plan's window for jobs that have none."""
        plan = self._plan
        if plan.window <= cluster.now:
            return
        #: By what a job needs: a length in seconds that no gap exceeds.
        longest: dict[Need, float] = {}
        for job in jobs:
            root = self._root(job)
            if root in plan.planned:
                continue
            duration = self.estimate(job)
            need = (job.request, job.units)
            if need not in longest:
                longest[need] = plan.longest_gap(job)
            if duration > longest[need]:
                continue
            if plan.reserve(root, job, duration, cluster.now, plan.window):
                self._unplaced.discard(job)
            else:
                longest[need] = math.nextafter(duration, 0.0)

    def _repack(self, cluster: Ledger) -> None:
        """Move planned starts up, in their order."""
        plan, waiting = self._plan, self._by_root
        order = [(place[0], waiting[key].rank, key) for key, place in plan.planned.items() if key in waiting]
        for _, _, key in sorted(order):
            job = waiting[key]
            if plan.may_move_up(key, job, cluster.now):
                plan.withdraw(key, job)
                if not plan.reserve(key, job, self.estimate(job), cluster.now):
                    self._unplaced.add(job, self.estimate(job))
        plan.close_window(cluster.now)

    def _start_planned(self, cluster: Ledger) -> list[Job]:
        """Start what is due and has its hosts, and ask to be called at the next planned start."""
        plan = self._plan
        started: list[Job] = []
        stuck: list[str] = []
        for key in plan.due(cluster.now):
            job = self._by_root.get(key)
            allocation = None if job is None else self._hosts_of(cluster, key, job)
            if job is None or allocation is None:
                stuck.append(key)
                continue
            plan.begin(key, job)
            del self._by_root[key]
            cluster.start(job, allocation)
            started.append(job)
        coming = plan.next_start()
        if coming < math.inf and (coming < self._next_call or self._next_call <= cluster.now):
            cluster.wake_at(coming)
            self._next_call = coming
        # What is stuck waits for another event.
        plan.remain_due(stuck)
        return started

    def _hosts_of(self, cluster: Ledger, key: str, job: Job) -> Allocation | None:
        """Return the hosts on which a planned job starts, None if they are still held."""
        if self._plan.pooled:
            return self.choose(cluster.free, job)
        allocation = self._plan.planned[key][2]
        return allocation if cluster.space.lacking(cluster.free, job, allocation) is None else None

    # ------------------------------------------------------------------ speculation

    def may_try(self, job: Job, end: float) -> bool:
        place = self._plan.planned.get(self._root(job))
        return place is None or place[0] >= end

    def hold(self, cluster: Ledger, job: Job, end: float, allocation: Allocation) -> None:
        self._plan.hold(job, cluster.now, end, allocation)
        self._unplaced.discard(job)
        del self._by_root[self._root(job)]
