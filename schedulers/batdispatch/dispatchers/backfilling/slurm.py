"""Slurm's two ways of scheduling: strictly in order at each event, and backfilling now and then."""

from __future__ import annotations

import math
from itertools import islice
from typing import Annotated, Any, ClassVar

import msgspec

from batdispatch.core.hosts.allocation import Place
from batdispatch.core.jobs.job import Job, Stay
from batdispatch.core.jobs.request import Request
from batdispatch.core.line.events import Event, MachinesAvailable, MachinesUnavailable
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options
from batdispatch.core.line.scene import Scene
from batdispatch.core.plans.lateness import TOLERANCE
from batdispatch.core.plans.moments import end_of
from batdispatch.core.plans.pace import Pace
from batdispatch.core.plans.reservations import Reservation, reservations_between
from batdispatch.core.plans.timeline import Timeline
from batdispatch.dispatchers.backfilling.queue import Ends, PlanningQueue, PlanOptions


class SlurmOptions(PlanOptions, frozen=True, kw_only=True):
    """Options of slurm-backfill. The names in brackets are Slurm's.

    ordering: Take the waiting jobs in this order: Slurm's `basic`, or `multifactor` with weights (PriorityType), or any
        other ordering.
    queue_depth: Try at most this many jobs at each event (default_queue_depth).
    interval: Make at most one backfill pass in this many seconds of simulated time (bf_interval). 0: a pass at each
        event.
    depth: Try at most this many jobs in a backfill pass (bf_max_job_test).
    reservations: Reserve nodes for this many of the jobs that cannot start, in each pass (bf_job_part_count_reserve). 0
        (the default): for all that the pass tries.
    window: Reserve nothing for a job that could only start more than this many seconds from now (bf_window, which is in
        minutes).
    """

    ordering: str = "basic"
    queue_depth: Annotated[int, msgspec.Meta(ge=1)] = 100
    interval: Annotated[float, msgspec.Meta(ge=0)] = 30.0
    depth: Annotated[int, msgspec.Meta(ge=1)] = 100
    reservations: Annotated[int, msgspec.Meta(ge=0)] = 0
    window: Annotated[float, msgspec.Meta(ge=0)] = 86_400.0


class SlurmBackfill(PlanningQueue):
    """Starts jobs in order at each event. Now and then, a pass lets others run ahead if that delays none.

    A backfill pass takes the waiting jobs in order. A job starts if it can now, and can stay until its expected end on
    nodes that are reserved for nobody in that time. Otherwise the nodes of its earliest start are reserved for it, and
    always as whole nodes, even if the job would use only a part of each. The next pass makes all reservations anew.

    Typical use: the baseline for clusters that run Slurm, and for papers that compare themselves with Slurm.
    Limits: a job that fits, but stands behind one that does not, waits for the next pass. A job beyond `depth` is not
        looked at while as many jobs wait before it. It needs walltimes, as Slurm's backfilling does.
    Guarantee: `start(head) <= reserved(head)`, its start in the first pass in which it is the head of the queue, if it
        stays the head, no job outlives its expected end, no host goes away, and the placement finds a place whenever
        there is one. There is no guarantee for a job whose reservation would begin later than `window` from then, nor
        for the jobs behind the head.
    Time: `O(d s)` for d jobs tried in a pass, at most `depth`, with s steps of what runs and what is reserved. An event
        costs `O(k)` placements for k jobs started, and `O(q log q)` more for q waiting jobs with an ordering that
        changes over time.
    Deviations:
        - Slurm looks every `bf_interval` whether there is something to do. Here a pass comes with the event, or, if the
          last pass is less than `interval` old, as soon as it is that old.
        - A pass takes no simulated time. Slurm's takes seconds with long queues, and gives locks back in between
          (`bf_max_time`, `bf_yield_interval`, `bf_continue`).
        - A reservation keeps licences as well as nodes.
        - Partitions, qualities of service, arrays and advance reservations are enforced before the dispatcher sees a
          job, as for every dispatcher. A pass plans around advance reservations to come. In the main loop, a job to
          which they leave no node at all now holds up nobody.
        - Left out: rounding of times to `bf_resolution`, the main loop's `sched_interval`, limits per partition and
          user in a pass (`bf_max_job_part`, `bf_max_job_user`, `bf_max_job_start`), preemption, requeueing,
          heterogeneous jobs.
    References:
        [1] SchedMD: Scheduling Configuration Guide, https://slurm.schedmd.com/sched_config.html; slurm.conf,
            https://slurm.schedmd.com/slurm.conf.html; Multifactor Priority Plugin,
            https://slurm.schedmd.com/priority_multifactor.html.
        [2] Yoo, Jette, Grondona: "SLURM: simple Linux utility for resource management", JSSPP 2003, LNCS 2862, pp.
            44-60. doi:10.1007/10968987_3
    """

    #: Id of each job that the last backfill pass reserved nodes for -> when its reservation begins, s.
    reserved: dict[str, float]
    options_type: ClassVar[type[Options]] = SlurmOptions
    effort = 1
    plans_openings = True

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        self.ends = Ends()
        self.reserved = {}
        self._pace = Pace(self.options.interval)
        #: Whether jobs or capacity came since the last backfill pass.
        self._changed = False
        #: Passes so far, and the jobs that they started.
        self._passes = self._backfilled = 0

    def on_submit(self, ledger: Ledger, job: Job) -> None:
        super().on_submit(ledger, job)
        self._changed = True

    def on_start(self, ledger: Ledger, stay: Stay) -> None:
        self.ends.add(stay, end_of(ledger.now, self.booked(stay.job)))

    def on_end(self, ledger: Ledger, stay: Stay) -> None:
        super().on_end(ledger, stay)
        self.ends.remove(stay.job.id)
        self._changed = True

    def on_event(self, ledger: Ledger, event: Event) -> None:
        turns = self.prospects.turns
        super().on_event(ledger, event)
        self._changed |= isinstance(event, MachinesAvailable | MachinesUnavailable) or self.prospects.turns > turns

    def decide(self, ledger: Ledger) -> None:
        self._changed |= bool(self.correct(self.ends))
        self.start_from_head(ledger, self.options.queue_depth)
        self.fresh = []
        if self.waiting and self._changed and self._pace.due(ledger):
            started = self._backfill(ledger)
            self.forget_started(started)
            self._passes += 1
            self._backfilled += len(started)
            # Jobs behind the depth have come within it.
            self._changed = bool(started) and len(self.waiting) + len(started) > self.options.depth
            # Where a pass comes with each event, the next event will do.
            if self._changed and self.options.interval:
                self._pace.call(ledger)

    def _backfill(self, ledger: Ledger) -> list[Job]:
        """Start the jobs that may run ahead, and return them."""
        now, space = ledger.now, ledger.space
        most = self.options.reservations or self.options.depth
        plan = _Plan(self, ledger)
        started: list[Job] = []
        self.reserved = {}
        #: What asks for more than is free now. Capacity only shrinks during a pass.
        hopeless: set[Request] = set()
        for job in islice(self.in_order(ledger), self.options.depth):
            latest = now + self.options.window if len(self.reserved) < most else now
            if latest == now and (job.request in hopeless or not space.fits(plan.free_now, job)):
                hopeless.add(job.request)
                continue
            found = plan.earliest(job, latest)
            if found is None:
                continue
            start, place = found
            if start <= now and self.is_free(job, place):
                plan.keep(job, place, start, whole=False)
                ledger.start(job, place)
                started.append(job)
            elif len(self.reserved) < most:
                plan.keep(job, place, start, whole=True)
                self.reserved[job.id] = start
        self.call_if_missed(min(self.reserved.values(), default=math.inf))
        return started

    def idle_until(self, ledger: Ledger) -> float:
        due = self.waiting and self._changed
        return min(super().idle_until(ledger), self._pace.next - TOLERANCE if due else math.inf)

    def report(self) -> dict[str, Any]:
        return {**super().report(), "backfill_passes": self._passes, "backfilled": self._backfilled}


class _Plan:
    """What is free from now on, in one backfill pass, if running jobs end when expected."""

    def __init__(self, queue: SlurmBackfill, ledger: Ledger) -> None:
        self._queue = queue
        self._ledger = ledger
        #: What running jobs hold, and what this pass has reserved or started.
        self._kept = [
            Reservation(stay.job, -math.inf, max(end, ledger.now), Place(stay.allocation))
            for end, _, stay in queue.ends
        ]
        self._timeline: Timeline[Any] = Timeline.rising(
            ledger.space,
            ledger.now,
            ledger.free,
            ((kept.end, kept.job, kept.place.allocation) for kept in self._kept),
            None if ledger.openings is None else ledger.openings.opened,
        )
        if ledger.unavailable:
            self._timeline.restrict(~ledger.unavailable)

    @property
    def free_now(self) -> Any:
        """What is free at this moment, and reserved for nobody from now on."""
        return self._timeline.at(self._ledger.now)

    def earliest(self, job: Job, latest: float) -> tuple[float, Place] | None:
        """Return a job's earliest start up to `latest`, in seconds, and its place; None if there is none."""
        return self._timeline.earliest(job, self._queue.booked(job), self._place, after=self._ledger.now, latest=latest)

    def keep(self, job: Job, place: Place, start: float, *, whole: bool) -> None:
        """Take a job's place, or its nodes `whole`, out of what is free from `start` to the job's expected end."""
        end = end_of(start, self._queue.booked(job))
        self._timeline.reserve(job, place.allocation, start, end)
        if whole:
            self._timeline.restrict(~place.allocation.mask, start, end)
        self._kept.append(Reservation(job, start, end, place))

    def _place(self, free: Any, job: Job, start: float, end: float) -> Place | None:
        scene = Scene(self._ledger, free, lambda: reservations_between(self._kept, start, end), None, start)
        return self._queue.placement.place(scene, job)
