"""Jobs pinned to I/O nodes, on a line of nodes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.solvers.pinned_io.course import Course, Turn
from batdispatch.abilities.solvers.pinned_io.line import Line, Order, RangeFinder
from batdispatch.abilities.solvers.pinned_io.ranges import Floats, Ranges
from batdispatch.abilities.solvers.solving import Account, Limits, SolverResult
from batdispatch.core.errors import InputError
from batdispatch.core.hosts.allocation import Place
from batdispatch.core.jobs.job import Job, Stay
from batdispatch.core.line.concerns.holds import Holds
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.events import Event, MachinesAvailable, MachinesUnavailable
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options
from batdispatch.core.line.roles import Gap
from batdispatch.core.plans.correction import LEAST
from batdispatch.core.plans.lateness import Lateness
from batdispatch.core.plans.moments import end_of
from batdispatch.parts.ordering import make_ordering
from batdispatch.parts.ordering.window import in_order
from batdispatch.parts.prediction import Predictions

Positive = Annotated[float, msgspec.Meta(gt=0)]


class PinnedIoOptions(Options, frozen=True, kw_only=True):
    """Options of pinned-io.

    line: Put the nodes in line in this order: by name (`names`), by number (`ids`), or along a curve through a torus or
        mesh (`row-major`, `snake`, `hilbert`). `auto`: `snake` on a torus or mesh, else `names`.
    window: End a batch this many seconds after it was planned. Jobs that are planned to end later stay in the queue. As
        long as jobs stay, each batch may last twice as long as the one before. `inf`: a batch holds all jobs that wait.
    batch: Plan at most this many of the waiting jobs together, the first ones in order.
    fill: Let jobs run out of turn on nodes that the plan leaves free for long enough. `false`: each job waits for its
        turn.
    ordering: Take the waiting jobs in this order, both to plan a batch and to let jobs run out of turn (`batdispatch
        list orderings`).
    prediction: Expect jobs to run as long as this method says (`batdispatch list predictions`), but never longer than
        their walltimes.
    default_walltime: Plan a job without a walltime to run for this many seconds. `inf` (the default): as long as the
        longest job whose run time is expected to end. The option kills no job.
    rjms_delay: Add this many seconds to the expected run time of each job, in the plan only, for the time that the
        resource manager takes to end a job. 0 adds nothing. Batsim's reference schedulers add 5.
    level: After the rounding, move each job once to where the other jobs leave less load. `false`: leave the rounding
        as it is.
    work: Stop HiGHS after this many of its iterations for each plan.
    wall: Stop HiGHS after this many seconds of wall-clock time for each linear program. This is a safety net: a stop
        makes the run depend on the machine, so each one is counted as a fallback.
    """

    line: Order = "auto"
    window: Positive = 3600.0
    batch: Annotated[int, msgspec.Meta(ge=1)] = 1000
    fill: bool = True
    ordering: str = "fcfs"
    prediction: str = "requested"
    default_walltime: Positive = math.inf
    rjms_delay: Annotated[float, msgspec.Meta(ge=0, le=1e9)] = 0.0
    level: bool = True
    work: Positive = 5000.0
    wall: Positive = 60.0


class PinnedIo(Dispatcher):
    """Runs each job on neighbouring nodes of a line beside the I/O node that it is pinned to, for a short makespan.

    The waiting jobs are planned in batches. First a linear program and a rounding dedicate nodes to each job, so that
    no node has too much to do. Then the jobs are stacked in pillars, which gives each job its planned start [1, 2]. A
    plan is carried out in order: a job starts as soon as it is the next one on all of its nodes and all of these are
    free. So an early end lets other jobs start earlier, and a late end delays only jobs that come later on the same
    nodes. The next batch is planned when all jobs of this one have started.

    Typical use: machines on which a job has to run beside the I/O node that holds its data.
    Limits: it plans for a short makespan, not for short waits. It needs walltimes or a prediction. Each job has its
        nodes for itself. On a torus, neighbouring nodes are those that are neighbours on the line through the routers.
        There is no `placement`: the plan gives each job its range of the line, and its guarantee holds on no other.
    Guarantee:
        - `max load <= 2 Lambda` and `makespan <= held + 3 max load` for a plan whose jobs are all pinned, with Lambda
          the optimum of the linear program and held how long a node is taken already. On an idle machine `makespan <= 6
          Lambda <= 6 OPT`.
        - If no job outlives its expected end and no host goes away, no job starts later than planned.
        - If in addition all jobs take as long as expected, and each batch holds all waiting jobs (`window=inf`, and no
          more of them than `batch`), `makespan <= 26 OPT` [3].
    Time: `O(n m)` and `O(n^2)` vector operations for a batch of n jobs on m nodes, beside a few linear programs of `O(n
        + m)` rows. Any other decision looks only at the jobs whose turn it is, and with `fill` at the queue as well.
    Deviations:
        - The source plans one batch of jobs, each pinned to one I/O node, on an idle machine. Jobs that are pinned
          nowhere or to several I/O nodes, nodes that are taken when a batch is planned, levelling, and filling are
          ours.
        - Gergov's tentative schedule is packed anew from several lists, and the shortest schedule is kept. One of the
          lists has the guarantee.
        - The next batch is planned when all jobs of this one have started. In [3] it waits until all have ended, and
          holds all waiting jobs (`window=inf`).
    References:
        [1] Bleuse: "Apprehending heterogeneity at (very) large scale", PhD thesis, Université Grenoble Alpes, 2017, on
            pinned I/O.
        [2] Gergov: "Algorithms for compile-time memory optimization", SODA 1999.
        [3] Shmoys, Wein, Williamson: "Scheduling parallel machines on-line", SIAM Journal on Computing 24(6), 1995, pp.
            1313-1331, section 2.
    """

    #: It keeps a plan that no job is taken out of.
    heeds_reservations: ClassVar[bool] = False
    options_type: ClassVar[type[Options]] = PinnedIoOptions
    extra = "topology"
    effort = 2

    def __init__(self, options: Options | None = None, seed: int = 0) -> None:
        super().__init__(options, seed)
        self.ordering = make_ordering(self.options.ordering)
        self.predictions = Predictions(self.options.prediction, self.options.default_walltime)
        self.lateness = Lateness(self.options.rjms_delay)
        self.limits = Limits(work=self.options.work, wall=self.options.wall, seed=seed)
        self.account = Account()

    def begin(self, ledger: Ledger) -> None:
        self.ordering.begin(ledger)
        self.predictions.begin(ledger)
        try:
            self.line = Line(ledger.machine, self.options.line)
        except ValueError as problem:
            raise InputError(f"dispatcher pinned-io: option line: {problem}") from problem
        self.asking = RangeFinder(self.line, ledger.space)
        self.course = Course(len(self.line))
        #: Jobs that wait and are in no plan, by id.
        self._unplanned: dict[str, Job] = {}
        #: How many jobs run on each node, int64 [position].
        self._users = np.zeros(len(self.line), dtype=np.int64)
        #: How long the next batch may last, s.
        self._length = self.options.window
        self._void = False
        #: Whether there may be something to fill since the last decision.
        self._fresh = False

    # ------------------------------------------------------------------ what happens

    def on_submit(self, ledger: Ledger, job: Job) -> None:
        if self.asking.ranges(job) is None:
            ledger.reject(job, self._why_never(job))
            return
        self.predictions.of(job)
        self._unplanned[job.id] = job
        self._fresh = True

    def _why_never(self, job: Job) -> str:
        pins = ", ".join(job.request.io_nodes)
        where = f", one of which is next to I/O node {pins}" if len(job.request.io_nodes) == 1 else ""
        where = f", some of which are next to each of the I/O nodes {pins}" if len(job.request.io_nodes) > 1 else where
        return f"on the line of nodes ({self.options.line}) there are no neighbouring nodes for it{where}"

    def on_start(self, ledger: Ledger, stay: Stay) -> None:
        self._users[self.line.position[stay.allocation.ids]] += 1

    def on_end(self, ledger: Ledger, stay: Stay) -> None:
        self._users[self.line.position[stay.allocation.ids]] -= 1
        self.predictions.ended(stay, ledger.now)
        self.ordering.ended(stay, ledger.now)
        self._fresh = True

    def on_event(self, ledger: Ledger, event: Event) -> None:
        if isinstance(event, MachinesAvailable | MachinesUnavailable):
            self._void = True

    def lend(self, ledger: Ledger, job: Job, gap: Gap, place: Place) -> None:
        self._forget(job.id)

    def _forget(self, job_id: str) -> None:
        self._unplanned.pop(job_id, None)
        if job_id in self.course.turns:
            self.course.remove(job_id)

    # ------------------------------------------------------------------ deciding

    def decide(self, ledger: Ledger) -> None:
        if Holds.of(ledger).holds:
            self._continue(ledger)
        if self._void:
            # Windows came or went: plan those anew that have not started.
            self._unplanned = {job.id: job for job in ledger.queue.values()}
            self.course = Course(len(self.line))
            self._void, self._fresh = False, True
        self._start_in_turn(ledger)
        while not self.course.turns and self._unplanned and self._plan(ledger):
            self._fresh = True
            self._start_in_turn(ledger)
        if self._fresh and self.options.fill:
            self._fill(ledger)
        self._fresh = False

    def _continue(self, ledger: Ledger) -> None:
        """Start the jobs for which hosts are held."""
        for job in list(ledger.queue.values()):
            kept = Holds.of(ledger).held_for(job)
            if kept is not None and kept.units == job.units:
                self._start(ledger, job, Place(kept))

    def _start(self, ledger: Ledger, job: Job, place: Place) -> None:
        self._forget(job.id)
        ledger.start(ledger.queue[job.id], place)

    def _start_in_turn(self, ledger: Ledger) -> None:
        """Start the planned jobs that have their turn and whose nodes are free."""
        for turn in self.course.ready():
            if self._users[turn.start : turn.stop].any():
                continue
            allocation = self.asking.allocation(turn.job, ledger.free, turn.start, turn.stop)
            if allocation is not None:
                self._start(ledger, turn.job, Place(allocation))

    def _plan(self, ledger: Ledger) -> bool:
        """Plan a batch of waiting jobs, and return whether there are any that could be planned."""
        began = self.clock()
        jobs: list[Job] = []
        ranges: list[Ranges] = []
        # A layer may have amended a job since it came.
        waiting = [ledger.queue[job_id] for job_id in self._unplanned]
        for job in in_order(ledger, self.ordering, waiting, self.predictions.of):
            found = self.asking.ranges(job, ledger.unavailable)
            if found is not None:
                jobs.append(job)
                ranges.append(found)
                if len(jobs) == self.options.batch:
                    break
        if not jobs:
            return False
        # SciPy takes a tenth of a second to load, which commands that only list dispatchers should not pay.
        from batdispatch.abilities.solvers.pinned_io.planning import plan

        durations, held = self._times(ledger, jobs)
        built = self.clock()
        made = plan(held, ranges, durations, self.limits, level=self.options.level)
        ends = made.times + durations
        window = self._length
        while not (ends <= window).any():
            window *= 2
        kept = np.flatnonzero(ends <= window)
        self._length = self.options.window if len(kept) == len(jobs) == len(self._unplanned) else 2 * window
        order = kept[np.lexsort((kept, made.times[kept]))]
        for index in order.tolist():
            job = jobs[index]
            del self._unplanned[job.id]
            time = end_of(ledger.now, float(made.times[index]))
            self.course.add(Turn(job, time, int(made.starts[index]), int(made.stops[index])))
        solved = made.shares.optimal
        found_plan = SolverResult(
            solution=made,
            cost=made.makespan,
            status="OPTIMAL" if made.makespan <= made.bound * (1 + 1e-9) else "FEASIBLE" if solved else "UNKNOWN",
            bound=made.bound,
            first=float(held.max()) + made.stacked,
            variables=made.shares.variables,
            constraints=made.shares.constraints,
            build_seconds=built - began,
            solve_seconds=self.clock() - built,
            work=made.shares.work,
            limited=made.shares.limited,
        )
        facts = {
            "jobs": len(jobs),
            "batch": len(kept),
            "running": len(ledger.running),
            "lp_bound": made.lp_bound,
            "largest_load": made.largest_load,
            "own_load": made.own_load,
            "stacked": made.stacked,
            "held": float(held.max()),
            "load_ratio": made.largest_load / made.lp_bound,
            "length_ratio": made.makespan / made.largest_load,
        }
        self.account.add(ledger.now, found_plan, facts)
        return True

    def _times(self, ledger: Ledger, jobs: Sequence[Job]) -> tuple[Floats, Floats]:
        """Return how long jobs are expected to run, and for how long each node is taken already, in seconds.

        What is expected to take for ever is planned to take as long as the longest that is not.
        """
        now = ledger.now
        durations = np.array([self._booked(job) for job in jobs])
        ends = [(stay, self.predictions.end(stay, now, self.lateness)) for stay in ledger.running.values()]
        finite = [*durations[np.isfinite(durations)].tolist(), *(end - now for _, end in ends if end < math.inf)]
        longest = max(max(finite, default=0.0), LEAST)
        durations[np.isinf(durations)] = longest
        held = np.where(self._idle(ledger), 0.0, LEAST)
        for stay, end in ends:
            places = self.line.position[stay.allocation.ids]
            left = longest if end == math.inf else max(end - now, LEAST)
            held[places] = np.maximum(held[places], left)
        return durations, held

    def _booked(self, job: Job) -> float:
        return self.lateness.booked(self.predictions.of(job))

    def _idle(self, ledger: Ledger) -> NDArray[np.bool_]:
        """Return which nodes are there and used by nobody, bool [position]."""
        whole = (ledger.space.table(ledger.free) == ledger.machine.capacity).all(axis=1)[self.line.hosts]
        return np.asarray(whole & (self._users == 0))

    # ------------------------------------------------------------------ filling

    def _fill(self, ledger: Ledger) -> None:
        """Start jobs out of turn where they end before the next planned start on their nodes.

        Jobs of the plan may go to other nodes than planned by that.
        """
        waiting = [ledger.queue[job_id] for job_id in (*self.course.turns, *self._unplanned)]
        if not waiting:
            return
        idle = self._idle(ledger)
        # Until when each node may be used, s.
        until = np.where(idle, self.course.next + self.lateness.slack, -math.inf)
        widest, latest = _longest_run(idle), float(until.max(initial=-math.inf))
        now, machine = ledger.now, ledger.machine
        hopeful = [
            job
            for job in waiting
            if now + self._booked(job) <= latest and (job.units <= widest or not machine.takes_any_hosts(job.request))
        ]
        for job in in_order(ledger, self.ordering, hopeful, self.predictions.of):
            ranges = self.asking.ranges(job)
            if ranges is None or (job.units > widest and machine.takes_any_hosts(job.request)):
                continue
            fitting = np.flatnonzero(ranges.all_of(until >= end_of(now, self._booked(job))))
            for index in fitting[:1].tolist():
                start, stop = int(ranges.starts[index]), int(ranges.stops[index])
                allocation = self.asking.allocation(job, ledger.free, start, stop)
                if allocation is not None:
                    self._start(ledger, job, Place(allocation))
                    # Its own planned start may have been what limited others.
                    idle[start:stop] = False
                    until = np.where(idle, self.course.next + self.lateness.slack, -math.inf)
                    widest = _longest_run(idle)

    # ------------------------------------------------------------------ what is told

    def report(self) -> dict[str, Any]:
        return {**self.account.report(), "prediction": self.predictions.report()}

    def notes(self) -> list[bytes]:
        return self.account.lines


def _longest_run(chosen: NDArray[np.bool_]) -> int:
    """Return the length of the longest run of chosen positions."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], chosen.astype(np.int8), [0]])))
    return int((edges[1::2] - edges[::2]).max(initial=0))
