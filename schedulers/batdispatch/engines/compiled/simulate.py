"""Lets a kernel run over the jobs of a workload."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.dispatchers.backfilling.conservative import Conservative
from batdispatch.dispatchers.backfilling.easy import Easy
from batdispatch.dispatchers.backfilling.filler import Filler
from batdispatch.dispatchers.backfilling.queue import QueueDispatcher
from batdispatch.engines.compiled import conservative, plan, queue_kernel
from batdispatch.engines.compiled.state import (
    ALL_OVER,
    ENDS,
    FULL,
    KINDS,
    LOG_LINES,
    MESSAGES,
    RUNNING_JOBS,
    RUNS,
    WAITING_JOBS,
    Counts,
    Floats,
    Ints,
    Jobs,
    begin,
    with_room,
)
from batdispatch.engines.simulation import Refusal

#: Moments that a kernel simulates before it tells how far it is, and lets itself be interrupted.
SLICE = 50_000


class Schedule(NamedTuple):
    """What became of the jobs, by rank. Times in seconds.

    The hosts of a job are ``runs`` runs of consecutive ids, ``first[at]`` to ``last[at]`` and so on from ``at`` on.
    """

    start: Floats
    end: Floats
    #: What happened, in order: job * KINDS + kind, see `batdispatch.engines.compiled.state`.
    log: Ints
    at: Ints
    runs: Counts
    first: Counts
    last: Counts
    #: Messages that the engine would have exchanged with the dispatcher.
    messages: int


def schedule_of(
    jobs: Jobs,
    runs: NDArray[np.int64],
    dispatcher: QueueDispatcher,
    progress: Callable[[int], None] | None = None,
) -> Schedule:
    """Simulate to the end, and return what became of the jobs.

    Args:
        jobs: the jobs.
        runs: int64 [run, 2], first and last host of each run of hosts that run jobs.
        dispatcher: whose kernel is to decide.
        progress: called with the number of jobs that are over.

    Raises:
        Refusal: the kernel cannot go on.
    """
    simulation = (
        _Planning(jobs, runs, dispatcher) if isinstance(dispatcher, Conservative) else _Queueing(jobs, runs, dispatcher)
    )
    while True:
        answer = simulation.go_on(SLICE)
        if answer == ALL_OVER:
            break
        if answer == FULL:
            simulation.grow()
        elif answer == conservative.AT_STOP:
            raise Refusal(
                "a place in the plan is too short for a job by less than the tolerance for late ends, which kernels do "
                "not settle"
            )
        elif progress is not None:
            log = simulation.state.log
            progress(int(np.count_nonzero(log[: simulation.state.count[LOG_LINES]] % KINDS == ENDS)))
    state = simulation.state
    used, count = int(state.count[RUNS]), state.count
    return Schedule(
        start=state.start,
        end=state.end,
        log=state.log[: count[LOG_LINES]],
        at=state.hosts_at,
        runs=state.hosts_runs,
        first=state.first[:used],
        last=state.last[:used],
        # The engine tells of the end as well.
        messages=int(count[MESSAGES]) + 1,
    )


def room_for(jobs: Jobs, runs: NDArray[np.int64]) -> int:
    """Return how many runs of hosts the jobs of a workload may have, to begin with."""
    return 4 * len(jobs.units) + len(runs) + 1024


class _Queueing:
    """A simulation of a dispatcher that plans no further than the first of the queue."""

    def __init__(self, jobs: Jobs, runs: Ints, dispatcher: QueueDispatcher) -> None:
        self.state = begin(jobs, runs, room_for(jobs, runs))
        self._number = queue_kernel.FCFS
        if isinstance(dispatcher, Filler):
            self._number = queue_kernel.FILLER
        elif isinstance(dispatcher, Easy):
            by_hosts = dispatcher.options.reservation == "hosts"
            self._number = queue_kernel.EASY_HOSTS if by_hosts else queue_kernel.EASY_COUNT

    def go_on(self, moments: int) -> int:
        """Simulate so many moments more, and return how that ended."""
        return queue_kernel.run(self.state, self._number, moments)

    def grow(self) -> None:
        """Make more room."""
        self.state = with_room(self.state, 2 * len(self.state.first) + self.state.size)


class _Planning:
    """A simulation of a dispatcher that plans all waiting jobs."""

    def __init__(self, jobs: Jobs, runs: Ints, dispatcher: Conservative) -> None:
        self.state = begin(jobs, runs, room_for(jobs, runs))
        self._plan = plan.empty(len(jobs.units), runs, steps=room_for_plan(), kept=room_for_plan() // 2)
        self._slack = dispatcher.lateness.slack

    def go_on(self, moments: int) -> int:
        """Simulate so many moments more, and return how that ended."""
        # Each one takes the longer, the longer the queue is.
        return conservative.run(self.state, self._plan, self._slack, max(moments // 50, 1))

    def grow(self) -> None:
        """Make more room for what lacks it."""
        state, kept = self.state, self._plan
        booked = int(state.count[WAITING_JOBS] + state.count[RUNNING_JOBS])
        if not plan.has_blocks_for(kept, booked):
            self._plan = plan.with_joined_blocks(kept, booked)
        elif not plan.has_room_for(kept, booked):
            self._plan = plan.with_room(kept, 2 * len(kept.times) + 8, 2 * len(kept.kept) + 4)
        else:
            self.state = with_room(state, 2 * len(state.first) + state.size)


def room_for_plan() -> int:
    """Return how many steps a plan has room for, to begin with."""
    return 1024
