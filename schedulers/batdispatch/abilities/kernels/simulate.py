"""Lets a kernel run over the jobs of a workload."""

from __future__ import annotations

import ctypes
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.kernels import node_plan, plan, slurm
from batdispatch.abilities.kernels.columns import has_foresight, is_slurm
from batdispatch.abilities.kernels.foresight import Forecast
from batdispatch.abilities.kernels.library import call
from batdispatch.abilities.kernels.nodes import Demands, Nodes, nodes_of
from batdispatch.abilities.kernels.nodes import make_room as make_room_on_nodes
from batdispatch.abilities.kernels.openings import Openings, openings_of
from batdispatch.abilities.kernels.queue_order import beside_of, order_of
from batdispatch.abilities.kernels.sleepers import Sleepers, lacks_room, switches_of
from batdispatch.abilities.kernels.sleepers import make_room as make_room_for_switches
from batdispatch.abilities.kernels.state import (
    ALL_OVER,
    ASKS,
    AT_PAUSE,
    AT_STOP,
    FULL,
    MOST_ASKED,
    Counts,
    Floats,
    Ints,
    Jobs,
    begin,
    make_room,
    make_room_for_calls,
)
from batdispatch.core.jobs.fields import MAX_MOMENT
from batdispatch.dispatchers.backfilling.conservative import Conservative
from batdispatch.dispatchers.backfilling.easy import Easy
from batdispatch.dispatchers.backfilling.filler import Filler
from batdispatch.dispatchers.backfilling.queue import PlanningQueue, QueueDispatcher
from batdispatch.engines.simulation import Refusal, time_is_over

# Which dispatcher decides in `run_queue`.
FCFS, FILLER, EASY_COUNT, EASY_HOSTS = range(4)

#: Steps that a plan has room for to begin with: of whole hosts, and of nodes.
PLAN_STEPS, NODE_PLAN_STEPS = 1024, 64
#: Moments that a kernel simulates before it tells how far it is, and lets itself be interrupted.
SLICE = 50_000


class Schedule(NamedTuple):
    """What became of the jobs, by rank. Times in seconds.

    The hosts of a job are ``runs`` runs of consecutive ids, ``first[at]`` to ``last[at]`` and so on from ``at`` on.
    """

    start: Floats
    end: Floats
    #: What happened, in order: job * KINDS + kind, see `batdispatch.abilities.kernels.state`.
    log: Ints
    at: Ints
    runs: Counts
    first: Counts
    last: Counts
    #: Messages that the engine would have exchanged with the dispatcher.
    messages: int
    #: Where jobs share nodes: units on each host of each job, in the order of the runs.
    counts: Ints | None = None
    #: Of hosts that sleep, if any do.
    switches: Mapping[str, NDArray[Any]] | None = None


def schedule_of(
    jobs: Jobs,
    runs: NDArray[np.int64],
    dispatcher: QueueDispatcher,
    progress: Callable[[int], None] | None = None,
    demands: Demands | None = None,
    sleepers: Sleepers | None = None,
) -> Schedule:
    """Simulate to the end, and return what became of the jobs.

    Args:
        jobs: the jobs.
        runs: int64 [run, 2], first and last host of each run of hosts that run jobs.
        dispatcher: whose kernel is to decide.
        progress: called with the number of jobs that are over.
        demands: what the jobs ask for, if that is not a number of whole hosts, any ones.
        sleepers: hosts that sleep, if any may.

    Raises:
        Refusal: the kernel cannot go on.
    """
    if sleepers is not None and not len(jobs.units):
        raise Refusal("there are no jobs")
    simulation = _simulation_of(jobs, runs, dispatcher, demands)
    if sleepers is not None:
        simulation.let_sleep(sleepers)
    while True:
        answer = simulation.go_on(SLICE)
        if answer == ALL_OVER:
            simulation.finish()
            break
        if answer == FULL:
            simulation.grow()
        elif answer == AT_STOP:
            raise Refusal(
                "a place in the plan is too short for a job by less than the tolerance for late ends, or a job starts "
                "later than planned, which kernels do not settle"
            )
        elif progress is not None:
            progress(simulation.state.starts - simulation.state.running)
    if simulation.state.waiting:
        raise Refusal("jobs wait, and nothing is left to happen")
    state, of, nodes = simulation.state, simulation.state.arrays, simulation.nodes
    if not state.now <= MAX_MOMENT:
        moments = [of["end"]] if sleepers is None else [of["end"], switches_of(sleepers)["event_at"]]
        raise time_is_over(min(float(each[each > MAX_MOMENT].min(initial=state.now)) for each in moments))
    return Schedule(
        start=of["start"],
        end=of["end"],
        log=of["log"][: state.lines],
        at=of["hosts_at"],
        runs=of["hosts_runs"],
        first=of["first"][: state.runs],
        last=of["last"][: state.runs],
        # The engine tells of the end as well, and where there are no jobs, of that.
        messages=state.messages + (1 if state.jobs else 2),
        counts=None if nodes is None else nodes.arrays["counts"][: nodes.counted],
        switches=None if sleepers is None else switches_of(sleepers),
    )


def room_for(jobs: Jobs, runs: NDArray[np.int64]) -> int:
    """Return how many runs of hosts the jobs of a workload may have, to begin with."""
    return 4 * len(jobs.units) + len(runs) + 1024


def _simulation_of(jobs: Jobs, runs: Ints, dispatcher: QueueDispatcher, demands: Demands | None) -> _Simulation:
    if isinstance(dispatcher, Conservative):
        return _Planning(jobs, runs, dispatcher) if demands is None else _NodePlanning(jobs, runs, dispatcher, demands)
    if isinstance(dispatcher, PlanningQueue) and is_slurm(dispatcher):
        return _Slurm(jobs, runs, dispatcher, demands)
    return _Queueing(jobs, runs, dispatcher, demands)


class _Simulation(ABC):
    """A simulation that a kernel takes on step by step."""

    def __init__(self, jobs: Jobs, runs: Ints, dispatcher: QueueDispatcher, demands: Demands | None = None) -> None:
        room = room_for(jobs, runs)
        self.nodes: Nodes | None = None
        self.openings: Openings | None = None
        self.sleepers: Sleepers | None = None
        if demands is None:
            self.state = begin(jobs, runs, room)
        else:
            self.state = begin(jobs, runs, room, demands.most)
            self.nodes = nodes_of(demands, self.state)
            self.openings = openings_of(demands, jobs, self.state, plans=dispatcher.plans_openings)
            if self.openings is not None:
                self.nodes.openings = ctypes.addressof(self.openings)
        self._forecast: Forecast | None = None
        if isinstance(dispatcher, PlanningQueue) and has_foresight(dispatcher):
            self._forecast = Forecast(jobs, dispatcher, self.state)

    def let_sleep(self, sleepers: Sleepers) -> None:
        """Let hosts sleep, before anything happens."""
        self.state.sleepers, self.sleepers = ctypes.addressof(sleepers), sleepers
        # The layer decides for the first time when the simulation begins.
        self.state.decides = 1

    @abstractmethod
    def go_on(self, moments: int) -> int:
        """Simulate so many moments more, and return how that ended."""

    def _run(self, kernel: str, most: int, *given: object) -> int:
        """Let a kernel run, at most so many moments and with a forecast whenever it asks; return how that ended."""
        forecast = self._forecast
        for _ in range(most):
            answer: int = call(kernel, self.state, *given, None if forecast is None else forecast.record, most)
            if answer == ALL_OVER and forecast is not None:
                forecast.hear(math.inf)
            if answer != ASKS or forecast is None:
                return answer
            forecast.predict()
        return AT_PAUSE

    def grow(self) -> None:
        """Make more room for what lacks it."""
        if self.state.calls + MOST_ASKED > self.state.most_calls:
            make_room_for_calls(self.state)
        elif self.sleepers is not None and lacks_room(self.sleepers, self.state.size):
            make_room_for_switches(self.sleepers, self.state.size)
        else:
            make_room(self.state, 2 * self.state.room + self.state.size)
            if self.nodes is not None:
                make_room_on_nodes(self.nodes, self.state.room)

    def finish(self) -> None:
        """Tell the dispatcher what it reports of a simulation that is over."""


class _Queueing(_Simulation):
    """A simulation of a dispatcher that plans no further than the first of the queue."""

    def __init__(self, jobs: Jobs, runs: Ints, dispatcher: QueueDispatcher, demands: Demands | None) -> None:
        super().__init__(jobs, runs, dispatcher, demands)
        self._rule = FCFS
        if isinstance(dispatcher, Filler):
            self._rule = FILLER
        elif isinstance(dispatcher, Easy):
            self._rule = EASY_HOSTS if dispatcher.options.reservation == "hosts" else EASY_COUNT
        sums = (np.array([self.state.size]), jobs.units) if demands is None else demands.sums()
        self._order, self._beside = order_of(jobs, self.nodes), beside_of(dispatcher.ordering, self.state, *sums)

    def go_on(self, moments: int) -> int:
        # An order by key takes the longer, the longer the queue is.
        most = moments if self._order is None else max(moments // 50, 1)
        return self._run("run_queue", most, self.nodes, self._order, self._beside, self._rule)


class _Slurm(_Simulation):
    """A simulation of slurm-backfill."""

    def __init__(self, jobs: Jobs, runs: Ints, dispatcher: PlanningQueue, demands: Demands | None) -> None:
        super().__init__(jobs, runs, dispatcher, demands)
        self._dispatcher: Any = dispatcher
        self._slurm = slurm.slurm_of(jobs, runs, dispatcher, demands, self.nodes)
        self._order = order_of(jobs, self.nodes)
        if demands is not None and self._order is not None:
            self._order.hold(tier=_tiers(demands))

    def go_on(self, moments: int) -> int:
        # As in an order by key.
        return self._run("run_slurm", max(moments // 50, 1), self._slurm, self._order)

    def grow(self) -> None:
        tried = min(self.state.waiting, self._slurm.most_tried)
        if 2 * tried + 1 > self._slurm.most_records:
            slurm.make_room(self._slurm, 4 * tried + 1)
        else:
            super().grow()

    def finish(self) -> None:
        self._dispatcher.passes, self._dispatcher.backfilled = self._slurm.passes, self._slurm.backfilled


def _tiers(demands: Demands) -> Ints:
    """Return a number for each job, int64 [job]; the smallest goes first, as `Partitions.in_order` has it."""
    _, tiers = np.unique([-part.tier for part in demands.parts], return_inverse=True)
    return np.where(demands.reserved, 0, len(tiers)) + tiers[demands.part]


class _Planning(_Simulation):
    """A simulation of a dispatcher that plans all waiting jobs."""

    def __init__(self, jobs: Jobs, runs: Ints, dispatcher: Conservative) -> None:
        super().__init__(jobs, runs, dispatcher)
        self._plan = plan.empty(len(jobs.units), runs, steps=PLAN_STEPS, kept=PLAN_STEPS // 2)
        self._slack = dispatcher.lateness.slack

    def go_on(self, moments: int) -> int:
        # Each one takes the longer, the longer the queue is.
        answer: int = call("run_conservative", self.state, self._plan, self._slack, max(moments // 50, 1))
        return answer

    def grow(self) -> None:
        state, kept = self.state, self._plan
        booked = state.waiting + state.running + (0 if self.sleepers is None else self.sleepers.booting)
        if min(kept.blocks + booked, kept.hosts) > kept.most_blocks:
            plan.join_blocks(kept, booked)
        elif 2 * booked + 6 > kept.most_steps or booked + 2 > kept.most_kept:
            plan.make_room(kept, 2 * kept.most_steps + 8, 2 * kept.most_kept + 4)
        else:
            super().grow()


class _NodePlanning(_Simulation):
    """A simulation of a dispatcher that plans all waiting jobs, on nodes."""

    def __init__(self, jobs: Jobs, runs: Ints, dispatcher: Conservative, demands: Demands) -> None:
        super().__init__(jobs, runs, dispatcher, demands)
        assert self.nodes is not None
        keeps = dispatcher.keeps_places(demands.machine)
        self._plan = node_plan.empty(self.nodes, len(jobs.units), NODE_PLAN_STEPS, keeps_places=keeps)
        self._slack, self._order = dispatcher.lateness.slack, order_of(jobs)

    def go_on(self, moments: int) -> int:
        # Each one takes the longer, the longer the queue is.
        given = (self.state, self.nodes, self._plan, self._order, self._slack)
        answer: int = call("run_conservative_on_nodes", *given, max(moments // 50, 1))
        return answer

    def grow(self) -> None:
        booked = self.state.waiting + self.state.running
        if 2 * booked + 6 > self._plan.most_steps:
            node_plan.make_room(self._plan, 4 * booked + 12)
        else:
            super().grow()
