"""EASY that keeps room for jobs that have not come yet, as much as pays in simulated futures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from batdispatch.core.capacity.space import present
from batdispatch.core.capacity.totals import ResourceTotals
from batdispatch.core.jobs.job import Job, JobState, Stay
from batdispatch.core.line.hindsight import Hindsight, Reason
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options
from batdispatch.dispatchers.backfilling.easy import Easy, EasyOptions
from batdispatch.parts.ordering.window import in_order
from batdispatch.parts.rollouts import Past, Rollouts
from batdispatch.parts.rollouts.past import Arrival, Floats
from batdispatch.parts.rollouts.rollouts import Moment, Policy, Room, Runner, Waiter, enough

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class LookAheadOptions(EasyOptions, frozen=True, kw_only=True):
    """Options of look-ahead.

    room: When a long job starts, keep up to this share of each resource free for shorter jobs. Each decision chooses
        among nothing, a third of this share, and all of it. 0 switches looking ahead off.
    shorter: Count a job as shorter if its expected run time is at most 1/`shorter` of the long job's.
    samples: Simulate this many futures at each decision that looks ahead.
    arrivals: Let this many further jobs arrive in each simulated future.
    """

    ordering: str = "late-first"
    room: Share = 0.3
    shorter: Annotated[float, msgspec.Meta(ge=1)] = 3.0
    samples: Annotated[int, msgspec.Meta(ge=1, le=256)] = 8
    arrivals: Annotated[int, msgspec.Meta(ge=1, le=300)] = 40


class LookAhead(Easy):
    """Runs EASY, smallest area first, and keeps as much room for short jobs to come as pays in simulated futures.

    Most of the slowdown falls on short jobs that come while long ones hold the machine. So a long job may start only if
    it leaves some room free: up to `room` of each resource, in proportion to how many of the last 300 jobs were far
    shorter. How much room pays depends on the jobs to come. So each decision at which room matters draws futures from
    what was seen so far: it draws run times from the jobs that ended, and arrivals from the jobs that came. It
    simulates EASY in them with no room, a third of `room`, and all of it, and decides with the share that costs the
    jobs the least slowdown. A job that is too wide to leave the room need not leave any, and neither need a late job.

    Typical use: to study room that is kept free for short jobs to come. On whole logs `easy[ordering=guarded]` does
        better.
    Limits: the longest wait is far longer than under `easy` in order of arrival, and the mean wait grows. The futures
        treat all nodes as one. No room is kept before 20 jobs have come and one has ended.
    Guarantee: `start(j) <= shadow(j)` for the first late job j, as under `easy`, with the default ordering `late-first`
        and if no job outlives its expected end. So no job starves if walltimes are known. Jobs that are not late may be
        held back for as long as room pays. There is no guarantee on the slowdown.
    Time: `O(3 k e (q + r log r))` for a decision at which room matters, with k `samples`, e events of a future, q
        waiting jobs and `arrivals` more, and r running jobs. Any other decision is `O(q log q + r)`.
    Deviations: none, since this dispatcher is ours.
    References:
        [1] Lifka: "The ANL/IBM SP scheduling system", JSSPP 1995. doi:10.1007/3-540-60153-8_35 (EASY)
        [2] Lelong, Reis, Trystram: "Tuning EASY-backfilling queues", JSSPP 2017 (orders and the threshold).
        [3] Bertsekas, Tsitsiklis, Wu: "Rollout algorithms for combinatorial optimization", Journal of Heuristics 3,
            1997, pp. 245-262. doi:10.1023/A:1009635226865
    """

    options_type: ClassVar[type[Options]] = LookAheadOptions
    effort = 1

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        options = self.options
        self._pool = ResourceTotals(ledger.space)
        self._past = Past(options.samples)
        self._room = Room(self._past, options.shorter)
        self._rollouts = Rollouts(self._past, self._room, options.samples, options.arrivals)
        #: Of the jobs that wait or run.
        self._seen: dict[str, Arrival] = {}
        self._came = 0
        self._shares = (0.0, options.room / 3, options.room) if options.room else (0.0,)
        #: How often each share was chosen by rollouts.
        self._chosen = [0] * len(self._shares)

    # ------------------------------------------------------------------ what happens

    def on_submit(self, ledger: Ledger, job: Job) -> None:
        super().on_submit(ledger, job)
        if job.id not in ledger.queue:
            return
        seen = self._seen[job.id] = self._see(job, ledger.now)
        self._past.arrivals.append(seen)
        self._came += 1

    def on_end(self, ledger: Ledger, stay: Stay) -> None:
        seen = self._seen.pop(stay.job.id, None)
        if seen is not None and stay.state is not JobState.COMPLETED_KILLED:
            runtime = ledger.now - stay.start
            self._past.end(stay.job, runtime, seen.expected)
            # If it comes again in a future, it runs as it did.
            seen.guesses[:] = max(runtime, 1.0)
        super().on_end(ledger, stay)

    def on_withdrawn(self, ledger: Ledger, job: Job) -> None:
        super().on_withdrawn(ledger, job)
        self._seen.pop(job.id, None)

    def idle_until(self, ledger: Ledger) -> float:
        # Each decision draws futures.
        return -math.inf

    # ------------------------------------------------------------------ deciding

    def decide(self, ledger: Ledger) -> None:
        self.correct(self.ends)
        self._shadow, started = math.inf, []
        jobs = list(self.in_order(ledger))
        plausible = {job.id for job in ledger.plausible(jobs)}
        if plausible:
            started = self._go_on(ledger, jobs, plausible)
        self.forget_started(started)
        self.call_if_missed(self._shadow)

    def _go_on(self, ledger: Ledger, jobs: Sequence[Job], plausible: set[str]) -> list[Job]:
        """Choose how to go on, start what starts then, and return it."""
        return self._start(ledger, jobs, plausible, self._choose_share(ledger, jobs, plausible))

    def _start(self, ledger: Ledger, jobs: Sequence[Job], plausible: set[str], share: float) -> list[Job]:
        """Start jobs as EASY does, apart from those that would leave too little room, and return them."""
        limits = {job.id: limit for job, limit in zip(jobs, self._limits(ledger, jobs, share), strict=True)}
        started: list[Job] = []
        used = self._used(ledger)
        for index, job in enumerate(jobs):
            if not self._leaves_room(job, limits[job.id], used):
                continue
            place = self.choose_now(job) if job.id in plausible else None
            if place is None:
                self._reserve(ledger, job)
                return started + self._run_ahead(ledger, job, jobs[index + 1 :], plausible, limits)
            ledger.start(job, place)
            started.append(job)
            used = self._used(ledger)
        return started

    def _run_ahead(
        self, ledger: Ledger, head: Job, behind: Sequence[Job], plausible: set[str], limits: Mapping[str, Floats]
    ) -> list[Job]:
        """Start the jobs behind the head that leave room and do not delay it, and return them."""
        candidates = [job for job in behind if job.id in plausible]
        if self._ahead is not None:
            candidates = in_order(ledger, self._ahead, candidates, self.expected)
        started: list[Job] = []
        used = self._used(ledger)
        for job in candidates:
            if self._leaves_room(job, limits[job.id], used) and self._backfill(ledger, job, head):
                started.append(job)
                used = self._used(ledger)
        return started

    def _choose_share(self, ledger: Ledger, jobs: Sequence[Job], plausible: set[str]) -> float:
        """Return the share of room that costs least in drawn futures; the smallest of equal ones."""
        if len(self._shares) == 1 or not enough(self._past):
            return 0.0
        used = self._used(ledger)
        limits = self._limits(ledger, jobs, self._shares[-1])
        if all(
            self._leaves_room(job, limit, used) for job, limit in zip(jobs, limits, strict=True) if job.id in plausible
        ):
            # Nobody would be held back now.
            return 0.0
        policies = [Policy(share) for share in self._shares]
        best = int(self._costs(ledger, jobs, policies).argmin())
        self._chosen[best] += 1
        return self._shares[best]

    def _costs(self, ledger: Ledger, jobs: Sequence[Job], policies: Sequence[Policy]) -> Floats:
        """Return what each policy costs in drawn futures, in sum; `jobs`: those that wait, in order."""
        now, total = ledger.now, self._total(ledger)
        running = [
            Runner(stay.start, self._known(stay.job), self._pool.pooled_use(stay.job, stay.allocation))
            for stay in ledger.running.values()
        ]
        waiting = [
            Waiter(self._known(job), self._place_in_order(job, now), not self.ordering.is_late(job, now))
            for job in jobs
        ]
        # Not the generator of the guesses: hindsight draws the same futures, without the decisions before.
        rng = np.random.default_rng([self._seed, self._came, self._past.ended])
        moment = Moment(now, total, total - self._used(ledger), running, waiting)
        costs: Floats = self._rollouts.costs(moment, policies, self._came, rng).sum(axis=1)
        return costs

    def _limits(self, ledger: Ledger, jobs: Sequence[Job], share: float) -> Floats:
        """Return how much of each resource may be in use once a job has started, float64 [job, resource].

        Infinite where no room is kept.
        """
        parts = self._room.parts(np.array([self.expected(job) for job in jobs]), self._came)
        parts[[self.ordering.is_late(job, ledger.now) for job in jobs]] = 0.0
        total = self._total(ledger)
        limits = (1.0 - share * parts)[:, None] * total
        return np.where(limits < total, limits, np.inf)

    def _leaves_room(self, job: Job, limit: Floats, used: NDArray[np.int64]) -> bool:
        """Return whether a job leaves room if it starts where so much is used, int64 [resource].

        One that exceeds its limit alone, on an idle machine, need not: it would wait for all others to end.
        """
        need = self._pool.pooled_need(job)
        return not ((need > 0) & (need <= limit) & (used + need > limit)).any()

    def _total(self, ledger: Ledger) -> NDArray[np.int64]:
        """Return what the hosts have that are there, int64 [resource]."""
        if not ledger.unavailable:
            return self._pool.whole()
        return ledger.space.pooled(present(ledger.space, ledger.unavailable))

    def _used(self, ledger: Ledger) -> NDArray[np.int64]:
        """Return what is not free of the hosts that are there, int64 [resource]."""
        used: NDArray[np.int64] = self._total(ledger) - ledger.space.pooled(ledger.free)
        return used

    def _place_in_order(self, job: Job, now: float) -> tuple[float, ...]:
        key = self.ordering.key(job, now, self.expected(job))
        return key if isinstance(key, tuple) else (key,)

    def _known(self, job: Job) -> Arrival:
        """Return what was seen of a job; of one that a layer brought back, what is known now."""
        seen = self._seen.get(job.id)
        if seen is None:
            seen = self._seen[job.id] = self._see(job, self.ledger.now)
        return seen

    def _see(self, job: Job, now: float) -> Arrival:
        expected = self.expected(job)
        guesses = self._past.guess(job, expected, self.rng)
        return Arrival(job, now, expected, guesses, self._pool.pooled_need(job), self._place_in_order(job, now))

    # ------------------------------------------------------------------ what is told

    def report(self) -> dict[str, Any]:
        chosen = {f"{share:g}": count for share, count in zip(self._shares, self._chosen, strict=True)}
        return {**super().report(), "rooms_chosen": chosen}

    def why_waited(self, job: Job, decision: Hindsight) -> Reason | None:
        ledger = decision.ledger
        jobs = list(self.in_order(ledger))
        plausible = {one.id for one in ledger.plausible(jobs)}
        if job.id not in plausible:
            return None
        share = self._choose_share(ledger, jobs, plausible)
        used = self._used(ledger)
        for one, allocation in decision.started:
            used = used + self._pool.pooled_use(one, allocation)
        fits = bool((used + self._pool.pooled_need(job) <= self._total(ledger)).all())
        if not fits or self._leaves_room(job, self._limits(ledger, [job], share)[0], used):
            return None
        return Reason(
            "room was kept for shorter jobs", f"{share:.0%} of the machine, which cost least in drawn futures"
        )
