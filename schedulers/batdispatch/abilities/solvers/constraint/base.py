"""What the dispatchers have in common that plan the waiting jobs together: window, decisions, account."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np

from batdispatch.abilities.solvers.constraint.instance import SCALE, Instance
from batdispatch.abilities.solvers.constraint.lists import Plan
from batdispatch.abilities.solvers.constraint.passed_over import as_found, as_planned, no_new_plan
from batdispatch.abilities.solvers.constraint.reserve import Reserve
from batdispatch.abilities.solvers.solving import Account, SolverResult
from batdispatch.core.capacity.space import present
from batdispatch.core.capacity.totals import SOMEWHERE, ResourceTotals
from batdispatch.core.hosts.allocation import Place
from batdispatch.core.jobs.job import Job, Stay
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.events import Event, RequestedCall
from batdispatch.core.line.hindsight import Hindsight, Reason, beyond_window
from batdispatch.core.line.ledger import SOONEST, Ledger
from batdispatch.core.line.options import Options
from batdispatch.core.line.scene import Scene
from batdispatch.core.plans.correction import DEFAULT, Correction
from batdispatch.core.plans.lateness import Lateness, overdue
from batdispatch.core.plans.pace import Alarm
from batdispatch.dispatchers.backfilling.queue import QueueOptions
from batdispatch.parts.ordering import make_ordering
from batdispatch.parts.ordering.window import Window, in_order
from batdispatch.parts.placement import make_placement
from batdispatch.parts.placement.prospects import Prospects
from batdispatch.parts.prediction import Predictions

Positive = Annotated[int, msgspec.Meta(ge=1)]
NotNegative = Annotated[int, msgspec.Meta(ge=0)]


class PlanningOptions(QueueOptions, frozen=True, kw_only=True):
    """Options of every dispatcher that plans the waiting jobs together.

    ordering: Take the jobs that would fit now in this order (`batdispatch list orderings`). The first `window` of them
        are planned, and of those that could start together the first one is preferred.
    correction: Expect a job that has outlived its prediction to run for this long in all, but never longer than its
        walltime. `walltime`: as long as its walltime. `steps`: a minute longer than predicted, then 5, 15 and 30
        minutes longer, then 1, 2, 5, 10, 20, 50 and 100 hours. `doubling`: twice as long as predicted, then four times,
        and so on. `second`: a second longer than it has run.
    wake: Decide again when a job that the plan waited for has not ended in time, or when more jobs could start than the
        window held. `false`: decide only when something happens.
    rjms_delay: Add this many seconds to the expected run time of each job, in the plan only, for the time that the
        resource manager takes to end a job. 0 adds nothing. Batsim's reference schedulers add 5.
    window: Plan at most this many of the jobs that would fit now.
    ahead: Plan a start for this many of the jobs that do not fit now as well, so that others do not delay them. 0, as
        in the papers: for none.
    reserve: When a long job starts, keep up to this share of each resource free for much shorter jobs (at most a tenth
        as long) like those that arrived recently. 0 switches this off, as in the papers.
    """

    ordering: str = "pcp20-priority"
    placement: str = "best-fit"
    correction: Correction = DEFAULT
    wake: bool = True
    rjms_delay: Annotated[float, msgspec.Meta(ge=0, le=1e9)] = 0.0
    window: Positive = 100
    ahead: NotNegative = 0
    reserve: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.0


class PlanningDispatcher(Dispatcher):
    """Plans the waiting jobs together and starts those planned for now; the rest is planned anew next time."""

    options_type: ClassVar[type[Options]] = PlanningOptions
    effort = 1

    def __init__(self, options: Options | None = None, seed: int = 0) -> None:
        super().__init__(options, seed)
        self.seed = seed
        self.ordering = make_ordering(self.options.ordering)
        self.placement = make_placement(self.options.placement)
        self.predictions = Predictions(self.options.prediction, self.options.default_walltime)
        self.predictions.correction = self.options.correction
        self.lateness = Lateness(self.options.rjms_delay)
        self.account = Account(SCALE)

    def begin(self, ledger: Ledger) -> None:
        self.ordering.begin(ledger)
        self.placement.begin(ledger.machine)
        self.prospects = Prospects(self.placement, self.options.placement)
        self.predictions.begin(ledger)
        self.pool = ResourceTotals(ledger.space)
        self.window = Window(self.options.window)
        self.reserve = Reserve(self.options.reserve) if self.options.reserve else None
        #: The jobs that fitted when the last plan was made, and the ledger's count of capacity changes at that moment.
        self._left: set[str] = set()
        self._epoch = -1
        #: When the first of those that it made wait was to start, s: if it has not, a new plan is due.
        self._expires = math.inf
        self._alarm = Alarm()
        #: Whether more jobs fitted than that plan's window held.
        self._beyond = False

    # ------------------------------------------------------------------ what happens

    def on_submit(self, ledger: Ledger, job: Job) -> None:
        if not self.prospects.admits(ledger, job):
            return
        # Predictions are made at submission.
        duration = self.predictions.of(job)
        if self.reserve:
            self.reserve.came(duration, self.pool.pooled_need(job))

    def on_end(self, ledger: Ledger, stay: Stay) -> None:
        self.predictions.ended(stay, ledger.now)
        self.ordering.ended(stay, ledger.now)

    def on_event(self, ledger: Ledger, event: Event) -> None:
        turns = self.prospects.turns
        self.prospects.hear(ledger)
        # A call of our own changes nothing, unless a placement can do more from then on.
        if not isinstance(event, RequestedCall) or self.prospects.turns > turns:
            self._left = set()

    # ------------------------------------------------------------------ deciding

    def decide(self, ledger: Ledger) -> None:
        if not ledger.queue:
            return
        jobs = self.candidates(ledger)
        if not jobs:
            return
        instance = self._instance(ledger, jobs)
        counters: dict[str, int] = {}
        size = self.window.size
        found = self.plan(instance, counters)
        if found.solved:
            self.window.succeeded()
        else:
            self.window.failed(len(jobs))
        running = len(ledger.running)
        started = self.start(ledger, instance, found.solution)
        facts = {
            "jobs": len(jobs),
            "running": running,
            "started": started,
            "paper_variables": instance.paper_variables(),
        }
        self.account.add(ledger.now, found, facts, counters)
        if (started and self._beyond) or self.window.size != size:
            # The next window holds other jobs than this one.
            self._left = set()
        self._expires = math.inf
        if self.options.wake:
            self._wake(ledger, found.solution)

    def _wake(self, ledger: Ledger, plan: Plan) -> None:
        """Ask for a call if jobs wait that fit: when the plan is to go on, or at once if it knows not all of them."""
        if self._left and self.predictions.sure:
            # What is to go on later goes on when a job ends.
            return
        if not ledger.space.fitting(ledger.free, list(ledger.queue.values())):
            return
        if not self._left:
            self._alarm.call(ledger, ledger.now + SOONEST)
        later = plan.starts[plan.starts > 0]
        if len(later):
            self._expires = ledger.now + float(later.min())
            self._alarm.missed(ledger, self._expires)

    def _instance(self, ledger: Ledger, jobs: Sequence[Job]) -> Instance:
        return Instance(
            ledger,
            jobs,
            self.predictions.of,
            self.pool,
            pooled=self.takes_nodes_for_one(ledger),
            lateness=self.lateness,
            end=lambda stay: self.predictions.end(stay, ledger.now, self.lateness),
        )

    def takes_nodes_for_one(self, ledger: Ledger) -> bool:
        """Return whether an instance needs to know no nodes: whole hosts of which only the number matters."""
        return ledger.counts_hosts and self.placement.complete

    def candidates(self, ledger: Ledger) -> list[Job]:
        """Return the jobs to decide about, in order; none if a new plan would start no job either."""
        fitting = ledger.space.fitting(ledger.free, list(ledger.queue.values()))
        allowed = self._allowed(ledger, fitting)
        names = {job.id for job in allowed}
        # If capacity has not changed and no further job fits, the jobs that the last plan let wait go on waiting.
        due = overdue(self._expires, ledger.now)
        if not allowed or (ledger.epoch == self._epoch and names <= self._left and not due):
            self.account.skipped += 1
            return []
        self._left, self._epoch = names, ledger.epoch
        chosen = self._in_order(ledger, allowed)[: self.window.size]
        self._beyond = len(chosen) < len(allowed)
        return self._joined(ledger, chosen, self._planned_ahead(ledger, fitting))

    def _planned_ahead(self, ledger: Ledger, fitting: Sequence[Job]) -> list[Job]:
        """Return the jobs to plan for beside the window, given those that fit."""
        if not self.options.ahead:
            return []
        fit = {job.id for job in fitting}
        others = self._in_order(ledger, [job for job in ledger.queue.values() if job.id not in fit])
        return self._placeable(ledger, others)

    def _joined(self, ledger: Ledger, window: list[Job], ahead: list[Job]) -> list[Job]:
        """Return the jobs of an instance in order, given those of the window in order and the others."""
        return self._in_order(ledger, window + ahead) if ahead else window

    def _in_order(self, ledger: Ledger, jobs: Sequence[Job]) -> list[Job]:
        return in_order(ledger, self.ordering, jobs, self.predictions.of)

    def _allowed(self, ledger: Ledger, fitting: list[Job]) -> list[Job]:
        """Return those of the jobs that fit which leave the reserve free."""
        if not self.reserve or not fitting:
            return fitting
        space = ledger.space
        durations = np.array([self.predictions.of(job) for job in fitting])
        whole = space.pooled(present(space, ledger.unavailable) if ledger.unavailable else space.whole())
        allowed = self.reserve.allowed(durations, self.pool.pooled_needs(fitting), space.pooled(ledger.free), whole)
        return [job for job, may in zip(fitting, allowed.tolist(), strict=True) if may]

    def _placeable(self, ledger: Ledger, jobs: list[Job]) -> list[Job]:
        """Return the first `ahead` jobs for which there will be room once all running jobs have ended."""
        if not ledger.unavailable:
            return jobs[: self.options.ahead]
        there = present(ledger.space, ledger.unavailable)
        return [job for job in jobs if ledger.space.fits(there, job)][: self.options.ahead]

    @abstractmethod
    def plan(self, instance: Instance, counters: dict[str, int]) -> SolverResult[Plan]:
        """Return a plan of an instance and how it was found; counts for the account go into `counters`."""

    def start(self, ledger: Ledger, instance: Instance, plan: Plan) -> int:
        """Start the jobs whose planned start is now where they were planned, and return how many."""
        started = 0
        for index in plan.now():
            job, place = instance.jobs[index], plan.places[index]
            if place is SOMEWHERE:
                place = self.placement.place(Scene(ledger, ledger.free, None, instance.jobs), job)
            if place is not None:
                ledger.start(job, place)
                started += 1
        return started

    def place_now(self, instance: Instance, plan: Plan) -> tuple[Plan, list[int]]:
        """Find places in order for the jobs that start now, and return the plan with them, and the jobs without."""
        ledger, free = instance.ledger, instance.ledger.free
        places: list[Place | None] = list(plan.places)
        held: list[tuple[Job, Place]] = []
        refused: list[int] = []
        for index in plan.now():
            job = instance.jobs[index]
            scene = Scene(ledger, free, lambda: (*Scene(ledger, None).held, *held), instance.jobs)
            place = places[index] = self.placement.place(scene, job)
            if place is None:
                refused.append(index)
            else:
                free = ledger.space.take(free, job, place.allocation)
                held.append((job, place))
        return Plan(plan.starts, plan.cost, places), refused

    # ------------------------------------------------------------------ what is told

    def report(self) -> dict[str, Any]:
        return {
            **self.account.report(),
            "window_halved": self.window.halved,
            **({"held_for_reserve": self.reserve.held} if self.reserve else {}),
            "prediction": self.predictions.report(),
        }

    def notes(self) -> list[bytes]:
        return self.account.lines

    def why_waited(self, job: Job, decision: Hindsight) -> Reason | None:
        ledger, note = decision.ledger, decision.note
        fitting = ledger.space.fitting(ledger.free, list(ledger.queue.values()))
        allowed = self._in_order(ledger, self._allowed(ledger, fitting))
        ahead = self._planned_ahead(ledger, fitting)
        fits = any(one is job for one in fitting)
        if fits and not any(one is job for one in allowed):
            return Reason("room was kept for shorter jobs", f"reserve is {self.options.reserve:g}")
        if not fits and not any(one is job for one in ahead):
            return Reason("it did not fit, and was not planned for", f"ahead is {self.options.ahead:,}")
        if note is None:
            return no_new_plan(decision) if fits else None
        # Smaller than the option after a solver found nothing.
        size = note["jobs"] - len(ahead)
        if not 0 < size <= min(self.options.window, len(allowed)):
            return None
        index = next((index for index, one in enumerate(allowed) if one is job), 0)
        if index >= size:
            return beyond_window(index, size)
        instance = self._instance(ledger, self._joined(ledger, allowed[:size], ahead))
        plan = self.plan_again(instance, note)
        if plan is not None:
            return as_planned(job, decision, instance, plan)
        return as_found(job, decision, self.may_find_no_place(note)) if fits else None

    def plan_again(self, instance: Instance, note: Mapping[str, Any]) -> Plan | None:
        """Return the plan of a decision that was carried out, made again without a search; None: that is impossible."""
        return None

    def may_find_no_place(self, note: Mapping[str, Any]) -> bool:
        """Return whether jobs that a plan started may have found no place, given the line of solver.jsonl."""
        return bool(note.get("put_back"))
