"""Which queued jobs are decided about together."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.job import Job
from batdispatch.core.ledger import Ledger
from batdispatch.dispatchers.constraint.instance import Viewer, room


class Window:
    """How many jobs a model takes: half as many after each failure of the solver, at least 1; all after a success.

    Attributes:
        size: for the next model.
        halved: how often it was halved.
    """

    def __init__(self, size: int) -> None:
        self._full = self.size = size
        self.halved = 0

    def failed(self, jobs: int) -> None:
        """Take half as many jobs next time as in the model of `jobs` jobs that failed."""
        self.size = max(1, min(self.size, jobs) // 2)
        self.halved += 1

    def succeeded(self) -> None:
        """Take as many jobs as at first."""
        self.size = self._full


def holdable(cluster: Ledger, viewer: Viewer, free: NDArray[np.int64], jobs: Sequence[Job]) -> list[Job]:
    """Return the jobs that would fit now if nothing else started, in the same order."""
    plausible = cluster.space.plausible(cluster.free, jobs)
    if viewer.exclusive or not plausible:
        return plausible
    capacity = viewer.capacity(cluster)
    # Many jobs ask for the same.
    fits: dict[tuple[int, ...] | None, int] = {}
    kept = []
    for job in plausible:
        if job.request not in fits:
            fits[job.request] = int(room(free, viewer.requests([job])[0], capacity, 2**31).sum())
        if job.units <= fits[job.request]:
            kept.append(job)
    return kept


def by_priority(jobs: Sequence[Job], now: float, estimate: Callable[[Job], float]) -> list[Job]:
    """Return jobs by slowdown if started now, largest first; ties: shorter, then smaller duration x demand."""

    def key(job: Job) -> tuple[float, float, float, int]:
        d = max(estimate(job), 1.0)
        demand = job.units * (1 if job.request is None else sum(job.request))
        slowdown = (now - job.submission + d) / d if d < float("inf") else 1.0
        return -slowdown, d, d * demand, job.rank

    return sorted(jobs, key=key)
