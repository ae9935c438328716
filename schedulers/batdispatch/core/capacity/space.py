"""How capacity is represented and counted: one algebra, four granularities.

Whatever any family asks about capacity is answered here and nowhere else: does a job fit, how many of its units can
each node take, what does an allocation use. Every planning algorithm is written once in terms of a `Space`:

- `HostSpace`: whole hosts, free capacity is a bit mask of hosts;
- `HostCount`: whole hosts of which only the number matters, free capacity is an int;
- `NodeSpace`: nodes with several resources, free capacity is an int64 array [host, resource];
- `core.capacity.totals.ResourceTotals`: the sums of these over all nodes, int64 [resource].

`core.capacity.licences.LicensedSpace` adds what exists once for the whole machine to `HostSpace` or `NodeSpace`.

Free capacities are values: operations return new ones and never modify their arguments. What matters to one job of a
free capacity is its *room*: how many units each node can take (`NodeSpace`), or the hosts that it may use
(`HostSpace`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.capacity.need import COUNTLESS, Need, resolve
from batdispatch.core.hosts import hostset
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.core.machine.machine import Machine

F = TypeVar("F")

#: Most requests of which what was worked out is remembered.
CACHE_SIZE = 100_000


class Space(ABC, Generic[F]):
    """Free capacity of a machine as values of type F."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._needs: dict[Request, Need] = {}
        self._sums_needed: dict[Request, list[int]] = {}

    def need(self, job: Job) -> Need:
        """Return what a job needs, along the machine's axes.

        Raises:
            InputError: the request names a resource or a host that the machine does not have, or contradicts itself.
        """
        need = self._needs.get(job.request)
        if need is None:
            if len(self._needs) >= CACHE_SIZE:
                self._needs.clear()
            need = self._needs[job.request] = resolve(self.machine, job.request)
        return need

    # ------------------------------------------------------------------ one job

    @abstractmethod
    def whole(self) -> F:
        """Return the free capacity of the idle machine."""

    def room(self, free: F, job: Job) -> NDArray[np.int64]:
        """Return how many units of a job each node can take by itself, int64 [host], not to be modified.

        Raises:
            TypeError: free capacities of this space are not said host by host.
        """
        raise TypeError(f"{type(self).__name__} does not know which of its hosts are free")

    @abstractmethod
    def rooms(self, frees: Sequence[F], job: Job) -> list[Any]:
        """For each free capacity, return the job's room in it, or None where the job does not fit.

        The meet of two free capacities has the meet of their rooms.
        """

    @abstractmethod
    def enough(self, room: Any, job: Job) -> bool:
        """Return whether all units of a job find a place in a room."""

    @abstractmethod
    def fits(self, free: F, job: Job) -> bool:
        """Return whether all units of a job find a place in `free`."""

    @abstractmethod
    def use(self, job: Job, allocation: Allocation) -> NDArray[np.int64]:
        """Return what a job uses on each host of an allocation, int64 [host of it, resource], not to be modified."""

    @abstractmethod
    def lacking(self, free: F, job: Job, allocation: Allocation) -> tuple[int, str, int, int] | None:
        """Return (host, resource, free, needed) of the first host that cannot carry its share, or None.

        The host is -1 where the machine as a whole lacks something.
        """

    def mismatch(self, job: Job, allocation: Allocation) -> str:
        """Return how an allocation breaks a job's request apart from capacity and the number of units, or ''."""
        return "" if job.request.plain else self.need(job).mismatch(allocation, self.machine)

    # ------------------------------------------------------------------ many jobs

    @abstractmethod
    def plausible(self, free: F, jobs: Sequence[Job]) -> list[Job]:
        """Return the jobs that pass a quick necessary test of `fits`, in the same order."""

    def fitting(self, free: F, jobs: Sequence[Job]) -> list[Job]:
        """Return the jobs that fit `free`, each for itself, in the same order. Jobs that ask alike are tested once."""
        known: dict[Request, bool] = {}
        found = []
        for job in self.plausible(free, jobs):
            fits = known.get(job.request)
            if fits is None:
                fits = known[job.request] = self.fits(free, job)
            if fits:
                found.append(job)
        return found

    def pooled_needs(self, jobs: Sequence[Job]) -> NDArray[np.int64]:
        """Return `pooled_need` of many jobs, int64 [job, pooled resource]."""
        rows = [self.pooled_need(job) for job in jobs]
        return np.array(rows, dtype=np.int64).reshape(len(jobs), len(self.pools))

    # ------------------------------------------------------------------ the algebra

    @abstractmethod
    def take(self, free: F, job: Job, allocation: Allocation) -> F:
        """Return `free` without what a job uses on an allocation; may go negative if the job does not fit there."""

    @abstractmethod
    def give(self, free: F, job: Job, allocation: Allocation) -> F:
        """Return `free` with what a job used on an allocation."""

    def shift(self, frees: NDArray[np.int64], job: Job, allocation: Allocation, sign: int) -> None:
        """Give (1) or take (-1) what a job uses on an allocation in each row of `frees`. **This changes `frees`.**

        Only for spaces whose free capacities are arrays; `frees` is int64 [row, ...].
        """
        raise TypeError("free capacities of this space are no arrays")

    @abstractmethod
    def meet(self, a: Any, b: Any) -> Any:
        """Return what is free in both, for two free capacities or two rooms."""

    @abstractmethod
    def same(self, a: F, b: F) -> bool:
        """Return whether two free capacities are equal."""

    def only(self, free: F, hosts: int) -> F:
        """Return `free` with nothing left outside the mask `hosts`.

        Raises:
            TypeError: free capacities of this space are not said host by host.
        """
        raise TypeError(f"{type(self).__name__} does not know which of its hosts are free")

    def nodes(self, free: F) -> Any:
        """Return the part of a free capacity that hosts have: a mask on whole hosts, else int64 [host, resource]."""
        return free

    def table(self, free: F) -> NDArray[np.int64]:
        """Return what each host has free, int64 [host, resource], not to be modified; a free whole host has 1."""
        return np.asarray(self.nodes(free))

    # ------------------------------------------------------------------ sums over the machine

    @property
    def pools(self) -> tuple[str, ...]:
        """Names along the axis of pooled resources."""
        return self.machine.resources

    @abstractmethod
    def pooled(self, free: F) -> NDArray[np.int64]:
        """Return the sums of free capacity over the machine, int64 [pooled resource]."""

    @abstractmethod
    def pooled_need(self, job: Job) -> NDArray[np.int64]:
        """Return sums below which a job surely does not fit, int64 [pooled resource]."""

    @abstractmethod
    def pooled_use(self, job: Job, allocation: Allocation) -> NDArray[np.int64]:
        """Return what a job takes from the sums, int64 [pooled resource]."""

    def sums_needed(self, job: Job) -> Sequence[int]:
        """Return `pooled_need` as Python numbers."""
        known = self._sums_needed.get(job.request)
        if known is None:
            if len(self._sums_needed) >= CACHE_SIZE:
                self._sums_needed.clear()
            known = self._sums_needed[job.request] = self.pooled_need(job).tolist()
        return known

    def sums_used(self, job: Job, allocation: Allocation) -> Sequence[int]:
        """Return `pooled_use` as Python numbers."""
        used: list[int] = self.pooled_use(job, allocation).tolist()
        return used


class WholeHosts(Space[int]):
    """What is counted alike on whole hosts, whether or not it matters which of them are free."""

    def use(self, job: Job, allocation: Allocation) -> NDArray[np.int64]:
        return np.ones((allocation.size, 1), dtype=np.int64)

    def same(self, a: int, b: int) -> bool:
        return a == b

    def pooled_need(self, job: Job) -> NDArray[np.int64]:
        return np.array([job.request.units])

    def pooled_use(self, job: Job, allocation: Allocation) -> NDArray[np.int64]:
        return np.array([allocation.size])

    def sums_needed(self, job: Job) -> Sequence[int]:
        return (job.request.units,)

    def sums_used(self, job: Job, allocation: Allocation) -> Sequence[int]:
        return (allocation.size,)


class HostSpace(WholeHosts):
    """Whole hosts as a bit mask: bit i is set when host i is free."""

    def whole(self) -> int:
        return self.machine.compute

    def table(self, free: int) -> NDArray[np.int64]:
        return self._ones(free)[:, None]

    def _ones(self, hosts: int) -> NDArray[np.int64]:
        return hostset.flags_of(hosts, len(self.machine.hosts)).astype(np.int64)

    def _usable(self, free: int, job: Job) -> int:
        return free if job.request.plain else free & self.need(job).hosts

    def room(self, free: int, job: Job) -> NDArray[np.int64]:
        return self._ones(self._usable(free, job))

    def rooms(self, frees: Sequence[int], job: Job) -> list[int | None]:
        request = job.request
        if request.plain:
            return [free if free.bit_count() >= request.units else None for free in frees]
        hosts = self.need(job).hosts
        return [free & hosts if self.enough(free & hosts, job) else None for free in frees]

    def enough(self, room: int, job: Job) -> bool:
        request = job.request
        if request.choices:
            return any(self._enough(room & mask, request) for mask in request.choices)
        return self._enough(room, request)

    @staticmethod
    def _enough(room: int, request: Request) -> bool:
        if room.bit_count() < request.units:
            return False
        return not request.contiguous or hostset.lowest_run(room, request.units) is not None

    def fits(self, free: int, job: Job) -> bool:
        request = job.request
        if request.plain:
            return free.bit_count() >= request.units
        return self.enough(free & self.need(job).hosts, job)

    def lacking(self, free: int, job: Job, allocation: Allocation) -> tuple[int, str, int, int] | None:
        mask = allocation.mask
        # A comparison costs a tenth of an operation that makes a number.
        if mask & free == mask:
            return None
        busy = mask & ~free
        return (busy & -busy).bit_length() - 1, self.machine.resources[0], 0, 1

    def plausible(self, free: int, jobs: Sequence[Job]) -> list[Job]:
        if not jobs or not free:
            return []
        count = free.bit_count()
        return [job for job in jobs if job.request.units <= count]

    def take(self, free: int, job: Job, allocation: Allocation) -> int:
        return free & ~allocation.mask

    def give(self, free: int, job: Job, allocation: Allocation) -> int:
        return free | allocation.mask

    def meet(self, a: int, b: int) -> int:
        return a & b

    def only(self, free: int, hosts: int) -> int:
        return free & hosts

    def pooled(self, free: int) -> NDArray[np.int64]:
        return np.array([free.bit_count()])


class AmountArrays(Space[NDArray[np.int64]]):
    """What is done alike with free capacities that are arrays of amounts."""

    def meet(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.minimum(a, b)

    def same(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> bool:
        return bool(np.array_equal(a, b))


class NodeSpace(AmountArrays):
    """Nodes with several resources: int64 [host, resource]."""

    def whole(self) -> NDArray[np.int64]:
        return self.machine.capacity

    def room(self, free: NDArray[np.int64], job: Job) -> NDArray[np.int64]:
        """Return how many units of a job each node can take, int64 [..., host]; `free` is int64 [..., host, resource].

        A unit that needs nothing fits `COUNTLESS` times on a node with anything free, which an absent node has not, and
        not at all on a node that is full.
        """
        need = self.need(job)
        if need.whole:
            idle = (free == self.machine.capacity).all(axis=-1) & (self.machine.classes >= 0)
            whole = np.asarray(idle, dtype=np.int64)
            room = whole if need.per_host is None else whole * need.per_host
        else:
            room = self._shared(free, need)
        return room if need.plain else need.restrict(room)

    def _shared(self, free: NDArray[np.int64], need: Need) -> NDArray[np.int64]:
        room: NDArray[np.int64] | None = None
        for axis, amount in enumerate(need.amounts):
            if amount:
                left = free[..., axis] if need.once is None else np.maximum(free[..., axis] - need.once[axis], 0)
                # A division costs five times as much as all the rest.
                units = left if amount == 1 else left // amount
                room = units if room is None else np.minimum(room, units)
        if room is None:
            room = np.where(free.any(axis=-1), np.int64(COUNTLESS), np.int64(0))
        if need.once is not None:
            room = np.where((free >= np.array(need.once)).all(axis=-1), room, 0)
        return room

    def rooms(self, frees: Sequence[NDArray[np.int64]], job: Job) -> list[NDArray[np.int64] | None]:
        """For each free capacity, return how many units of the job each host can take, int64 [host], or None."""
        rooms = self.room(np.array(frees), job)
        if job.request.plain:
            enough = (np.add.reduce(rooms, axis=1) >= job.request.units).tolist()
        else:
            enough = [self.enough(room, job) for room in rooms]
        return [room if fits else None for room, fits in zip(rooms, enough, strict=True)]

    def enough(self, room: NDArray[np.int64], job: Job) -> bool:
        if job.request.plain:
            return int(np.add.reduce(room)) >= job.request.units
        return self.need(job).enough(room)

    def fits(self, free: NDArray[np.int64], job: Job) -> bool:
        return self.enough(self.room(free, job), job)

    def _share(self, job: Job, allocation: Allocation) -> tuple[slice | NDArray[np.intp], NDArray[np.int64]]:
        """Return the hosts of an allocation, as an index, and what the job uses there, int64 [host of it, resource].

        Neighbouring hosts are a slice, which numpy reads and writes several times as fast.
        """
        known = allocation.share
        # The wire hands out the same allocation for the same text, also to another machine's simulation.
        if known is not None and known[0] is job.request and known[1] is self:
            return known[2], known[3]
        need = self.need(job)
        hosts = np.array(allocation.ids, dtype=np.intp)
        if need.whole:
            used = self.machine.capacity[hosts]
        else:
            counts = np.ones(len(hosts), dtype=np.int64) if allocation.counts is None else np.array(allocation.counts)
            used = np.outer(counts, np.array(need.amounts, dtype=np.int64))
            if need.once is not None:
                used += np.array(need.once)
        first, last = int(hosts[0]), int(hosts[-1])
        index = slice(first, last + 1) if last - first + 1 == len(hosts) else hosts
        allocation.share = (job.request, self, index, used)
        return index, used

    def use(self, job: Job, allocation: Allocation) -> NDArray[np.int64]:
        return self._share(job, allocation)[1]

    def lacking(self, free: NDArray[np.int64], job: Job, allocation: Allocation) -> tuple[int, str, int, int] | None:
        hosts, used = self._share(job, allocation)
        short = free[hosts] < used
        if not short.any():
            return None
        row, axis = (int(i) for i in np.argwhere(short)[0])
        return allocation.ids[row], self.machine.resources[axis], int(free[hosts][row, axis]), int(used[row, axis])

    def plausible(self, free: NDArray[np.int64], jobs: Sequence[Job]) -> list[Job]:
        pooled = free.sum(axis=0).tolist()
        need = self.need
        return [job for job in jobs if all(asked <= left for asked, left in zip(need(job).sums, pooled, strict=True))]

    def take(self, free: NDArray[np.int64], job: Job, allocation: Allocation) -> NDArray[np.int64]:
        hosts, used = self._share(job, allocation)
        left = free.copy()
        left[hosts] -= used
        return left

    def give(self, free: NDArray[np.int64], job: Job, allocation: Allocation) -> NDArray[np.int64]:
        hosts, used = self._share(job, allocation)
        more = free.copy()
        more[hosts] += used
        return more

    def shift(self, frees: NDArray[np.int64], job: Job, allocation: Allocation, sign: int) -> None:
        hosts, used = self._share(job, allocation)
        if sign > 0:
            frees[:, hosts] += used
        else:
            frees[:, hosts] -= used

    def only(self, free: NDArray[np.int64], hosts: int) -> NDArray[np.int64]:
        flags = hostset.flags_of(hosts & self.machine.compute, len(free))
        return np.where(flags[:, None], free, 0)

    def pooled(self, free: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.asarray(free.sum(axis=0))

    def pooled_need(self, job: Job) -> NDArray[np.int64]:
        return np.array(self.need(job).sums, dtype=np.int64)

    def pooled_use(self, job: Job, allocation: Allocation) -> NDArray[np.int64]:
        return np.asarray(self._share(job, allocation)[1].sum(axis=0))


class HostCount(WholeHosts):
    """Whole hosts of which only the number matters, as in the literature's EASY. For plain requests only."""

    def whole(self) -> int:
        return self.machine.size

    def rooms(self, frees: Sequence[int], job: Job) -> list[int | None]:
        units = job.request.units
        return [free if free >= units else None for free in frees]

    def enough(self, room: int, job: Job) -> bool:
        return room >= job.request.units

    def fits(self, free: int, job: Job) -> bool:
        return free >= job.request.units

    def lacking(self, free: int, job: Job, allocation: Allocation) -> tuple[int, str, int, int] | None:
        needed = allocation.size
        return None if needed <= free else (-1, self.machine.resources[0], free, needed)

    def plausible(self, free: int, jobs: Sequence[Job]) -> list[Job]:
        return [job for job in jobs if job.request.units <= free]

    def take(self, free: int, job: Job, allocation: Allocation) -> int:
        return free - allocation.size

    def give(self, free: int, job: Job, allocation: Allocation) -> int:
        return free + allocation.size

    def meet(self, a: int, b: int) -> int:
        return min(a, b)

    def pooled(self, free: int) -> NDArray[np.int64]:
        return np.array([free])


def present(space: Space[F], hosts_away: int) -> F:
    """Return the capacity of the idle machine without the hosts of a mask."""
    return space.only(space.whole(), ~hosts_away) if hosts_away else space.whole()
