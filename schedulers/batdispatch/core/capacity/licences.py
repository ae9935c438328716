"""Licences: resources that exist once for the whole machine, pooled beside what the nodes have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.capacity.space import Space
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job
from batdispatch.core.machine.machine import POWER


class LicensedCapacity(NamedTuple):
    """Free capacity, or a job's room in it, with the licences that are left, int64 [licence]."""

    nodes: Any
    left: NDArray[np.int64]


class LicensedSpace(Space[LicensedCapacity]):
    """The space of the nodes with licences beside it; whatever concerns nodes is the inner space's to answer."""

    def __init__(self, inner: Space[Any]) -> None:
        super().__init__(inner.machine)
        self._inner = inner
        # One memory of resolved requests.
        self._needs = inner._needs
        self._all = np.array([amount for _, amount in inner.machine.licences], dtype=np.int64)

    def _asked(self, job: Job) -> NDArray[np.int64]:
        return np.array(self.need(job).licences, dtype=np.int64)

    def _taken(self, job: Job) -> NDArray[np.int64]:
        return np.array(self.need(job).taken, dtype=np.int64)

    def whole(self) -> LicensedCapacity:
        return LicensedCapacity(self._inner.whole(), self._all)

    def nodes(self, free: LicensedCapacity) -> Any:
        return free.nodes

    def table(self, free: LicensedCapacity) -> NDArray[np.int64]:
        return self._inner.table(free.nodes)

    def room(self, free: LicensedCapacity, job: Job) -> NDArray[np.int64]:
        return self._inner.room(free.nodes, job)

    def rooms(self, frees: Sequence[LicensedCapacity], job: Job) -> list[LicensedCapacity | None]:
        asked = self._asked(job)
        rooms = self._inner.rooms([free.nodes for free in frees], job)
        return [
            None if room is None or (free.left < asked).any() else LicensedCapacity(room, free.left)
            for room, free in zip(rooms, frees, strict=True)
        ]

    def enough(self, room: LicensedCapacity, job: Job) -> bool:
        return bool((room.left >= self._asked(job)).all()) and self._inner.enough(room.nodes, job)

    def fits(self, free: LicensedCapacity, job: Job) -> bool:
        return bool((free.left >= self._asked(job)).all()) and self._inner.fits(free.nodes, job)

    def use(self, job: Job, allocation: Allocation) -> NDArray[np.int64]:
        return self._inner.use(job, allocation)

    def lacking(self, free: LicensedCapacity, job: Job, allocation: Allocation) -> tuple[int, str, int, int] | None:
        found = self._inner.lacking(free.nodes, job, allocation)
        if found is not None:
            return found
        for (name, _), left, asked in zip(
            self.machine.licences, free.left.tolist(), self.need(job).licences, strict=True
        ):
            if left < asked:
                return -1, name, left, asked
        return None

    def plausible(self, free: LicensedCapacity, jobs: Sequence[Job]) -> list[Job]:
        return [job for job in self._inner.plausible(free.nodes, jobs) if (free.left >= self._asked(job)).all()]

    def take(self, free: LicensedCapacity, job: Job, allocation: Allocation) -> LicensedCapacity:
        return LicensedCapacity(self._inner.take(free.nodes, job, allocation), free.left - self._taken(job))

    def give(self, free: LicensedCapacity, job: Job, allocation: Allocation) -> LicensedCapacity:
        return LicensedCapacity(self._inner.give(free.nodes, job, allocation), free.left + self._taken(job))

    def meet(self, a: LicensedCapacity, b: LicensedCapacity) -> LicensedCapacity:
        return LicensedCapacity(self._inner.meet(a.nodes, b.nodes), np.minimum(a.left, b.left))

    def same(self, a: LicensedCapacity, b: LicensedCapacity) -> bool:
        return bool(np.array_equal(a.left, b.left)) and self._inner.same(a.nodes, b.nodes)

    def only(self, free: LicensedCapacity, hosts: int) -> LicensedCapacity:
        return LicensedCapacity(self._inner.only(free.nodes, hosts), free.left)

    def drawn(self, free: LicensedCapacity, power: int) -> LicensedCapacity:
        """Return free capacity with less power, in mW."""
        less = [power if name == POWER else 0 for name, _ in self.machine.licences]
        return LicensedCapacity(free.nodes, free.left - np.array(less, dtype=np.int64))

    @property
    def pools(self) -> tuple[str, ...]:
        return (*self.machine.resources, *(name for name, _ in self.machine.licences))

    def pooled(self, free: LicensedCapacity) -> NDArray[np.int64]:
        return np.concatenate((self._inner.pooled(free.nodes), free.left))

    def pooled_need(self, job: Job) -> NDArray[np.int64]:
        return np.concatenate((self._inner.pooled_need(job), self._asked(job)))

    def pooled_use(self, job: Job, allocation: Allocation) -> NDArray[np.int64]:
        return np.concatenate((self._inner.pooled_use(job, allocation), self._taken(job)))
