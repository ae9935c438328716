"""A dispatching instance: what is decided at one moment.

Times are whole seconds from now. Durations are rounded up, so that a plan on this grid can be carried out. The space
says what fits and what a job takes, and the placement says where a job goes: an instance only remembers who takes part.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.capacity.space import Space
from batdispatch.core.capacity.totals import ResourceTotals
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job, Stay
from batdispatch.core.jobs.request import Request
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.plans.lateness import TOLERANCE, Lateness
from batdispatch.core.plans.list_schedule import End
from batdispatch.core.plans.timeline import Opener

#: Longest duration that models know, in seconds; stands for "for ever".
FOREVER = 10**8
#: A second of delay of a job of duration d costs ``max(1, round(SCALE / d))``.
SCALE = 10**6
#: A plan that adds nothing for late ends.
ON_TIME = Lateness()


class RunningJob(NamedTuple):
    """A running job, its expected end in whole seconds from now, and the allocation that it then gives back.

    Nothing is given back on hosts that are away.
    """

    stay: Stay
    seconds: int
    allocation: Allocation


class Instance:
    """Some queued jobs, the machine, and the running jobs on it, at one moment. An instance never changes.

    Attributes:
        ledger: the cluster at this moment.
        space: how capacity is counted: the ledger's space, or a `ResourceTotals` where all nodes are taken for one.
        pool: sums over the machine, for bounds.
        free: what is free now, a value of `space`.
        jobs: the queued jobs, in the order that a dispatcher gave them.
        runtimes: int64 [job], expected run times in s, at least 1.
        durations: int64 [job], for how many seconds a plan keeps what each job uses: its expected run time, and what
            the plan adds for late ends.
        waits: float64 [job], s waited so far.
        running: the running jobs, soonest end first.
    """

    def __init__(
        self,
        ledger: Ledger,
        jobs: Sequence[Job],
        expected: Callable[[Job], float],
        pool: ResourceTotals | None = None,
        *,
        pooled: bool = False,
        lateness: Lateness = ON_TIME,
        end: Callable[[Stay], float] | None = None,
    ) -> None:
        """Look at the ledger's cluster as it is now.

        Args:
            ledger: the cluster.
            jobs: queued jobs.
            expected: how long a job is expected to run, s.
            pool: of the ledger's space, where it is known already.
            pooled: whether all nodes are taken for one.
            lateness: how late ends may come.
            end: when a running job is expected to end, s; unless given, when it has run as long as expected. What is to
                have ended already is given a second, as published.
        """
        self.ledger = ledger
        self.pool = ResourceTotals(ledger.space) if pool is None else pool
        self.pooled = pooled
        self.space: Space[Any] = self.pool if pooled else ledger.space
        self.free: Any = ledger.space.pooled(ledger.free) if pooled else ledger.free
        self.jobs = tuple(jobs)
        runtimes = [expected(job) for job in jobs]
        self.runtimes = _on_grid(runtimes)
        self.durations = _on_grid([lateness.booked(runtime) for runtime in runtimes])
        self.waits: NDArray[np.float64] = np.array([ledger.now - job.submission for job in jobs], dtype=np.float64)
        self.running = self._running(end or (lambda stay: stay.start + lateness.booked(expected(stay.job))))

    def _running(self, end: Callable[[Stay], float]) -> tuple[RunningJob, ...]:
        now, away = self.ledger.now, self.ledger.unavailable
        running = [
            # What started a moment too late must not take a second more of the grid.
            RunningJob(stay, whole_seconds(end(stay) - now - TOLERANCE), stay.allocation)
            for stay in self.ledger.running.values()
        ]
        if away:
            running = [
                RunningJob(stay, seconds, kept)
                for stay, seconds, allocation in running
                if (kept := allocation.without(away)) is not None
            ]
        running.sort(key=lambda one: one.seconds)
        return tuple(running)

    def as_one_node(self) -> Instance:
        """Return the relaxation in which all nodes are one."""
        if self.pooled:
            return self
        relaxed: Instance = Instance.__new__(Instance)
        relaxed.__dict__.update({key: self.__dict__[key] for key in _FIELDS})
        relaxed.pooled, relaxed.space = True, self.pool
        relaxed.free = self.ledger.space.pooled(self.free)
        return relaxed

    # ------------------------------------------------------------------ capacity

    @cached_property
    def opened(self) -> Opener | None:
        """Which hosts are open to a job that starts so many seconds from now; None: all that it asks for."""
        opener, now = self.ledger.concerns.opener(), self.ledger.now
        if opener is None or self.pooled:
            return None

        def opened(job: Job, start: float) -> tuple[Job, float]:
            shown, change = opener(job, now + start)
            return shown, change if math.isinf(change) else max(math.ceil(change - now), math.floor(start) + 1)

        return opened

    @cached_property
    def ends(self) -> list[End]:
        """When running jobs are expected to end, and what they then give back, soonest first."""
        return [(one.seconds, one.stay.job, one.allocation) for one in self.running]

    @cached_property
    def sums(self) -> NDArray[np.int64]:
        """What is free of all nodes together now, int64 [pooled resource]."""
        return self.pool.pooled(self.free) if self.pooled else self.ledger.space.pooled(self.free)

    @cached_property
    def returns(self) -> NDArray[np.int64]:
        """What each running job gives back, int64 [running job, pooled resource]."""
        rows = [self.pool.pooled_use(one.stay.job, one.allocation) for one in self.running]
        return np.array(rows, dtype=np.int64).reshape(len(rows), len(self.pool.pools))

    @cached_property
    def needs(self) -> NDArray[np.int64]:
        """What each job takes of the machine at least, int64 [job, pooled resource]."""
        return self.pool.pooled_needs(self.jobs)

    @cached_property
    def total(self) -> NDArray[np.int64]:
        """What all nodes together have once the running jobs have ended, int64 [pooled resource]."""
        return np.asarray(self.sums + self.returns.sum(axis=0))

    @cached_property
    def idle(self) -> Any:
        """What is free once the running jobs have ended, a value of the ledger's space (not where nodes are one)."""
        free = self.free
        for _, job, allocation in self.ends:
            free = self.space.give(free, job, allocation)
        return free

    def room(self, job: Job) -> NDArray[np.int64]:
        """Return how many of a job's units each node holds once the running jobs have ended, int64 [node]."""
        if self.pooled:
            least = self.pool.pooled_need(job)
            used = least > 0
            most = (self.total[used] * job.units // least[used]).min(initial=job.units)
            return np.array([min(int(most), job.units)], dtype=np.int64)
        known = self._rooms.get(job.request)
        if known is None:
            known = self._rooms[job.request] = np.minimum(self.space.room(self.idle, job), job.units)
        return known

    @cached_property
    def _rooms(self) -> dict[Request, NDArray[np.int64]]:
        return {}

    # ------------------------------------------------------------------ the objective

    @cached_property
    def weights(self) -> NDArray[np.int64]:
        """The cost of each second of delay, int64 [job]."""
        return np.maximum(np.rint(SCALE / self.runtimes), 1).astype(np.int64)

    def cost(self, starts: Sequence[int] | NDArray[np.int64]) -> int:
        """Return the objective of the models: sum of weight x start, exact however large."""
        listed = np.asarray(starts, dtype=np.int64).tolist()
        return sum(weight * start for weight, start in zip(self.weights.tolist(), listed, strict=True))

    def slowdown(self, starts: Sequence[int] | NDArray[np.int64]) -> float:
        """Return the objective as PCP'20 writes it (section 2.2): sum of (start - arrival + duration) / duration."""
        return float(((np.asarray(starts) + self.waits + self.runtimes) / self.runtimes).sum())

    @cached_property
    def bound(self) -> int:
        """A cost that no schedule undercuts: each job starts when the sums of what is free first suffice."""
        times = np.array([0] + [one.seconds for one in self.running], dtype=np.int64)
        sums = np.vstack([self.sums[None, :], self.returns]).cumsum(axis=0)
        first = np.zeros(len(self.jobs), dtype=np.intp)
        for axis in range(sums.shape[1]):
            # What running jobs hold only comes back: the sums grow.
            np.maximum(first, np.searchsorted(sums[:, axis], self.needs[:, axis]), out=first)
        return self.cost(times[np.minimum(first, len(times) - 1)])

    def horizon(self) -> int:
        """Return PCP'20's eoh (section 2.2), the end when all jobs run one after the other: the sum of durations, s."""
        return int(self.durations.sum()) + sum(one.seconds for one in self.running)

    # ------------------------------------------------------------------ the papers' counts

    def paper_variables(self) -> int:
        """Return the variables of PCP'20, counted as in its paper (section 3): |Q| + sum_i rn_i |R|.

        rn_i is the number of units of job i, R the resource types of the machine.
        """
        units = sum(job.units for job in self.jobs)
        return len(self.jobs) + units * len(self.ledger.machine.resources)

    def node_wise_variables(self) -> int:
        """Return the variables of PCP'19, counted as in PCP'20's paper (section 2.2): |Q| + sum_i sum_n p[i, n].

        p[i, n] is how many units of job i node n holds, once the running jobs have ended.
        """
        return len(self.jobs) + sum(int(self.room(job).sum()) for job in self.jobs)


_FIELDS = ("ledger", "pool", "jobs", "runtimes", "durations", "waits", "running")


def _on_grid(durations: Sequence[float]) -> NDArray[np.int64]:
    return np.array([whole_seconds(duration) for duration in durations], dtype=np.int64)


def whole_seconds(duration: float) -> int:
    """Return a duration on the grid: rounded up, at least 1 s and at most `FOREVER`."""
    # Clocks count microseconds: what exceeds a whole second by less does not exceed it.
    return FOREVER if duration >= FOREVER else max(1, math.ceil(round(duration, 6)))
