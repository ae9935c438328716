"""What the constraint-programming dispatchers have in common: window, incremental decisions, account of the solver."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np

from batdispatch.core.allocation import Allocation
from batdispatch.core.dispatcher import Dispatcher
from batdispatch.core.events import Event
from batdispatch.core.job import Job
from batdispatch.core.ledger import Ledger
from batdispatch.core.options import Options
from batdispatch.dispatchers.constraint.greedy import Place, Plan
from batdispatch.dispatchers.constraint.instance import Instance, Viewer
from batdispatch.dispatchers.constraint.outcome import Account, Outcome
from batdispatch.dispatchers.constraint.reserve import Reserve
from batdispatch.dispatchers.constraint.window import Window, by_priority, holdable
from batdispatch.parts.prediction import Estimates

Positive = Annotated[int, msgspec.Meta(ge=1)]
NotNegative = Annotated[int, msgspec.Meta(ge=0)]
Seconds = Annotated[float, msgspec.Meta(ge=0)]


class ConstraintOptions(Options, frozen=True, kw_only=True):
    """Options of every constraint-programming dispatcher.

    prediction: how long jobs are expected to run (`batdispatch list predictions`); no prediction exceeds the walltime.
    default_walltime: seconds that a job without a walltime is expected to run; infinite unless given.
    window: how many of the jobs that would fit now are decided about together, by priority.
    ahead: how many of the jobs that do not fit now are planned for too, by priority; 0 as published. They keep others
        from delaying them.
    reserve: largest share of each resource that a job must leave free for jobs a tenth as long, as recent ones were; 0:
        none, as published.
    tries: how many changes of the greedy plan are tried.
    work: limit of CP-SAT for each decision, in its deterministic seconds; 0: without the solver.
    wall: limit of CP-SAT in seconds of wall-clock time, a safety net; reaching it is counted as a fallback.
    """

    prediction: str = "requested"
    default_walltime: Annotated[float, msgspec.Meta(gt=0)] = math.inf
    window: Positive = 100
    ahead: NotNegative = 0
    reserve: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.0
    tries: NotNegative = 0
    work: Seconds = 0.0
    wall: Annotated[float, msgspec.Meta(gt=0)] = 16.0


class ConstraintDispatcher(Dispatcher):
    """Plans the waiting jobs together and starts those whose planned start is now."""

    options_type: ClassVar[type[Options]] = ConstraintOptions

    def __init__(self, options: Options | None = None, seed: int = 0) -> None:
        super().__init__(options, seed)
        self.seed = seed
        self.estimates = Estimates(self.options.prediction, self.options.default_walltime)
        self.account = Account()

    def begin(self, cluster: Ledger) -> None:
        self.estimates.begin(cluster)
        self.viewer = Viewer(cluster, self.estimates.of)
        self.window = Window(self.options.window)
        self.reserve = Reserve(self.options.reserve) if self.options.reserve else None
        #: What the last decision left waiting although it fitted, and the capacity it was made for.
        self._left: set[str] = set()
        self._epoch = -1

    def on_submit(self, cluster: Ledger, job: Job) -> None:
        # Predictions are made at submission.
        duration = self.estimates.of(job)
        if self.reserve:
            self.reserve.came(duration, self.viewer.needs(cluster, [job])[0])

    def on_end(self, cluster: Ledger, job: Job) -> None:
        self.estimates.ended(job, cluster.now)
        self.viewer.forget(job)

    def on_event(self, cluster: Ledger, event: Event) -> None:
        self._left = set()

    def decide(self, cluster: Ledger) -> None:
        if not cluster.queue:
            return
        jobs = self.candidates(cluster)
        if not jobs:
            return
        instance = self.viewer.instance(cluster, jobs)
        outcome = self.solve(instance)
        if outcome.solved:
            self.window.succeeded()
        else:
            self.window.failed(len(jobs))
        started = self.start(cluster, jobs, instance, outcome)
        self.account.add(cluster.now, instance, outcome, started)
        if started and len(jobs) >= self.options.window:
            # More may fit than a window holds.
            self._left = set()

    def candidates(self, cluster: Ledger) -> list[Job]:
        """Return the jobs to decide about, by priority; none if nothing new can come of it."""
        queued = list(cluster.queue.values())
        fitting = holdable(cluster, self.viewer, self.viewer.free(cluster), queued)
        unfit = {job.id for job in queued} - {job.id for job in fitting} if self.options.ahead else set()
        fitting = self._allowed(cluster, fitting)
        names = {job.id for job in fitting}
        # Capacity did not grow and no job came that fits: what waited by choice goes on waiting.
        if not fitting or (cluster.epoch == self._epoch and names <= self._left):
            self.account.skipped += 1
            return []
        self._left, self._epoch = names, cluster.epoch
        estimate = self.estimates.of
        chosen = by_priority(fitting, cluster.now, estimate)[: self.window.size]
        if unfit:
            others = by_priority([job for job in queued if job.id in unfit], cluster.now, estimate)
            chosen = by_priority(chosen + self._placeable(cluster, others), cluster.now, estimate)
        return chosen

    def _allowed(self, cluster: Ledger, fitting: list[Job]) -> list[Job]:
        """Return those of the jobs that fit which leave the reserve free."""
        if not self.reserve or not fitting:
            return fitting
        durations = np.array([self.estimates.of(job) for job in fitting])
        needs = self.viewer.needs(cluster, fitting)
        free = self.viewer.free(cluster).sum(axis=0)
        allowed = self.reserve.allowed(durations, needs, free, self.viewer.capacity(cluster).sum(axis=0))
        return [job for job, may in zip(fitting, allowed.tolist(), strict=True) if may]

    def _placeable(self, cluster: Ledger, jobs: list[Job]) -> list[Job]:
        """Return the first `ahead` jobs for which there will be room once all running jobs have ended."""
        if not cluster.unavailable:
            return jobs[: self.options.ahead]
        present = cluster.space.only(cluster.space.whole(), ~cluster.unavailable)
        return [job for job in jobs if cluster.space.fits(present, job)][: self.options.ahead]

    def improve(self, formulation: str, instance: Instance, plan: Plan, first: Plan, work: float) -> Outcome:
        """Let the solver look for a better plan; see `batdispatch.dispatchers.constraint.solver`."""
        # A solver takes half a second to load, which commands that only list dispatchers should not pay.
        from batdispatch.dispatchers.constraint.solver import improve

        return improve(formulation, instance, plan, first=first.cost, work=work, wall=self.options.wall, seed=self.seed)

    @abstractmethod
    def solve(self, instance: Instance) -> Outcome:
        """Return a plan of an instance and how it was found."""

    def start(self, cluster: Ledger, jobs: list[Job], instance: Instance, outcome: Outcome) -> int:
        """Start the jobs whose planned start is now where they were planned, and return how many."""
        started = 0
        for job, begin, place in zip(jobs, outcome.plan.starts.tolist(), outcome.plan.places, strict=True):
            if begin == 0:
                cluster.start(job, self.allocation(cluster, job, place))
                started += 1
        return started

    def allocation(self, cluster: Ledger, job: Job, place: Place) -> Allocation:
        """Return the hosts of a place."""
        if self.viewer.exclusive:
            found = cluster.place(job)
            assert found is not None
            return found
        return Allocation.of(place[0].tolist(), place[1].tolist())

    def report(self) -> dict[str, Any]:
        return {
            **self.account.report(),
            "window_halved": self.window.halved,
            **({"held_for_reserve": self.reserve.held} if self.reserve else {}),
            "prediction": self.estimates.report(),
        }

    def notes(self) -> list[bytes]:
        return self.account.lines
