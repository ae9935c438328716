"""The batch scheduler of the speculative scheduling paper."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable
from typing import Annotated, ClassVar, Literal

import msgspec

from batdispatch.abilities.stochastic.attempts import Attempts, Rate
from batdispatch.abilities.stochastic.repack import FreedRoom, Hole
from batdispatch.abilities.stochastic.unplaced_jobs import UnplacedJobs
from batdispatch.core.capacity.space import HostCount, HostSpace
from batdispatch.core.hosts.allocation import Place
from batdispatch.core.jobs.job import Job, JobState, Stay
from batdispatch.core.jobs.request import Request
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.events import Event, MachinesAvailable, MachinesUnavailable
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options
from batdispatch.core.line.roles import Gap
from batdispatch.core.plans.lateness import overdue
from batdispatch.core.plans.moments import end_of
from batdispatch.core.plans.timeline import gaps_from_now
from batdispatch.dispatchers.backfilling.queue import PlanningQueue, PlanOptions

#: Most holes that are looked at one by one. If there are more, all gaps are measured anew.
_FEW = 8


class BatchOptions(PlanOptions, frozen=True, kw_only=True):
    """Options of the batch scheduler.

    requests, rate, speculate: As for `attempts`.
    ordering: Plan a batch and fill gaps in this order (`batdispatch list orderings`). The paper's is `largest-area`.
    plan: `rigid`: planned starts do not move, and what an early end frees is only filled. `repack`: planned starts move
        up at every end.
    gain: With `plan=repack`, move a start up only if it comes earlier by at least this share of the time that is
        reserved for the job. 0: it moves up however little it gains.
    batch: Plan at most this many jobs together.
    """

    ordering: str = "largest-area"
    requests: str = "toptimal"
    rate: Rate = None
    speculate: bool = False
    plan: Literal["rigid", "repack"] = "rigid"
    gain: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.01
    batch: Annotated[int, msgspec.Meta(ge=1)] = 100


class StochasticBatch(Attempts):
    """Plans stochastic jobs in batches, fills what early ends free, and may speculate on gaps that no job fits.

    Jobs that state a law wait in the long queue. The first ones to arrive make a batch. The batch is taken in the order
    of `ordering`, and each job is given the earliest gap of the plan that is as long as its walltime. When a job ends
    early, the time that it leaves is reserved for waiting jobs and small ones, if they fit inside the plan's window.
    When an attempt fails, its job comes again with its next limit. The next batch is planned when no reservation is
    left.

    With `plan=repack`, planned starts move up. Whenever capacity is freed, the planned jobs are taken in the order of
    their starts. A job moves to its earliest start if that is earlier by at least the share `gain` of the time reserved
    for the job. So a small job that ends a second before its walltime does not move the whole plan.

    With `speculate`, a gap of the plan that begins now is given to the job that is expected to use it best, as under
    `attempts`. Only jobs that have no reservation before the gap's end are candidates. The job is stopped at the gap's
    end. If it has not succeeded by then, it keeps its reservation.

    Typical use: to ask whether it pays to request more time than a job is likely to need.
    Limits: small jobs, whose run time is known, only fill gaps. They are planned alone when no stochastic job waits.
        Batsim must be started as for `attempts`.
    Guarantee: `start(j) = planned(j)` with `plan=rigid`, for each planned job j that has not succeeded in a speculation
        before, if no host goes away and small jobs keep to the times that they are expected to take. If an end is told
        a moment late, the plan moves by as much. Each stochastic job succeeds in the end.
    Time: `O(s)` steps of the plan around what an end freed, for each different size that waits, and a search of the
        plan for each job that may fit a gap or moves up. On particular hosts, re-packing searches for every planned
        job.
    Deviations:
        - The paper does not say which hundred jobs make a batch. Here it is those that came first.
        - The paper does not say whether a job with a reservation may speculate before it. Here it may.
        - Small jobs fill gaps, and are planned alone when no long job waits.
    References:
        [1] Gainaru, Pallez, Sun, Raghavan: "Speculative scheduling for stochastic HPC applications", ICPP 2019.
            doi:10.1145/3337821.3337890
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

    gives_way = False

    def __init__(self, attempts: Attempts, options: Options, seed: int = 0) -> None:
        super().__init__(options, seed)
        self._attempts = attempts

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        #: Whether only the number of hosts is planned. On whole hosts such a plan is always carried out, as long as
        #: jobs do not care which hosts they get and all hosts are there.
        self._pooled = self.placement.complete and isinstance(ledger.space, HostSpace)
        space = HostCount(ledger.machine) if self._pooled else ledger.space
        self.plan = self.reservations(ledger, space)
        self.window = ledger.now
        #: (start, order of planning, key) of the planned reservations, and some that are no more.
        self._starts: list[tuple[float, int, str]] = []
        self._entered = 0
        #: Jobs that wait, by the keys of the plan.
        self._by_key: dict[str, Job] = {}
        self._unplaced = UnplacedJobs()
        #: What became free since the last decision, and the keys of jobs that got their reservations back.
        self._holes: list[Hole] = []
        self._again: list[str] = []
        #: For each request, a job and a length in seconds that no gap inside the window exceeds.
        self._longest: dict[Request, tuple[Job, float]] = {}
        #: Whether a reservation that ended with the window is gone.
        self._loose = False
        #: Whether the plan no longer holds.
        self._void = False

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
        self._again.append(key)

    def on_end(self, ledger: Ledger, stay: Stay) -> None:
        kept = self.plan.end(stay.job.id)
        self._open(ledger.now, kept.end)
        # A job that ends on hosts that are away gives nothing back there.
        self._void |= not self._pooled and bool(kept.place.allocation.mask & ledger.unavailable)
        if stay.state in (JobState.COMPLETED_SUCCESSFULLY, JobState.COMPLETED_FAILED):
            # A speculation that succeeded needs its reservation no more.
            key = self._attempts.first(stay.job)
            planned = self.plan.withdraw(key)
            if planned is not None:
                self._open(max(planned.start, ledger.now), planned.end)
        super().on_end(ledger, stay)

    def _open(self, start: float, end: float) -> None:
        """Note that the plan has got something back from `start` to `end`, in seconds."""
        if end > start:
            self._holes.append((start, end))
            self._loose |= self.window <= end < math.inf

    def on_event(self, ledger: Ledger, event: Event) -> None:
        super().on_event(ledger, event)
        if isinstance(event, MachinesAvailable | MachinesUnavailable):
            self._plan_hosts(ledger)
            self._void = True

    def _plan_hosts(self, ledger: Ledger) -> None:
        """Plan particular hosts from now on, as it matters which of them are free."""
        if not self._pooled:
            return
        held = self.plan.held
        self._pooled = False
        self.plan = self.reservations(ledger)
        for job_id, kept in held.items():
            self.plan.held[job_id] = kept._replace(place=Place(ledger.running[job_id].allocation))
        self.plan.renew()
        self._void = True

    # ------------------------------------------------------------------ decisions

    def decide(self, ledger: Ledger) -> None:
        plan = self.plan
        plan.timeline.advance(ledger.now)
        freed = bool(self._holes)
        if overdue(self._next_start(), ledger.now) or overdue(self._next_end(), ledger.now):
            self._void = True
        if self._void:
            self._renew(ledger)
            if plan.held:
                self._plan_batch(ledger, self.in_order(ledger))
        else:
            self._settle(ledger)
            if freed and self.options.plan == "repack":
                self._repack(ledger)
            self._lengthen()
        if not (plan.planned or plan.held):
            if self.waiting:
                self._plan_batch(ledger, self.in_order(ledger))
        elif not (freed or self._void):
            self._fill(ledger, self.fresh_in_order(ledger))
        else:
            self._fill(ledger, self._that_may_fit(ledger))
        self._holes.clear()
        self._void = False
        self.forget_started(self._start_planned(ledger))

    def _settle(self, ledger: Ledger) -> None:
        """Let starts move later where what came late makes them."""
        moved = self.plan.settle()
        for key in moved:
            self._note_start(key)
        if moved:
            # The plan was made anew, and may have room anywhere.
            self._holes.append((ledger.now, math.inf))

    def _plan_batch(self, ledger: Ledger, jobs: list[Job]) -> None:
        """Plan the long jobs that came first, or the small ones where none is left; then fill the plan."""
        jobs = self._refreshed(ledger, jobs)
        long = [job for job in jobs if self._attempts.is_stochastic(job)]
        first = sorted(long or jobs, key=ledger.rank)[: self.options.batch]
        members = {job.id for job in first}
        self.window = ledger.now
        self._longest.clear()
        self._unplaced = UnplacedJobs()
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
        for job in jobs:
            if self._attempts.first(job) in self.plan.planned:
                continue
            duration = self.booked(job)
            if duration > self._longest_gap(job):
                continue
            if self._reserve(job, self.window):
                self._unplaced.discard(job)
            else:
                shorter = math.nextafter(duration, 0.0)
                self._longest[job.request] = job, min(shorter, self._measured_gap(job))

    def _repack(self, ledger: Ledger) -> None:
        """Move planned starts up, in their order, where that gains enough.

        On particular hosts, all planned jobs are looked at: ends may have freed better hosts, and what keeps a job from
        starting earlier on other hosts may lie behind its own start.
        """
        plan, waiting = self.plan, self._by_key
        room = FreedRoom(plan, self._holes, self.lateness.slack) if self._pooled else None
        order = [(kept.start, ledger.rank(waiting[key]), key) for key, kept in plan.planned.items() if key in waiting]
        for start, _, key in sorted(order):
            job, before = waiting[key], plan.planned[key]
            duration = self.booked(job)
            least = self.options.gain * duration
            may_gain = room is None or key in self._again or room.may_help(job, start, duration, least)
            if start <= ledger.now or not may_gain:
                continue
            plan.withdraw(key)
            found = plan.earliest(job, duration)
            gains = found is not None and found.start < start and start - found.start >= least
            if found is None or not (gains or (room is None and found.start == start)):
                plan.put(key, before)
            elif plan.put(key, found) != before:
                self._note_start(key)
                self._open(start, before.end)
                if room is not None:
                    room.add(max(start, found.end), before.end)
        self._again.clear()
        if self._loose:
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
        if coming < math.inf:
            self._alarm.call(ledger, coming)
        for key in stuck:
            # It waits for another event.
            self._note_start(key)
        if len(self.waiting) > len(started):
            self.call_if_missed(self._next_end())
        return started

    def _place_of(self, ledger: Ledger, key: str, job: Job) -> Place | None:
        """Return where a planned job starts, None if its hosts are still held."""
        if self._pooled:
            return self.choose(ledger.free, job)
        place = self.plan.planned[key].place
        return place if self.is_free(job, place) else None

    # ------------------------------------------------------------------ the plan

    def _reserve(self, job: Job, before: float = math.inf) -> bool:
        """Reserve a job's earliest start that lets it end by `before`, in seconds; return whether there is one."""
        key = self._attempts.first(job)
        # In a place that is a moment too short, a job would push a start that a rigid plan has promised.
        kept = self.plan.reserve(key, job, self.booked(job), before, whole=self.options.plan == "rigid")
        if kept is None:
            return False
        self._note_start(key)
        if self.window < kept.end < math.inf:
            self.window = kept.end
            self._longest.clear()
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

    def _next_end(self) -> float:
        """Return the earliest expected end of a running job, in seconds; infinite if jobs end when expected."""
        if self.predictions.sure:
            return math.inf
        return min((kept.expected_end for kept in self.plan.held.values()), default=math.inf)

    def _due(self, now: float) -> list[str]:
        """Take out and return the keys of the jobs that are planned to have started by `now`, in that order."""
        # A key may be there twice, if it was planned for the same time again.
        keys: dict[str, None] = {}
        while self._next_start() <= now:
            keys[heapq.heappop(self._starts)[2]] = None
        return list(keys)

    def _longest_gap(self, job: Job) -> float:
        """Return a time, in seconds, that no gap of the plan's window exceeds which has room for a job."""
        known = self._longest.get(job.request)
        if known is None:
            known = self._longest[job.request] = job, self._measured_gap(job)
        return known[1]

    def _lengthen(self) -> None:
        """Let what is known of gaps include what has become free."""
        if len(self._holes) > _FEW:
            self._longest.clear()
        timeline, rounding = self.plan.timeline, max(self.lateness.slack, 1e-6)
        for request, (job, known) in self._longest.items():
            for start, end in self._holes:
                longest, last = timeline.around(job, start, end)
                if last > self.window:
                    known = self._measured_gap(job)
                    break
                known = max(known, longest + rounding)
            self._longest[request] = job, known

    def _measured_gap(self, job: Job) -> float:
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
        """Drop all reservations but those of running jobs; late ones a later end."""
        for job_id, kept in list(self.plan.held.items()):
            end = self.predictions.end(ledger.running[job_id], ledger.now, self.lateness)
            self.plan.extend(job_id, max(kept.end, end))
        self.plan.renew()
        self._again.clear()
        self._longest.clear()
        self._close_window(ledger)

    def _close_window(self, ledger: Ledger) -> None:
        """Let the window end where the last reservation does."""
        plan = self.plan
        ends = [kept.end for kept in (*plan.planned.values(), *plan.held.values()) if kept.end < math.inf]
        self.window = max(ends, default=ledger.now)
        self._loose = False

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
