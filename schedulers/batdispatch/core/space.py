"""How free capacity is represented and counted: one algebra, three granularities.

Every planning algorithm of this package (backfilling, timelines, reservations) is written once in terms of a `Space`:

- `HostSpace`: exclusive hosts, free capacity is a bit mask of hosts;
- `NodeSpace`: nodes with several resources, free capacity is an int64 array [host, resource];
- `PoolSpace`: exclusive hosts of which only the number matters, free capacity is an int.

Free capacities are values: operations return new ones and never modify their arguments.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from batdispatch.core import hostset
from batdispatch.core.allocation import Allocation
from batdispatch.core.job import Job
from batdispatch.core.machine import Machine

F = TypeVar("F")


class Space(ABC, Generic[F]):
    """Free capacity of a machine as values of type F."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    @abstractmethod
    def whole(self) -> F:
        """Return the free capacity of the idle machine."""

    @abstractmethod
    def rooms(self, frees: Sequence[F], job: Job) -> list[Any]:
        """Return what matters to one job of each free capacity, or None where it does not fit.

        The meet of two free capacities has the meet of their rooms.
        """

    @abstractmethod
    def enough(self, room: Any, job: Job) -> bool:
        """Return whether all units of a job find a place in a room."""

    @abstractmethod
    def fits(self, free: F, job: Job) -> bool:
        """Return whether all units of a job find a place in `free`."""

    @abstractmethod
    def plausible(self, free: F, jobs: Sequence[Job]) -> list[Job]:
        """Return the jobs that pass a quick necessary test of `fits`, in the same order."""

    @abstractmethod
    def take(self, free: F, job: Job, allocation: Allocation) -> F:
        """Return `free` without what a job uses on an allocation; may go negative if the job does not fit there."""

    @abstractmethod
    def give(self, free: F, job: Job, allocation: Allocation) -> F:
        """Return `free` with what a job used on an allocation."""

    @abstractmethod
    def meet(self, a: Any, b: Any) -> Any:
        """Return what is free in both, for two free capacities or two rooms."""

    @abstractmethod
    def same(self, a: F, b: F) -> bool:
        """Return whether two free capacities are equal."""

    @abstractmethod
    def only(self, free: F, hosts: int) -> F:
        """Return `free` with nothing left outside the mask `hosts`."""

    @abstractmethod
    def pooled(self, free: F) -> NDArray[np.int64]:
        """Return the sums of free capacity over the machine, int64 [pooled resource]."""

    @abstractmethod
    def pooled_need(self, job: Job) -> NDArray[np.int64]:
        """Return sums below which a job surely does not fit, int64 [pooled resource]."""

    @abstractmethod
    def pooled_use(self, job: Job, allocation: Allocation) -> NDArray[np.int64]:
        """Return what a job takes from the sums, int64 [pooled resource]."""

    @abstractmethod
    def lacking(self, free: F, job: Job, allocation: Allocation) -> tuple[int, str, int, int] | None:
        """Return (host, resource, free, needed) of the first host that cannot carry its share, or None."""


class HostSpace(Space[int]):
    """Exclusive hosts as a bit mask: bit i is set when host i is free."""

    def whole(self) -> int:
        return self.machine.compute

    def fits(self, free: int, job: Job) -> bool:
        return free.bit_count() >= job.units

    def rooms(self, frees: Sequence[int], job: Job) -> list[int | None]:
        return [free if free.bit_count() >= job.units else None for free in frees]

    def enough(self, room: int, job: Job) -> bool:
        return room.bit_count() >= job.units

    def plausible(self, free: int, jobs: Sequence[Job]) -> list[Job]:
        count = free.bit_count()
        return [job for job in jobs if job.units <= count] if count else []

    def take(self, free: int, job: Job, allocation: Allocation) -> int:
        return free & ~allocation.mask

    def give(self, free: int, job: Job, allocation: Allocation) -> int:
        return free | allocation.mask

    def meet(self, a: int, b: int) -> int:
        return a & b

    def same(self, a: int, b: int) -> bool:
        return a == b

    def only(self, free: int, hosts: int) -> int:
        return free & hosts

    def pooled(self, free: int) -> NDArray[np.int64]:
        return np.array([free.bit_count()])

    def pooled_need(self, job: Job) -> NDArray[np.int64]:
        return np.array([job.units])

    def pooled_use(self, job: Job, allocation: Allocation) -> NDArray[np.int64]:
        return np.array([allocation.size])

    def lacking(self, free: int, job: Job, allocation: Allocation) -> tuple[int, str, int, int] | None:
        busy = allocation.mask & ~free
        return None if not busy else ((busy & -busy).bit_length() - 1, self.machine.resources[0], 0, 1)


class NodeSpace(Space[NDArray[np.int64]]):
    """Nodes with several resources: int64 [host, resource]."""

    def whole(self) -> NDArray[np.int64]:
        return self.machine.capacity

    def fits(self, free: NDArray[np.int64], job: Job) -> bool:
        return self.enough(self.machine.room(free, job.request), job)

    def rooms(self, frees: Sequence[NDArray[np.int64]], job: Job) -> list[NDArray[np.int64] | None]:
        """Return for each free capacity how many units of the job each host can take, int64 [host], or None."""
        rooms = self.machine.room(np.array(frees), job.request)
        enough = np.add.reduce(rooms, axis=1) >= job.units
        return [room if fits else None for room, fits in zip(rooms, enough.tolist(), strict=True)]

    def enough(self, room: NDArray[np.int64], job: Job) -> bool:
        return int(np.add.reduce(room)) >= job.units

    def plausible(self, free: NDArray[np.int64], jobs: Sequence[Job]) -> list[Job]:
        pooled = free.sum(axis=0).tolist()
        return [
            job
            for job in jobs
            if job.request is None
            or all(job.units * amount <= left for amount, left in zip(job.request, pooled, strict=True))
        ]

    def _share(self, job: Job, allocation: Allocation) -> tuple[slice | NDArray[np.intp], NDArray[np.int64]]:
        """Return the hosts of an allocation, as an index, and what the job uses there, int64 [host of it, resource].

        Neighbouring hosts are a slice, which numpy reads and writes several times as fast.
        """
        known = allocation.share
        # The wire hands out the same allocation for the same text, also to another machine's simulation.
        if known is not None and known[0] is job.request and known[1] is self.machine:
            return known[2], known[3]
        hosts = np.array(allocation.ids, dtype=np.intp)
        if job.request is None:
            used = self.machine.capacity[hosts]
        else:
            counts = np.ones(len(hosts), dtype=np.int64) if allocation.counts is None else np.array(allocation.counts)
            used = np.outer(counts, np.array(job.request, dtype=np.int64))
        first, last = int(hosts[0]), int(hosts[-1])
        index = slice(first, last + 1) if last - first + 1 == len(hosts) else hosts
        allocation.share = (job.request, self.machine, index, used)
        return index, used

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

    def meet(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.minimum(a, b)

    def same(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> bool:
        return bool(np.array_equal(a, b))

    def only(self, free: NDArray[np.int64], hosts: int) -> NDArray[np.int64]:
        listed = hostset.ids(hosts & self.machine.compute)
        kept = np.zeros_like(free)
        kept[listed] = free[listed]
        return kept

    def pooled(self, free: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.asarray(free.sum(axis=0))

    def pooled_need(self, job: Job) -> NDArray[np.int64]:
        if job.request is None:
            # Whole nodes of any kind: no sum tells whether enough of them are idle.
            return np.zeros(len(self.machine.resources), dtype=np.int64)
        return np.array(job.request, dtype=np.int64) * job.units

    def pooled_use(self, job: Job, allocation: Allocation) -> NDArray[np.int64]:
        return np.asarray(self._share(job, allocation)[1].sum(axis=0))

    def lacking(self, free: NDArray[np.int64], job: Job, allocation: Allocation) -> tuple[int, str, int, int] | None:
        hosts, used = self._share(job, allocation)
        short = free[hosts] < used
        if not short.any():
            return None
        row, axis = (int(i) for i in np.argwhere(short)[0])
        return allocation.ids[row], self.machine.resources[axis], int(free[hosts][row, axis]), int(used[row, axis])


class PoolSpace(Space[int]):
    """Exclusive hosts of which only the number matters, as in the literature's EASY."""

    def whole(self) -> int:
        return self.machine.size

    def fits(self, free: int, job: Job) -> bool:
        return free >= job.units

    def rooms(self, frees: Sequence[int], job: Job) -> list[int | None]:
        return [free if free >= job.units else None for free in frees]

    def enough(self, room: int, job: Job) -> bool:
        return room >= job.units

    def plausible(self, free: int, jobs: Sequence[Job]) -> list[Job]:
        return [job for job in jobs if job.units <= free]

    def take(self, free: int, job: Job, allocation: Allocation) -> int:
        return free - allocation.mask.bit_count()

    def give(self, free: int, job: Job, allocation: Allocation) -> int:
        return free + allocation.mask.bit_count()

    def meet(self, a: int, b: int) -> int:
        return min(a, b)

    def same(self, a: int, b: int) -> bool:
        return a == b

    def only(self, free: int, hosts: int) -> int:
        raise TypeError("a pool does not know which of its hosts are free")

    def pooled(self, free: int) -> NDArray[np.int64]:
        return np.array([free])

    def pooled_need(self, job: Job) -> NDArray[np.int64]:
        return np.array([job.units])

    def pooled_use(self, job: Job, allocation: Allocation) -> NDArray[np.int64]:
        return np.array([allocation.size])

    def lacking(self, free: int, job: Job, allocation: Allocation) -> tuple[int, str, int, int] | None:
        raise TypeError("a pool does not know which of its hosts are free")


def space_of(machine: Machine) -> Space[Any]:
    """Return the exact space of a machine."""
    return HostSpace(machine) if machine.exclusive else NodeSpace(machine)
