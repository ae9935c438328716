"""A dispatching instance: what is decided at one moment, as plain numbers.

Times are whole seconds from now; durations are rounded up, so that a plan on this grid can be carried out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from batdispatch.core import hostset
from batdispatch.core.job import Job
from batdispatch.core.ledger import Ledger

#: Longest duration that models know, in seconds; stands for "for ever".
FOREVER = 10**8
#: A second of delay of a job of duration d costs ``max(1, round(SCALE / d))``.
SCALE = 10**6


class Held(msgspec.Struct, frozen=True):
    """What a running job holds: for `remaining` seconds, `amounts` [host of `hosts`, resource] on `hosts`."""

    id: str
    remaining: int
    hosts: NDArray[np.intp]
    amounts: NDArray[np.int64]


class Instance(msgspec.Struct, frozen=True, kw_only=True):
    """Queued jobs in order of priority, nodes, and the running jobs on them.

    A machine of exclusive hosts is one node that has as many of the resource `host`: all its hosts are alike. A job of
    whole nodes has no request; its units need idle nodes.

    Attributes:
        now: simulated time in seconds, for the reader.
        resources: names of the resource axis.
        capacity: int64 [node, resource], nothing on nodes that are away.
        ids: the queued jobs, highest priority first.
        durations: int64 [job], s, at least 1.
        waits: float64 [job], s waited so far.
        units: int64 [job].
        requests: int64 [job, resource] of one unit; a row of -1 asks for a whole node.
        running: what the running jobs hold, soonest end first.
    """

    now: float
    resources: tuple[str, ...]
    capacity: NDArray[np.int64]
    ids: tuple[str, ...]
    durations: NDArray[np.int64]
    waits: NDArray[np.float64]
    units: NDArray[np.int64]
    requests: NDArray[np.int64]
    running: tuple[Held, ...]

    def free(self) -> NDArray[np.int64]:
        """Return what is free now, int64 [node, resource]."""
        free = self.capacity.copy()
        for held in self.running:
            free[held.hosts] -= held.amounts
        return np.maximum(free, 0, out=free)

    def weights(self) -> NDArray[np.int64]:
        """Return the cost of each second of delay, int64 [job]."""
        return np.maximum(np.rint(SCALE / self.durations), 1).astype(np.int64)

    def whole(self) -> NDArray[np.bool_]:
        """Return which jobs ask for whole nodes, bool [job]."""
        return np.asarray((self.requests < 0).any(axis=1))

    def cost(self, starts: Sequence[int] | NDArray[np.int64]) -> int:
        """Return the objective of the models: sum of weight x start."""
        return int(self.weights() @ np.asarray(starts, dtype=np.int64))

    def slowdown(self, starts: Sequence[int] | NDArray[np.int64]) -> float:
        """Return the objective as the paper writes it: sum of (start - arrival + duration) / duration."""
        return float(((np.asarray(starts) + self.waits + self.durations) / self.durations).sum())

    def bound(self) -> int:
        """Return a cost that no schedule undercuts: each job starts when the sums of what is free first suffice."""
        times = np.array([0] + [held.remaining for held in self.running], dtype=np.int64)
        sums = np.vstack([self.free().sum(axis=0)] + [held.amounts.sum(axis=0) for held in self.running]).cumsum(axis=0)
        needs = self.totals()
        first = np.zeros(len(needs), dtype=np.intp)
        for axis in range(needs.shape[1]):
            # What running jobs hold only comes back: the sums grow.
            np.maximum(first, np.searchsorted(sums[:, axis], needs[:, axis]), out=first)
        return self.cost(times[np.minimum(first, len(times) - 1)])

    def totals(self) -> NDArray[np.int64]:
        """Return what each job takes of the machine at least, int64 [job, resource]."""
        return needs(self.requests, self.units, self.capacity)

    def pressure(self) -> NDArray[np.float64]:
        """Return what the jobs ask for, over the capacity, float64 [resource]."""
        asked = (np.maximum(self.requests, 0) * self.units[:, None]).sum(axis=0)
        return np.asarray(asked / np.maximum(self.capacity.sum(axis=0), 1))

    def pooled(self) -> Instance:
        """Return the relaxation whose only node has everything that all nodes have, and each job one unit."""
        node = np.zeros(1, dtype=np.intp)
        running = [Held(held.id, held.remaining, node, held.amounts.sum(axis=0)[None, :]) for held in self.running]
        return msgspec.structs.replace(
            self,
            capacity=self.capacity.sum(axis=0)[None, :],
            units=np.ones_like(self.units),
            requests=self.totals(),
            running=tuple(running),
        )

    def paper_variables(self) -> int:
        """Return the variables of PCP'20, counted as in the paper: jobs + units x resource types of the machine."""
        return len(self.ids) + int(self.units.sum()) * len(self.resources)

    def node_wise_variables(self) -> int:
        """Return the variables of PCP'19, counted as in the paper: jobs + possible units on each node."""
        count = len(self.ids)
        for request, units in zip(self.requests, self.units.tolist(), strict=True):
            count += int(room(self.capacity, request, self.capacity, units).sum())
        return count

    def room(self, job: int) -> int:
        """Return how many units of a job the idle machine holds, at most the job's."""
        return int(room(self.capacity, self.requests[job], self.capacity, int(self.units[job])).sum())

    def horizon(self) -> int:
        """Return the paper's end of the worst case: the sum of all durations, s."""
        return int(self.durations.sum()) + sum(held.remaining for held in self.running)


def seconds(duration: float) -> int:
    """Return a duration on the grid: rounded up, at least 1 s and at most `FOREVER`."""
    # Clocks count microseconds: what exceeds a whole second by less does not exceed it.
    return FOREVER if duration >= FOREVER else max(1, math.ceil(round(duration, 6)))


class Viewer:
    """Turns the cluster into instances; keeps what does not change between them."""

    def __init__(self, cluster: Ledger, estimate: Callable[[Job], float]) -> None:
        self._estimate = estimate
        machine = cluster.machine
        self.exclusive = machine.exclusive
        self._capacity = np.array([[machine.size]]) if self.exclusive else machine.capacity
        self.resources = machine.resources
        self._held: dict[str, tuple[NDArray[np.intp], NDArray[np.int64]]] = {}

    def requests(self, jobs: Sequence[Job]) -> NDArray[np.int64]:
        """Return what a unit of each job asks for, int64 [job, resource]; -1: a whole node."""
        if self.exclusive:
            return np.ones((len(jobs), 1), dtype=np.int64)
        whole = (-1,) * len(self.resources)
        listed = [whole if job.request is None else job.request for job in jobs]
        return np.array(listed, dtype=np.int64).reshape(len(jobs), len(self.resources))

    def needs(self, cluster: Ledger, jobs: Sequence[Job]) -> NDArray[np.int64]:
        """Return what all units of each job take together at least, int64 [job, resource]."""
        return needs(self.requests(jobs), np.array([job.units for job in jobs], dtype=np.int64), self.capacity(cluster))

    def free(self, cluster: Ledger) -> NDArray[np.int64]:
        """Return what is free now, int64 [node, resource]; not to be modified."""
        if self.exclusive:
            return np.array([[cluster.free.bit_count()]])
        return np.asarray(cluster.free)

    def capacity(self, cluster: Ledger) -> NDArray[np.int64]:
        """Return the capacity without the hosts that are away, int64 [node, resource]."""
        if not cluster.unavailable:
            return self._capacity
        if self.exclusive:
            return np.array([[(cluster.machine.compute & ~cluster.unavailable).bit_count()]])
        return np.asarray(cluster.space.only(self._capacity, ~cluster.unavailable))

    def running(self, cluster: Ledger) -> tuple[Held, ...]:
        """Return what the running jobs hold, soonest expected end first; nothing on hosts that are away."""
        now, away = cluster.now, cluster.unavailable
        held = []
        for job in cluster.running.values():
            remaining = seconds(job.start + self._estimate(job) - now)
            hosts, amounts = self._holds(cluster, job)
            if away and not self.exclusive:
                there = np.array([not away >> int(host) & 1 for host in hosts])
                hosts, amounts = hosts[there], amounts[there]
            elif away:
                assert job.allocation is not None
                amounts = np.array([[(job.allocation.mask & ~away).bit_count()]])
            held.append(Held(job.id, remaining, hosts, amounts))
        held.sort(key=lambda one: one.remaining)
        return tuple(held)

    def _holds(self, cluster: Ledger, job: Job) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        known = self._held.get(job.id)
        if known is not None:
            return known
        assert job.allocation is not None
        if self.exclusive:
            known = (np.zeros(1, dtype=np.intp), np.array([[job.allocation.size]]))
        else:
            hosts = np.array(hostset.ids(job.allocation.mask), dtype=np.intp)
            if job.request is None:
                amounts = cluster.machine.capacity[hosts]
            else:
                counts = np.array([count for _, count in job.allocation.per_host()], dtype=np.int64)
                amounts = np.outer(counts, np.array(job.request, dtype=np.int64))
            known = (hosts, amounts)
        self._held[job.id] = known
        return known

    def forget(self, job: Job) -> None:
        """Drop what is known of a job that ended."""
        self._held.pop(job.id, None)

    def instance(self, cluster: Ledger, jobs: Sequence[Job]) -> Instance:
        """Return the instance of some queued jobs, given in order of priority."""
        return Instance(
            now=cluster.now,
            resources=tuple(self.resources),
            capacity=self.capacity(cluster),
            ids=tuple(job.id for job in jobs),
            durations=np.array([seconds(self._estimate(job)) for job in jobs], dtype=np.int64),
            waits=np.array([cluster.now - job.submission for job in jobs]),
            units=np.array([job.units for job in jobs], dtype=np.int64),
            requests=self.requests(jobs),
            running=self.running(cluster),
        )


def needs(requests: NDArray[np.int64], units: NDArray[np.int64], capacity: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return what jobs take of a machine at least, int64 [job, resource]; a whole node counts as the smallest.

    Args:
        requests: int64 [job, resource] of one unit; -1: a whole node.
        units: int64 [job].
        capacity: int64 [node, resource].
    """
    present = capacity[capacity.any(axis=1)]
    least = present.min(axis=0) if len(present) else capacity.sum(axis=0)
    return np.asarray(np.where(requests < 0, least, requests) * units[:, None])


def room(
    free: NDArray[np.int64], request: NDArray[np.int64], capacity: NDArray[np.int64], most: int
) -> NDArray[np.int64]:
    """Return how many units of a request each node takes, int64 [node], at most `most`.

    Args:
        free: int64 [node, resource].
        request: int64 [resource] of a unit; -1: a whole node.
        capacity: int64 [node, resource].
        most: upper bound.
    """
    if request[0] < 0:
        return np.asarray((free == capacity).all(axis=1) & capacity.any(axis=1), dtype=np.int64)
    found = np.full(len(free), most, dtype=np.int64)
    if not request.any():
        found[~capacity.any(axis=1)] = 0
    for axis in np.flatnonzero(request).tolist():
        amount = int(request[axis])
        np.minimum(found, free[:, axis] if amount == 1 else free[:, axis] // amount, out=found)
    return found
