"""The batch scheduler of the speculative scheduling paper."""

from __future__ import annotations

import heapq
import math
from typing import Annotated, Any, ClassVar, Literal

import msgspec

from batdispatch.core.allocation import Allocation
from batdispatch.core.events import Event, MachinesAvailable, MachinesUnavailable
from batdispatch.core.job import Job
from batdispatch.core.ledger import Ledger
from batdispatch.core.options import Options
from batdispatch.core.space import HostSpace, PoolSpace, Space
from batdispatch.core.timeline import Timeline, end_of
from batdispatch.dispatchers.stochastic.attempts import Attempts, Run, StochasticOptions
from batdispatch.dispatchers.stochastic.speculation import gain

#: Start, end (s) and hosts of a reservation.
Place = tuple[float, float, Allocation]
#: Seconds that a planned start may be late, because messages take time, before the plan is made anew.
LATE = 1.0
#: Shortest gap in which a job is tried, in seconds.
SHORTEST = 1.0


class BatchOptions(StochasticOptions, frozen=True, kw_only=True):
    """Options of the batch scheduler.

    ordering: order in which a batch is planned and gaps are filled; the paper's is largest-area.
    plan: `rigid`: planned starts do not move, what an early end frees is only filled; `repack`: they move up at every
        end.
    batch: most jobs planned together.
    speculate: whether a gap that no request fits is given to the job that is expected to use it best.
    """

    ordering: str = "largest-area"
    plan: Literal["rigid", "repack"] = "rigid"
    batch: Annotated[int, msgspec.Meta(ge=1)] = 100
    speculate: bool = False


class StochasticBatch(Attempts):
    """Plans stochastic jobs in batches, fills what early ends free, and may speculate on gaps that no request fits.

    Gainaru, Pallez, Sun, Raghavan: "Speculative scheduling for stochastic HPC applications", ICPP 2019. The waiting
    jobs of the long queue (those that state a law) that came first make a batch; in the ordering, each is reserved the
    earliest gap of the plan that is as long as its request. When a job ends early, waiting jobs and small ones are
    reserved what it leaves, inside the plan's window, if their request fits. A job that fails comes again with its next
    request. The next batch is planned when no reservation is left.

    Speculation: a gap from now on that no request fits is given to the job of largest `gain`, among those whose
    reservation, if any, begins after the gap. It is stopped at the gap's end and keeps its place and request.

    Guarantee: with a rigid plan no planned job starts later than planned, if no host goes away and small jobs keep
    their walltimes.
    Time: an end costs a search of the plan for each different size and request that waits.
    Deviations: the paper does not say which hundred jobs make a batch nor whether jobs with a reservation may
    speculate; small jobs fill gaps, and are planned alone when no long job waits.
    """

    options_type: ClassVar[type[Options]] = BatchOptions

    def begin(self, cluster: Ledger) -> None:
        super().begin(cluster)
        #: On exclusive hosts a plan of numbers is always carried out: jobs do not care which hosts they get.
        self._pooled = self.placement.complete and isinstance(cluster.space, HostSpace)
        self._space: Space[Any] = PoolSpace(cluster.machine) if self._pooled else cluster.space
        #: Reservations of jobs that wait, by id of the job that was submitted, and of attempts that run.
        self._planned: dict[str, Place] = {}
        self._held: dict[str, Place] = {}
        #: Jobs that wait, by the same ids as `_planned`.
        self._by_root: dict[str, Job] = {}
        #: (start, order of planning, id) of the reservations in `_planned`, and some that are no more.
        self._starts: list[tuple[float, int, str]] = []
        self._order = 0
        self._window = 0.0
        #: Whether capacity was freed since the last decision, and whether the plan no longer holds.
        self._freed = self._void = False
        self._next_call = -1.0
        self._tried = 0
        self._timeline: Timeline[Any] = self._empty(cluster)

    def _empty(self, cluster: Ledger) -> Timeline[Any]:
        whole = cluster.space.only(cluster.space.whole(), ~cluster.unavailable)
        return Timeline(self._space, cluster.now, whole.bit_count() if self._pooled else whole)

    def _pick(self, free: Any, job: Job) -> Allocation | None:
        if self._pooled:
            return Allocation((1 << job.units) - 1) if job.units <= free else None
        return self.choose(free, job)

    def _root(self, job: Job) -> str:
        run = self.runs.get(job.id)
        return job.id if run is None else run.job.id

    # ------------------------------------------------------------------ events

    def on_submit(self, cluster: Ledger, job: Job) -> None:
        super().on_submit(cluster, job)
        if job.id in cluster.queue:
            self._by_root[self._root(job)] = job

    def on_end(self, cluster: Ledger, job: Job) -> None:
        _, end, allocation = self._held.pop(job.id)
        if end > cluster.now:
            self._timeline.release(job, allocation, cluster.now, end)
            self._freed = True
        super().on_end(cluster, job)

    def on_done(self, cluster: Ledger, run: Run) -> None:
        # A speculation that succeeded needs its reservation no more.
        place = self._planned.pop(run.job.id, None)
        if place is not None:
            self._timeline.release(run.job, place[2], place[0], place[1])
            self._freed = True

    def on_event(self, cluster: Ledger, event: Event) -> None:
        super().on_event(cluster, event)
        if isinstance(event, MachinesAvailable | MachinesUnavailable):
            self._void = True

    # ------------------------------------------------------------------ decisions

    def decide(self, cluster: Ledger) -> None:
        self.end_overdue(cluster)
        self._timeline.advance(cluster.now)
        jobs = self.in_order(cluster)
        if self._next_start() < cluster.now - LATE:
            self._void = True
        if self._void:
            self._plan_anew(cluster)
        elif self._freed and self.options.plan == "repack":
            self._repack(cluster)
        if self._planned or self._held:
            self._fill(cluster, jobs if self._freed or self._void else self.fresh_in_order(cluster))
        elif jobs:
            self._plan_batch(cluster, jobs)
        self._freed = self._void = False
        started = self._start_planned(cluster)
        if self.options.speculate:
            started += self._speculate(cluster, [job for job in jobs if job.id not in cluster.running])
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
        self._window = cluster.now
        for job in jobs:
            if job.id in members:
                self._reserve(cluster, job, math.inf)
        self._fill(cluster, jobs)

    def _reserve(self, cluster: Ledger, job: Job, before: float) -> bool:
        """Reserve a job's earliest place that ends by `before`, and return whether there is one."""
        duration = self.estimate(job)
        found = self._timeline.earliest(job, duration, self._pick, after=cluster.now)
        if found is None:
            return False
        start, allocation = found
        end = end_of(start, duration)
        if end > before and before < math.inf:
            return False
        self._timeline.reserve(job, allocation, start, end)
        root = self._root(job)
        self._planned[root] = (start, end, allocation)
        self._order += 1
        heapq.heappush(self._starts, (start, self._order, root))
        if end < math.inf:
            self._window = max(self._window, end)
        return True

    def _fill(self, cluster: Ledger, jobs: list[Job]) -> None:
        """Reserve places inside the plan's window for jobs that have none."""
        if self._window <= cluster.now:
            return
        #: By what a job needs: a length in seconds that no gap exceeds.
        longest: dict[tuple[tuple[int, ...] | None, int], float] = {}
        for job in jobs:
            if self._root(job) in self._planned:
                continue
            duration = self.estimate(job)
            need = (job.request, job.units)
            if need not in longest:
                longest[need] = self._longest_gap(job)
            if duration <= longest[need] and not self._reserve(cluster, job, self._window):
                longest[need] = math.nextafter(duration, 0.0)

    def _longest_gap(self, job: Job) -> float:
        """Return the longest time, in seconds, for which each step of the plan's window has room for a job."""
        longest, began = 0.0, -1.0
        for time, free in zip(self._timeline.times, self._timeline.frees, strict=True):
            if time >= self._window:
                break
            if self._space.fits(free, job):
                began = time if began < 0 else began
            elif began >= 0:
                longest = max(longest, time - began)
                began = -1.0
        if began >= 0:
            longest = max(longest, self._window - began)
        # Times are rounded to microseconds.
        return longest + 1e-6

    def _repack(self, cluster: Ledger) -> None:
        """Move planned starts up, in their order."""
        waiting = self._by_root
        places = sorted(
            self._planned.items(), key=lambda item: (item[1][0], waiting[item[0]].rank if item[0] in waiting else -1)
        )
        for root, (start, end, allocation) in places:
            job = waiting.get(root)
            if job is None or start <= cluster.now:
                continue
            if self._pooled and not self._timeline.may_move_up(job, (start, end, allocation), cluster.now):
                continue
            self._timeline.release(job, allocation, start, end)
            del self._planned[root]
            self._reserve(cluster, job, math.inf)
        ends = [end for _, end, _ in (*self._planned.values(), *self._held.values()) if end < math.inf]
        self._window = max(ends, default=cluster.now)

    def _plan_anew(self, cluster: Ledger) -> None:
        """Drop all reservations but those of running jobs, of which late ones get a little longer."""
        self._timeline = self._empty(cluster)
        self._planned.clear()
        self._window = cluster.now
        held = self._held
        self._held = {}
        for job_id, (start, end, allocation) in held.items():
            later = max(end, cluster.now + LATE)
            self._held[job_id] = (start, later, allocation)
            self._timeline.reserve(cluster.running[job_id], allocation, cluster.now, later)
            if later < math.inf:
                self._window = max(self._window, later)
        if not held:
            return
        jobs = self.in_order(cluster)
        self._plan_batch(cluster, jobs)

    def _start_planned(self, cluster: Ledger) -> list[Job]:
        """Start what is due and has its hosts."""
        started: list[Job] = []
        stuck: list[tuple[float, int, str]] = []
        while self._next_start() <= cluster.now:
            entry = heapq.heappop(self._starts)
            root = entry[2]
            job = self._by_root.get(root)
            allocation = None if job is None else self.choose(cluster.free, job)
            if job is None or allocation is None:
                stuck.append(entry)
                continue
            self._held[job.id] = self._planned.pop(root)
            del self._by_root[root]
            cluster.start(job, allocation)
            started.append(job)
        self._call_for_next(cluster, self._next_start())
        for entry in stuck:
            heapq.heappush(self._starts, entry)
        return started

    def _next_start(self) -> float:
        """Return the earliest planned start, infinite without one."""
        while self._starts:
            start, _, root = self._starts[0]
            place = self._planned.get(root)
            if place is not None and place[0] == start:
                return start
            heapq.heappop(self._starts)
        return math.inf

    def _call_for_next(self, cluster: Ledger, coming: float) -> None:
        """Ask to be called at the next planned start, where no other event need happen."""
        if coming < math.inf and (coming < self._next_call or self._next_call <= cluster.now):
            cluster.wake_at(coming)
            self._next_call = coming

    # ------------------------------------------------------------------ speculation

    def _speculate(self, cluster: Ledger, jobs: list[Job]) -> list[Job]:
        """Give gaps from now on to the jobs that are expected to use them best."""
        started: list[Job] = []
        while True:
            chosen = self._best_for_a_gap(cluster, [job for job in jobs if job not in started])
            if chosen is None:
                return started
            job, length, allocation = chosen
            end = end_of(cluster.now, length)
            planned = allocation if not self._pooled else Allocation((1 << job.units) - 1)
            self._timeline.reserve(job, planned, cluster.now, end)
            self._held[job.id] = (cluster.now, end, planned)
            self.runs[job.id].limit = length
            self._tried += 1
            del self._by_root[self._root(job)]
            cluster.start(job, allocation)
            started.append(job)

    def _best_for_a_gap(self, cluster: Ledger, jobs: list[Job]) -> tuple[Job, float, Allocation] | None:
        """Return job, seconds and hosts of the best speculation in the widest gap that has one."""
        timeline, now = self._timeline, cluster.now
        window = timeline.frees[0]
        for index in range(1, len(timeline.times)):
            length = min(timeline.times[index], self._window) - now
            narrower = self._space.meet(window, timeline.frees[index])
            if self._space.same(narrower, window) and timeline.times[index] < self._window:
                continue
            if length >= SHORTEST:
                found = self._best_in(cluster, jobs, window, length)
                if found is not None:
                    return found
            if timeline.times[index] >= self._window:
                return None
            window = narrower
        return None

    def _best_in(
        self, cluster: Ledger, jobs: list[Job], window: Any, length: float
    ) -> tuple[Job, float, Allocation] | None:
        """Return the best speculation in one gap: free capacity for a number of seconds."""
        width = int(self._space.pooled(window)[0])
        seen: set[tuple[Any, ...]] = set()
        candidates: list[tuple[float, int, Job]] = []
        for order, job in enumerate(jobs):
            run = self.runs.get(job.id)
            if run is None:
                continue
            place = self._planned.get(run.job.id)
            if place is not None and place[0] < end_of(cluster.now, length):
                continue
            kind = (run.law.text, run.floor, job.units, job.request)
            if kind not in seen:
                seen.add(kind)
                value = gain(run.law, job.units, run.floor, max(width, job.units), length)
                if value > 0 and self._space.fits(window, job):
                    candidates.append((-value, order, job))
        for _, _, job in sorted(candidates, key=lambda candidate: candidate[:2]):
            allocation = self.choose(cluster.free if self._pooled else cluster.space.meet(cluster.free, window), job)
            if allocation is not None:
                return job, length, allocation
        return None

    def report(self) -> dict[str, Any]:
        return {**super().report(), "speculations": self._tried}
