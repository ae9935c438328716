"""The base of dispatchers that serve a queue in some order with some placement."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice, takewhile
from typing import Annotated, Any, ClassVar

import msgspec

from batdispatch.core.capacity.space import Space
from batdispatch.core.hosts.allocation import Place
from batdispatch.core.jobs.job import Job, Stay
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.events import Event
from batdispatch.core.line.hindsight import Hindsight, Reason
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options
from batdispatch.core.line.roles import Gap
from batdispatch.core.line.scene import Scene
from batdispatch.core.plans.correction import DEFAULT, GrowthRule
from batdispatch.core.plans.lateness import Lateness, overdue
from batdispatch.core.plans.pace import Alarm
from batdispatch.core.plans.reservations import Reservations
from batdispatch.dispatchers.backfilling.lanes import Lanes, Longest
from batdispatch.parts.ordering import Ordering, make_ordering
from batdispatch.parts.ordering.window import why_ahead, why_behind
from batdispatch.parts.placement import make_placement
from batdispatch.parts.placement.prospects import Prospects
from batdispatch.parts.prediction import Predictions


class QueueOptions(Options, frozen=True, kw_only=True):
    """Options of every queue dispatcher.

    ordering: Take the waiting jobs in this order (`batdispatch list orderings`).
    placement: Choose the hosts of a job by this rule (`batdispatch list placements`).
    prediction: Expect jobs to run as long as this method says (`batdispatch list predictions`), but never longer than
        their walltimes.
    default_walltime: Expect a job without a walltime to run for this many seconds. `inf` (the default): for ever. The
        option kills no job.
    """

    ordering: str = "fcfs"
    placement: str = "first-fit"
    prediction: str = "requested"
    default_walltime: Annotated[float, msgspec.Meta(gt=0)] = math.inf


class PlanOptions(QueueOptions, frozen=True, kw_only=True):
    """Options of every queue dispatcher that plans ahead.

    correction: Expect a job that has outlived its prediction to run for this long in all, but never longer than its
        walltime. `walltime`: as long as its walltime. `steps`: a minute longer than predicted, then 5, 15 and 30
        minutes longer, then 1, 2, 5, 10, 20, 50 and 100 hours. `doubling`: twice as long as predicted, then four times,
        and so on.
    rjms_delay: Add this many seconds to the expected run time of each job, in the plan only, for the time that the
        resource manager takes to end a job. 0 adds nothing. Batsim's reference schedulers add 5.
    """

    correction: GrowthRule = DEFAULT
    rjms_delay: Annotated[float, msgspec.Meta(ge=0, le=1e9)] = 0.0


class QueueDispatcher(Dispatcher):
    """Keeps the waiting jobs in the chosen order.

    Attributes:
        waiting: waiting jobs, as sorted as the last call of `in_order` left them.
        fresh: jobs submitted since the last decision.
        ordering: the part that `ordering` names.
        placement: the part that `placement` names.
    """

    options_type: ClassVar[type[Options]] = QueueOptions
    #: Whether jobs are looked for behind the first one that does not fit, see `candidates`.
    searches: ClassVar[bool] = False

    def __init__(self, options: Options | None = None, seed: int = 0) -> None:
        super().__init__(options, seed)
        self.ordering = make_ordering(self.options.ordering)
        self.placement = make_placement(self.options.placement)
        self.predictions = Predictions(self.options.prediction, self.options.default_walltime)
        self.waiting: list[Job] = []
        self.fresh: list[Job] = []
        self._keys: dict[str, tuple[Any, int]] = {}
        #: The waiting jobs again, apart from the fresh ones, where they are searched and their order is fixed.
        self._lanes = Lanes() if self.searches and not self.ordering.dynamic else None

    def begin(self, ledger: Ledger) -> None:
        self.ledger = ledger
        # Only sites leave jobs a choice.
        self._place = self.placement.place if ledger.machine.site is None else self.placement.place_in_choice
        #: Returns where a job goes within what is free now, or None.
        self.choose_now: Callable[[Job], Place | None] = partial(self._place, Scene(ledger))
        self.placement.begin(ledger.machine)
        self.prospects = Prospects(self.placement, self.options.placement)
        self.ordering.begin(ledger)
        self._hears_ends = type(self.ordering).ended is not Ordering.ended
        self._hears_of_jobs = type(self.ordering).came is not Ordering.came
        #: Whether a job that does not fit may let others pass; then who may start or hold up others, as sorted last.
        self._in_play: list[Job] = []
        self._holding_up: set[str] = set()
        self._lets_pass = type(self.ordering).reserving is not Ordering.reserving
        self.predictions.begin(ledger)

    def expected(self, job: Job) -> float:
        """Return how long a job is expected to run, in seconds."""
        return self.predictions.of(job)

    def choose(self, free: Any, job: Job) -> Place | None:
        """Return where a job goes now within some free capacity, or None; `choose_now` takes what is free now."""
        return self._place(Scene(self.ledger, free), job)

    def on_submit(self, ledger: Ledger, job: Job) -> None:
        if not self.prospects.admits(ledger, job):
            return
        self.fresh.append(job)
        if self._hears_of_jobs:
            self.ordering.came(job, ledger.now)
        if self.ordering.dynamic:
            self.waiting.append(job)
        else:
            expected = self.expected(job)
            key = self._keys[job.id] = (self.ordering.key(job, ledger.now, expected), ledger.rank(job))
            waiting = self.waiting
            if not waiting or self._keys[waiting[-1].id] < key:
                waiting.append(job)
            else:
                insort(waiting, job, key=self._key)

    def on_event(self, ledger: Ledger, event: Event) -> None:
        self.prospects.hear(ledger)

    def epoch(self, ledger: Ledger) -> tuple[int, int]:
        """Return what changes when a job that found no place may find one, apart from the end of a decision's starts.

        That is `Ledger.epoch`, and how often the placement became satisfied with more places.
        """
        return ledger.epoch, self.prospects.turns

    def on_end(self, ledger: Ledger, stay: Stay) -> None:
        self.predictions.ended(stay, ledger.now)
        if self._hears_ends:
            self.ordering.ended(stay, ledger.now)

    def lend(self, ledger: Ledger, job: Job, gap: Gap, place: Place) -> None:
        self.forget(job)

    def give_way(self, ledger: Ledger, job: Job, place: Place) -> None:
        self.forget(job)

    def on_withdrawn(self, ledger: Ledger, job: Job) -> None:
        self.forget(job)

    def why_started(self, job: Job, ledger: Ledger) -> Reason | None:
        return why_ahead(ledger, self.ordering, job, self.expected)

    def why_waited(self, job: Job, decision: Hindsight) -> Reason | None:
        behind = why_behind(decision.ledger, self.ordering, job, self.expected)
        return self.why_started(job, decision.ledger) or behind

    def idle_until(self, ledger: Ledger) -> float:
        # Keys that change, and jobs that outlive what is expected of them, may let it act without an event.
        return math.inf if self.predictions.sure and not self.ordering.dynamic else -math.inf

    def report(self) -> dict[str, Any]:
        return {"prediction": self.predictions.report()}

    def _key(self, job: Job) -> tuple[Any, int]:
        return self._keys[job.id]

    def in_order(self, ledger: Ledger) -> list[Job]:
        """Return the waiting jobs in order; the caller may shorten the list but not reorder it."""
        if self.ordering.dynamic:
            self._sort(self.waiting, ledger.now)
        return self.waiting

    def in_play(self, ledger: Ledger) -> list[Job]:
        """Return the waiting jobs that may start now or hold up others, in order."""
        if not self._lets_pass:
            return self.in_order(ledger)
        holding_up = self.ordering.reserving(self.waiting, ledger.now)
        jobs = {job.id: job for job in (*ledger.plausible(self.waiting), *holding_up)}
        self._holding_up = {job.id for job in holding_up}
        self._in_play = list(jobs.values())
        self._sort(self._in_play, ledger.now)
        return self._in_play

    def first_reserving(self, ledger: Ledger) -> Job | None:
        """Return the first job in order that may have room reserved for it, after `start_from_head`."""
        if not self._lets_pass:
            return self.waiting[0]
        self._in_play = [job for job in self._in_play if job.id in ledger.queue]
        return next((job for job in self._in_play if job.id in self._holding_up), None)

    def fresh_in_order(self, ledger: Ledger) -> list[Job]:
        """Return the jobs submitted since the last decision, in order."""
        if len(self.fresh) > 1:
            self._sort(self.fresh, ledger.now)
        return self.fresh

    def candidates(self, ledger: Ledger, longest: Longest, *, fresh: bool) -> Iterator[Job]:
        """Yield the waiting jobs that may start now, in order; they stay in the queue until `forget_started`.

        Args:
            ledger: the cluster.
            longest: says which may start, by how long they are expected to run; what it says of a job never grows.
            fresh: only the jobs submitted since the last decision.
        """
        if not fresh and self._lanes is not None:
            self._line_up_fresh()
            return self._lanes.candidates(ledger.plausible, longest)
        jobs = self.fresh_in_order(ledger) if fresh else self._in_play or self.in_order(ledger)
        expected = self.expected
        return (job for job in ledger.plausible(jobs) if expected(job) <= longest(job))

    def _sort(self, jobs: list[Job], now: float) -> None:
        if not self.ordering.dynamic:
            jobs.sort(key=self._key)
            return
        key, expected, rank = self.ordering.key, self.expected, self.ledger.rank
        jobs.sort(key=lambda job: (key(job, now, expected(job)), rank(job)))

    def forget(self, job: Job) -> None:
        """Drop a job that no longer waits, or that waits in another form."""
        # Jobs are compared by identity: one that was amended stands in the list as it was before.
        self.waiting = [other for other in self.waiting if other.id != job.id]
        self.fresh = [other for other in self.fresh if other.id != job.id]
        self._forget_key(job)

    def _line_up_fresh(self) -> None:
        """Let the fresh jobs that did not start wait in lanes, which those that start at once never see."""
        if self._lanes is not None:
            for job in self.fresh:
                key = self._keys.get(job.id)
                if key is not None:
                    self._lanes.add(job, key, self.expected(job))
        self.fresh = []

    def _forget_key(self, job: Job) -> None:
        key = self._keys.pop(job.id, None)
        if key is not None and self._lanes is not None:
            self._lanes.remove(job, key)

    def forget_started(self, started: list[Job]) -> None:
        """Drop jobs that were started from `waiting`, and all from `fresh`: the end of a decision."""
        self._in_play = []
        for job in started:
            if self.ordering.dynamic:
                self.waiting.remove(job)
            else:
                del self.waiting[bisect_left(self.waiting, self._keys[job.id], key=self._key)]
                self._forget_key(job)
        if self.fresh:
            self._line_up_fresh()

    def start_from_head(self, ledger: Ledger, most: int | None = None) -> int:
        """Start jobs in order until one does not fit, at most so many, and return how many were started.

        Jobs to which reservations leave no host now are shown for the sake of a plan, and hold nobody up here. Nor do
        jobs for which nothing is reserved, if the ordering says so.
        """
        started = passed = 0
        for job in islice(self.in_play(ledger), most):
            if job.request.allowed == 0:
                passed += 1
                continue
            place = self.choose_now(job)
            if place is None:
                if self._lets_pass and job.id not in self._holding_up:
                    continue
                break
            ledger.start(job, place)
            self._forget_key(job)
            started += 1
        if started and (passed or self._lets_pass):
            self.waiting = [job for job in self.waiting if job.id in ledger.queue]
        elif started:
            del self.waiting[:started]
        return started


class PlanningQueue(QueueDispatcher):
    """Keeps the waiting jobs in the chosen order and plans when hosts will be free.

    Attributes:
        lateness: how late ends may come in the plan.
    """

    options_type: ClassVar[type[Options]] = PlanOptions

    def __init__(self, options: Options | None = None, seed: int = 0) -> None:
        super().__init__(options, seed)
        self.predictions.correction = self.options.correction
        self.lateness = Lateness(self.options.rjms_delay)
        self._alarm = Alarm()

    def booked(self, job: Job) -> float:
        """Return for how many seconds the plan keeps a job's hosts."""
        return self.lateness.booked(self.expected(job))

    def reservations(self, ledger: Ledger, space: Space[Any] | None = None) -> Reservations:
        """Return an empty plan with this dispatcher's placement; `space`: how capacity is planned, see there."""
        patience = self.placement.patience
        return Reservations(ledger, self._place, space, slack=self.lateness.slack, patience=patience)

    def is_free(self, job: Job, place: Place) -> bool:
        """Return whether a place planned for now can be had: a job that is expected to end just now may still run."""
        ledger = self.ledger
        if ledger.space.lacking(ledger.free, job, place.allocation) is not None:
            return False
        return self.placement.complete or self.placement.holds(Scene(ledger), job, place)

    def correct(self, ends: Ends) -> list[tuple[float, Stay]]:
        """Let running jobs that have outlived their expected ends have later ones, and return these, in seconds."""
        now = self.ledger.now
        late = [(self.predictions.end(stay, now, self.lateness), stay) for stay in ends.overdue(now)]
        for end, stay in late:
            ends.remove(stay.job.id)
            ends.add(stay, end)
        return late

    def call_if_missed(self, time: float) -> None:
        """Ask for a call if what the plan expects to end at `time`, in seconds, has not ended by then."""
        if not self.predictions.sure:
            self._alarm.missed(self.ledger, time)


class Ends:
    """Running jobs in order of their expected end."""

    def __init__(self) -> None:
        self._sorted: list[tuple[float, int, Stay]] = []
        self._of: dict[str, tuple[float, int]] = {}

    def add(self, stay: Stay, end: float) -> None:
        """Enter a job that is expected to end at `end`, in seconds."""
        insort(self._sorted, (end, stay.rank, stay))
        self._of[stay.job.id] = (end, stay.rank)

    def remove(self, job_id: str) -> tuple[float, int, Stay]:
        """Take out a job that ended, and return its entry: expected end in seconds, rank, stay."""
        return self._sorted.pop(bisect_left(self._sorted, self._of.pop(job_id)))

    def overdue(self, now: float) -> list[Stay]:
        """Return the jobs that have outlived their expected end at `now`, in seconds."""
        return [stay for _, _, stay in takewhile(lambda entry: overdue(entry[0], now), self._sorted)]

    def __iter__(self) -> Iterator[tuple[float, int, Stay]]:
        return iter(self._sorted)
