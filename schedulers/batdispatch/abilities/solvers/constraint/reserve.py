"""Keeping room for short jobs that have not come yet."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

#: A job must leave room for those that are expected to run at most its duration over this.
LONGER = 10.0
#: How many of the jobs that came last tell what may come.
MEMORY = 300


class Reserve:
    """Holds long jobs back where they would leave no room for the widest of the recent jobs that were far shorter.

    A plan sees only the jobs that wait. It starts a day-long job whenever one fits, and the short wide job that comes a
    minute later waits for the day to end. So a job expected to run for d may start only if of each resource it uses
    there stays free what the largest of the last `MEMORY` jobs expected to run at most d / `LONGER` asked for, but
    no more than `share` of the capacity. A job too wide to leave that share on an idle machine is not held back: it
    would wait for all others to end.

    Attributes:
        held: how often a job was held back.
    """

    def __init__(self, share: float) -> None:
        self.held = 0
        self._share = share
        self._seen: deque[tuple[float, NDArray[np.int64]]] = deque(maxlen=MEMORY)
        #: Durations of the jobs seen, ascending, and the largest needs up to each, int64 [job, resource].
        self._sorted: tuple[NDArray[np.float64], NDArray[np.int64]] | None = None

    def came(self, duration: float, need: NDArray[np.int64]) -> None:
        """Remember a job's expected duration in s, and what all its units need together, int64 [resource]."""
        self._seen.append((duration, need))
        self._sorted = None

    def allowed(
        self,
        durations: NDArray[np.float64],
        needs: NDArray[np.int64],
        free: NDArray[np.int64],
        capacity: NDArray[np.int64],
    ) -> NDArray[np.bool_]:
        """Return which jobs may start now, bool [job]; shorter ones are asked first and count as started.

        Args:
            durations: s, float64 [job].
            needs: int64 [job, resource].
            free: what is free of all nodes together, int64 [resource].
            capacity: of all nodes together, int64 [resource].
        """
        if self._sorted is None:
            seen = sorted(self._seen, key=lambda one: one[0])
            largest = np.maximum.accumulate(np.array([need for _, need in seen]).reshape(len(seen), -1), axis=0)
            self._sorted = np.array([duration for duration, _ in seen]), largest
        ascending, largest = self._sorted
        shorter = ascending.searchsorted(durations / LONGER, side="right")
        keep = np.zeros_like(needs)
        keep[shorter > 0] = largest[shorter[shorter > 0] - 1]
        most = (self._share * capacity).astype(np.int64)
        # Of a resource that a job does not use it leaves what there is.
        keep = np.where((needs > 0) & (needs <= capacity - most), np.minimum(keep, most), 0)
        required = np.where(needs > 0, needs + keep, 0)
        allowed = np.zeros(len(needs), dtype=bool)
        left = free.copy()
        for job in np.argsort(durations, kind="stable").tolist():
            if (required[job] <= left).all():
                allowed[job] = True
                left -= np.minimum(needs[job], left)
        self.held += int((~allowed).sum())
        return allowed
