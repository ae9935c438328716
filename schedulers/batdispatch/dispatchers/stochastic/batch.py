"""The batch scheduler of the speculative scheduling paper."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable
from typing import Annotated, ClassVar, Literal

import msgspec

from batdispatch.core.allocation import Place
from batdispatch.core.dispatcher import Dispatcher, Gap
from batdispatch.core.events import Event, MachinesAvailable, MachinesUnavailable
from batdispatch.core.job import Job, JobState, Stay
from batdispatch.core.lateness import overdue
from batdispatch.core.ledger import Ledger
from batdispatch.core.options import Options
from batdispatch.core.request import Request
from batdispatch.core.reservations import Reservations
from batdispatch.core.space import HostSpace, PoolSpace
from batdispatch.core.timeline import end_of, gaps_from_now
from batdispatch.dispatchers.backfilling.queue import PlanningQueue, PlanOptions
from batdispatch.dispatchers.stochastic.unplaced import Unplaced
from batdispatch.layers.attempts import Attempts, Rate
from batdispatch.parts.prediction.predictions import LEAST


class BatchOptions(PlanOptions, frozen=True, kw_only=True):
    """Options of the batch scheduler.

    requests, rate, speculate: see `batdispatch explain attempts`.
    ordering: order in which a batch is planned and gaps are filled; the paper's is largest-area.
    plan: `rigid`: planned starts do not move, and what an early end frees is only filled. `repack`: planned starts move
        up at every end.
    batch: most jobs planned together.
    """

    ordering: str = "largest-area"
    requests: str = "toptimal"
    rate: Rate = None
    speculate: bool = False
    plan: Literal["rigid", "repack"] = "rigid"
    batch: Annotated[int, msgspec.Meta(ge=1)] = 100


class StochasticBatch(Attempts):
    """Plans stochastic jobs in batches, fills what early ends free, and may speculate on gaps that no job fits.

    The waiting jobs of the long queue (those that state a law) that came first make a batch; in the ordering, each is
    reserved the earliest gap of the plan that is as long as its walltime. When a job ends early, waiting jobs and small
    ones are reserved what it leaves, inside the plan's window, if they fit. A job that fails comes again with its next
    limit. The next batch is planned when no reservation is left.

    Speculation: a gap from now on is given to the job of largest `gain`, among those whose reservation, if any, begins
    after the gap. The job is stopped at the gap's end and keeps its reservation.

    Guarantee: with a rigid plan no planned job starts earlier or later than planned, if no host goes away and small
    jobs keep the times they are expected to take. Ends that are told a moment late move the plan by as much.
    Time: an end costs a search of the plan for each different size that waits, and for each job that may fit a gap.
    Deviations: the paper does not say which hundred jobs make a batch nor whether jobs with a reservation may
    speculate; small jobs fill gaps, and are planned alone when no long job waits.
    References: Gainaru, Pallez, Sun, Raghavan: "Speculative scheduling for stochastic HPC applications", ICPP 2019.
    """

    options_type: ClassVar[type[Options]] = BatchOptions

    def make_inner(self, seed: int) -> Dispatcher:
        return BatchPlanner(self, self.options, seed)


class BatchPlanner(PlanningQueue):
    """What `stochastic-batch` does under the layer: it plans attempts, and asks the layer which jobs they belong to.

    Attributes:
        plan: reservations; the key of a job that waits is the id under which it was submitted, whatever its attempt.
        window: end of the last reservation when the plan was made, in seconds.
    """

    def __init__(self, attempts: Attempts, options: Options, seed: int = 0) -> None:
        super().__init__(options, seed)
        self._attempts = attempts

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        #: Whether only the number of hosts is planned. On whole hosts such a plan is always carried out, as long as
        #: jobs do not care which hosts they get and all hosts are there.
        self._pooled = self.placement.complete and isinstance(ledger.space, HostSpace)
        space = PoolSpace(ledger.machine) if self._pooled else ledger.space
        self.plan = Reservations(ledger, self.placement.place, space, slack=self.lateness.slack)
        self.window = ledger.now
        #: (start, order of planning, key) of the planned reservations, and some that are no more.
        self._starts: list[tuple[float, int, str]] = []
        self._entered = 0
        #: Jobs that wait, by the keys of the plan.
        self._by_key: dict[str, Job] = {}
        self._unplaced = Unplaced()
        #: Whether capacity was freed since the last decision, and whether the plan no longer holds.
        self._freed = self._void = False
        self._next_call = -1.0

    def expected(self, job: Job) -> float:
        # An attempt is stopped at its walltime: the plan reserves all of it.
        return job.walltime if self._attempts.is_stochastic(job) else super().expected(job)

    # ------------------------------------------------------------------ events

    def on_submit(self, ledger: Ledger, job: Job) -> None:
        super().on_submit(ledger, job)
        if job.id not in ledger.queue:
            return
        if not ledger.plain:
            self._plan_hosts(ledger)
        key = self._attempts.first(job)
        self._by_key[key] = job
        if key not in self.plan.planned:
            self._unplaced.add(job, self.booked(job), ledger.rank(job))
            return
        # A speculation failed: the reservation is the new attempt's.
        self.plan.lend(key)
        self.plan.put_back(key, key, job)

    def on_end(self, ledger: Ledger, stay: Stay) -> None:
        kept = self.plan.end(stay.job.id)
        self._freed |= kept.end > ledger.now
        # A job that ends on hosts that are away gives nothing back there.
        self._void |= not self._pooled and bool(kept.place.allocation.mask & ledger.unavailable)
        if stay.state in (JobState.COMPLETED_SUCCESSFULLY, JobState.COMPLETED_FAILED):
            # A speculation that succeeded needs its reservation no more.
            self._freed |= self.plan.withdraw(self._attempts.first(stay.job)) is not None
        super().on_end(ledger, stay)

    def on_event(self, ledger: Ledger, event: Event) -> None:
        if isinstance(event, MachinesAvailable | MachinesUnavailable):
            self._plan_hosts(ledger)
            self._void = True

    def _plan_hosts(self, ledger: Ledger) -> None:
        """Plan particular hosts from now on, as it matters which of them are free."""
        if not self._pooled:
            return
        held = self.plan.held
        self._pooled = False
        self.plan = Reservations(ledger, self.placement.place, slack=self.lateness.slack)
        for job_id, kept in held.items():
            self.plan.held[job_id] = kept._replace(place=Place(ledger.running[job_id].allocation))
        self.plan.renew()
        self._void = True

    # ------------------------------------------------------------------ decisions

    def decide(self, ledger: Ledger) -> None:
        plan = self.plan
        plan.timeline.advance(ledger.now)
        jobs = self.in_order(ledger)
        if overdue(self._next_start(), ledger.now):
            self._void = True
        if self._void:
            self._renew(ledger)
            if plan.held:
                self._plan_batch(ledger, jobs)
        else:
            for key in plan.settle():
                self._note_start(key)
            if self._freed and self.options.plan == "repack":
                self._repack(ledger)
        if not (plan.planned or plan.held):
            if jobs:
                self._plan_batch(ledger, jobs)
        elif not (self._freed or self._void):
            self._fill(ledger, self.fresh_in_order(ledger))
        else:
            self._fill(ledger, self._that_may_fit(ledger))
        self._freed = self._void = False
        self.forget_started(self._start_planned(ledger))

    def _plan_batch(self, ledger: Ledger, jobs: list[Job]) -> None:
        """Plan the long jobs that came first, or the small ones where none is left; then fill the plan."""
        jobs = self._refreshed(ledger, jobs)
        long = [job for job in jobs if self._attempts.is_stochastic(job)]
        first = sorted(long or jobs, key=ledger.rank)[: self.options.batch]
        members = {job.id for job in first}
        self.window = ledger.now
        self._unplaced = Unplaced()
        for job in jobs:
            if not (job.id in members and self._reserve(job)):
                self._unplaced.add(job, self.booked(job), ledger.rank(job))
        self._fill(ledger, self._that_may_fit(ledger))

    def _refreshed(self, ledger: Ledger, jobs: list[Job]) -> list[Job]:
        """Return jobs with the limits that are best as things stand; their order stays."""
        changed: dict[str, Job] = {}
        for job in jobs:
            if self._attempts.is_stochastic(job):
                again = self._attempts.refresh(ledger, job)
                if again is not job:
                    changed[job.id] = self._by_key[self._attempts.first(job)] = again
        if not changed:
            return jobs
        self.waiting = [changed.get(job.id, job) for job in self.waiting]
        self.fresh = [changed.get(job.id, job) for job in self.fresh]
        return [changed.get(job.id, job) for job in jobs]

    def _that_may_fit(self, ledger: Ledger) -> list[Job]:
        """Return the jobs without a place that the length of gaps does not rule out, in order."""
        jobs = self._unplaced.within(self._longest_gap)
        self._sort(jobs, ledger.now)
        return jobs

    def _fill(self, ledger: Ledger, jobs: list[Job]) -> None:
        """Reserve places inside the plan's window for jobs that have none."""
        if self.window <= ledger.now:
            return
        #: A length in seconds that no gap exceeds, for each request.
        longest: dict[Request, float] = {}
        for job in jobs:
            if self._attempts.first(job) in self.plan.planned:
                continue
            duration = self.booked(job)
            if job.request not in longest:
                longest[job.request] = self._longest_gap(job)
            if duration > longest[job.request]:
                continue
            if self._reserve(job, self.window):
                self._unplaced.discard(job)
            else:
                longest[job.request] = math.nextafter(duration, 0.0)

    def _repack(self, ledger: Ledger) -> None:
        """Move planned starts up, in their order."""
        plan, waiting = self.plan, self._by_key
        order = [(kept.start, ledger.rank(waiting[key]), key) for key, kept in plan.planned.items() if key in waiting]
        for _, _, key in sorted(order):
            job = waiting[key]
            # Particular hosts are chosen anew even where the start stays: ends may have freed better ones.
            if plan.may_move_up(key) if self._pooled else plan.planned[key].start > ledger.now:
                plan.withdraw(key)
                if not self._reserve(job):
                    self._unplaced.add(job, self.booked(job), ledger.rank(job))
        self._close_window(ledger)

    def _start_planned(self, ledger: Ledger) -> list[Job]:
        """Start what is due and has its hosts, and ask to be called at the next planned start."""
        started: list[Job] = []
        stuck: list[str] = []
        for key in self._due(ledger.now):
            job = self._by_key.get(key)
            place = None if job is None else self._place_of(ledger, key, job)
            if job is None or place is None:
                stuck.append(key)
                continue
            self.plan.begin(key)
            del self._by_key[key]
            ledger.start(job, place)
            started.append(job)
        coming = self._next_start()
        if coming < math.inf and (coming < self._next_call or self._next_call <= ledger.now):
            ledger.wake_at(coming)
            self._next_call = coming
        for key in stuck:
            # It waits for another event.
            self._note_start(key)
        return started

    def _place_of(self, ledger: Ledger, key: str, job: Job) -> Place | None:
        """Return where a planned job starts, None if its hosts are still held."""
        if self._pooled:
            return self.choose(ledger.free, job)
        place = self.plan.planned[key].place
        return place if ledger.space.lacking(ledger.free, job, place.allocation) is None else None

    # ------------------------------------------------------------------ the plan

    def _reserve(self, job: Job, before: float = math.inf) -> bool:
        """Reserve a job's earliest start that lets it end by `before`, in seconds; return whether there is one."""
        key = self._attempts.first(job)
        kept = self.plan.reserve(key, job, self.booked(job), before)
        if kept is None:
            return False
        self._note_start(key)
        if kept.end < math.inf:
            self.window = max(self.window, kept.end)
        return True

    def _note_start(self, key: str) -> None:
        self._entered += 1
        heapq.heappush(self._starts, (self.plan.planned[key].start, self._entered, key))

    def _next_start(self) -> float:
        """Return the earliest planned start in seconds, infinite without one."""
        while self._starts:
            start, _, key = self._starts[0]
            kept = self.plan.planned.get(key)
            if kept is not None and kept.start == start:
                return start
            heapq.heappop(self._starts)
        return math.inf

    def _due(self, now: float) -> list[str]:
        """Take out and return the keys of the jobs that are planned to have started by `now`, in that order."""
        # A key may be there twice, if it was planned for the same time again.
        keys: dict[str, None] = {}
        while self._next_start() <= now:
            keys[heapq.heappop(self._starts)[2]] = None
        return list(keys)

    def _longest_gap(self, job: Job) -> float:
        """Return the longest time, in seconds, for which each step of the plan's window has room for a job."""
        longest, began = 0.0, -1.0
        timeline, space = self.plan.timeline, self.plan.space
        for time, free in zip(timeline.times, timeline.frees, strict=True):
            if time >= self.window:
                break
            if space.fits(free, job):
                began = time if began < 0 else began
            elif began >= 0:
                longest = max(longest, time - began)
                began = -1.0
        if began >= 0:
            longest = max(longest, self.window - began)
        # Times are rounded to microseconds.
        return longest + max(self.lateness.slack, 1e-6)

    def _renew(self, ledger: Ledger) -> None:
        """Drop all reservations but those of running jobs; late ones get `LEAST` seconds more."""
        for job_id, kept in list(self.plan.held.items()):
            self.plan.extend(job_id, max(kept.end, ledger.now + LEAST))
        self.plan.renew()
        self._close_window(ledger)

    def _close_window(self, ledger: Ledger) -> None:
        """Let the window end where the last reservation does."""
        plan = self.plan
        ends = [kept.end for kept in (*plan.planned.values(), *plan.held.values()) if kept.end < math.inf]
        self.window = max(ends, default=ledger.now)

    # ------------------------------------------------------------------ gaps for the layer

    def gaps(self, ledger: Ledger) -> Iterable[Gap]:
        gaps = gaps_from_now(self.plan.timeline, ledger.now, self.window, less=self.lateness.delay)
        return (Gap(*gap) for gap in gaps)

    def may_lend(self, ledger: Ledger, job: Job, gap: Gap) -> bool:
        kept = self.plan.planned.get(self._attempts.first(job))
        return kept is None or kept.start >= end_of(ledger.now, self.lateness.booked(gap.length))

    def lend(self, ledger: Ledger, job: Job, gap: Gap, place: Place) -> None:
        super().lend(ledger, job, gap, place)
        # A reservation of the job's own stays in the plan until the outcome is known.
        self.plan.hold(job, place, end_of(ledger.now, self.lateness.booked(gap.length)))
        self._unplaced.discard(job)
        del self._by_key[self._attempts.first(job)]
