"""All nodes taken for one: what is free is a vector of sums, and where a job goes is left open.

Planning with sums is a relaxation: a job that does not fit the sums fits no nodes, but a job that fits the sums may fit
no nodes. The two agree where a unit is a whole host and any free host will do.

Each question takes O(R) time for R pooled resources, whatever the number of nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.capacity.space import AmountArrays, Space
from batdispatch.core.hosts.allocation import Allocation, Place
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request

#: Where a job goes in a plan that knows no nodes.
SOMEWHERE = Place(Allocation(0))


class ResourceTotals(AmountArrays):
    """Sums over the machine as free capacity, int64 [pooled resource]; licences are further resources."""

    def __init__(self, inner: Space[Any]) -> None:
        super().__init__(inner.machine)
        self._inner = inner
        # One memory of resolved requests.
        self._needs = inner._needs
        self._sums: dict[Request, NDArray[np.int64]] = {}
        machine = inner.machine
        #: What a whole node takes at least, int64 [pooled resource].
        self._smallest = np.zeros(len(inner.pools), dtype=np.int64)
        self._smallest[: len(machine.resources)] = machine.class_capacity.min(axis=0)
        self._whole = inner.pooled(inner.whole())

    @property
    def pools(self) -> tuple[str, ...]:
        return self._inner.pools

    # ------------------------------------------------------------------ one job

    def pooled_need(self, job: Job) -> NDArray[np.int64]:
        """Return what a job takes of the machine at least, int64 [pooled resource], not to be modified.

        A whole node counts as much as the smallest node has of each resource.
        """
        known = self._sums.get(job.request)
        if known is None:
            known = self._inner.pooled_need(job)
            need = self.need(job)
            if need.whole:
                known = np.maximum(known, self._smallest * (need.least if need.per_host is not None else need.units))
            known.flags.writeable = False
            self._sums[job.request] = known
        return known

    def pooled_use(self, job: Job, allocation: Allocation) -> NDArray[np.int64]:
        return self._inner.pooled_use(job, allocation) if allocation.mask else self.pooled_need(job)

    def pooled(self, free: NDArray[np.int64]) -> NDArray[np.int64]:
        return free

    def whole(self) -> NDArray[np.int64]:
        return self._whole

    def room(self, free: NDArray[np.int64], job: Job) -> NDArray[np.int64]:
        """Return the number of units if all of them fit the sums, else 0, int64 [..., 1]."""
        fits = (free >= self.pooled_need(job)).all(axis=-1)
        return np.where(fits, job.request.units, 0)[..., None]

    def rooms(self, frees: Sequence[NDArray[np.int64]], job: Job) -> list[NDArray[np.int64] | None]:
        need = self.pooled_need(job)
        fits: list[bool] = np.logical_and.reduce(np.array(frees) >= need, axis=1).tolist()
        return [free if there else None for free, there in zip(frees, fits, strict=True)]

    def enough(self, room: NDArray[np.int64], job: Job) -> bool:
        return bool((room >= self.pooled_need(job)).all())

    def fits(self, free: NDArray[np.int64], job: Job) -> bool:
        return self.enough(free, job)

    def use(self, job: Job, allocation: Allocation) -> NDArray[np.int64]:
        return self._inner.use(job, allocation)

    def lacking(self, free: NDArray[np.int64], job: Job, allocation: Allocation) -> tuple[int, str, int, int] | None:
        used = self.pooled_use(job, allocation)
        for name, left, asked in zip(self.pools, free.tolist(), used.tolist(), strict=True):
            if left < asked:
                return -1, name, left, asked
        return None

    # ------------------------------------------------------------------ many jobs, the algebra

    def plausible(self, free: NDArray[np.int64], jobs: Sequence[Job]) -> list[Job]:
        return [job for job in jobs if self.enough(free, job)]

    def take(self, free: NDArray[np.int64], job: Job, allocation: Allocation) -> NDArray[np.int64]:
        return free - self.pooled_use(job, allocation)

    def give(self, free: NDArray[np.int64], job: Job, allocation: Allocation) -> NDArray[np.int64]:
        return free + self.pooled_use(job, allocation)

    def shift(self, frees: NDArray[np.int64], job: Job, allocation: Allocation, sign: int) -> None:
        frees += sign * self.pooled_use(job, allocation)
