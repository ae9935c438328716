"""A co-allocation problem: which jobs of a window start now, and with how many units on which node.

The programs of this family are written in its terms. Axis 0 of every array is the node: the hosts that run jobs, in
ascending order of id.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from batdispatch.core.capacity.filling import first_fit
from batdispatch.core.hosts import hostset
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.ledger import Ledger

#: For each job of a problem, where it starts now, or None.
Choice = Sequence[Allocation | None]


class JobDemand(msgspec.Struct, frozen=True, eq=False):
    """A job of the window as the programs see it.

    On node i, x units of the job use ``x * amounts + once[i]``, if x > 0.

    Attributes:
        job: the job.
        priority: p_j, at least 1.
        units: r_j, placed all or none.
        amounts: what a unit takes on its node, int64 [resource].
        once: what the job takes of each node that it uses, beside its units; int64 [node, resource].
        least: fewest nodes that may be used.
        most: most nodes that may be used.
        each: exact number of units on every node used; 0: any number.
        room: how many units each node could take if no other job of the window were there, int64 [node]; at most
            `units`, 0 where the job may not go.
        licences: what the job takes of what exists once for the whole machine, int64 [licence].
        spare: how much of that has to be free when it starts, and stays free.
    """

    job: Job
    priority: int
    units: int
    amounts: NDArray[np.int64]
    once: NDArray[np.int64]
    least: int
    most: int
    each: int
    room: NDArray[np.int64]
    licences: NDArray[np.int64]
    spare: int

    @property
    def contiguous(self) -> bool:
        """Whether the nodes used must have consecutive ids."""
        return self.job.request.contiguous


class Problem:
    """The jobs of a window and the nodes at one moment. A problem never changes.

    Attributes:
        ledger: the cluster.
        capacity: what may be used, a value of the ledger's space.
        hosts: host id of each node, int64 [node].
        free: what each node has left, int64 [node, resource].
        licences: what the machine has left, int64 [licence].
        askings: the jobs, the most urgent first.
    """

    def __init__(self, ledger: Ledger, window: Sequence[tuple[Job, int]], capacity: Any = None) -> None:
        """Look at the cluster as it is now.

        Args:
            ledger: the cluster.
            window: (job, priority), the most urgent first.
            capacity: what may be used, a value of the ledger's space; all that is free if not given.
        """
        self.ledger = ledger
        self.capacity = ledger.free if capacity is None else capacity
        machine, space = ledger.machine, ledger.space
        self.hosts: NDArray[np.int64] = np.array(hostset.ids(machine.compute), dtype=np.int64)
        self.free: NDArray[np.int64] = space.table(self.capacity)[self.hosts]
        self.licences: NDArray[np.int64] = space.pooled(self.capacity)[len(machine.resources) :]
        self._rooms: dict[Any, NDArray[np.int64]] = {}
        self.askings = tuple(self._asking(job, priority) for job, priority in window)

    def _asking(self, job: Job, priority: int) -> JobDemand:
        machine = self.ledger.machine
        need = self.ledger.space.need(job)
        if need.whole:
            # Each node used is taken wholly, however many units it carries.
            amounts, once = np.zeros(len(machine.resources), dtype=np.int64), machine.capacity[self.hosts]
        else:
            amounts = np.array(need.amounts, dtype=np.int64)
            once = np.broadcast_to(np.array(need.once or (0,) * len(amounts), dtype=np.int64), self.free.shape)
        return JobDemand(
            job=job,
            priority=priority,
            units=need.units,
            amounts=amounts,
            once=once,
            least=need.least,
            most=min(need.most, len(self.hosts)),
            each=need.each,
            room=self._room(job),
            licences=np.array(need.licences, dtype=np.int64),
            spare=sum(need.licences) - sum(need.taken),
        )

    def _room(self, job: Job) -> NDArray[np.int64]:
        known = self._rooms.get(job.request)
        if known is None:
            room = self.ledger.space.room(self.capacity, job)[self.hosts]
            known = self._rooms[job.request] = np.minimum(room, job.units)
        return known

    def allocation(self, counts: Mapping[int, int]) -> Allocation:
        """Return the allocation of a job with so many units on some nodes."""
        nodes = sorted(counts)
        return Allocation.of(self.hosts[nodes].tolist(), [counts[node] for node in nodes])

    def greedy(self) -> Choice:
        """Return an allocation for each job that finds room on the lowest nodes, taking jobs as they come.

        This is what a backfilling scheduler without reservations starts. Time: O(w n) for w jobs and n nodes.
        """
        return self.filled([None] * len(self.askings), range(len(self.askings)))

    def filled(self, choice: Choice, order: Iterable[int]) -> Choice:
        """Return a choice with further jobs on the lowest nodes that it leaves free.

        Args:
            choice: where jobs start.
            order: the jobs to try, one after the other; those that start already are passed over.
        """
        space, free = self.ledger.space, self.capacity
        for asking, allocation in zip(self.askings, choice, strict=True):
            if allocation is not None:
                free = space.take(free, asking.job, allocation)
        found = list(choice)
        for index in order:
            job = self.askings[index].job
            if found[index] is None and (allocation := first_fit(space, free, job)) is not None:
                found[index] = allocation
                free = space.take(free, job, allocation)
        return found

    def fitting(self) -> list[int]:
        """Return the jobs that fit, each for itself."""
        fits: dict[Any, bool] = {}
        for asking in self.askings:
            request = asking.job.request
            if request not in fits:
                fits[request] = self.ledger.space.fits(self.capacity, asking.job)
        return [index for index, asking in enumerate(self.askings) if fits[asking.job.request]]

    def without(self, choice: Choice) -> Problem:
        """Return the problem that is left where some jobs have started; these jobs are in it still."""
        free = self.capacity
        for asking, allocation in zip(self.askings, choice, strict=True):
            if allocation is not None:
                free = self.ledger.space.take(free, asking.job, allocation)
        return Problem(self.ledger, [(asking.job, asking.priority) for asking in self.askings], free)

    def asking(self, askings: Mapping[int, JobDemand]) -> Problem:
        """Return the same problem with other askings in the place of some."""
        changed: Problem = Problem.__new__(Problem)
        changed.__dict__.update(self.__dict__)
        changed.askings = tuple(askings.get(index, asking) for index, asking in enumerate(self.askings))
        return changed
