"""The jobs that an estimate knows of: what runs and waits at a moment, and what came and ended before it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: How many of the jobs that ended last, and of those that came last, are looked at.
ENDS, ARRIVALS = 2000, 3000


class JobRows(NamedTuple):
    """Jobs in order of submission. Times are seconds on one clock; every array is [job]."""

    ids: NDArray[np.object_]
    users: NDArray[np.object_]
    #: Hosts, or cores where jobs share hosts.
    units: Ints
    submission: Floats
    #: Longest run time allowed; infinite when none was asked for.
    walltime: Floats
    #: NaN: it waits.
    start: Floats
    #: NaN: it has not ended, or nobody knows when.
    end: Floats

    def take(self, rows: Ints | NDArray[np.bool_] | slice) -> JobRows:
        """Return some of the jobs."""
        return JobRows(**{name: column[rows] for name, column in self._asdict().items()})


def join(some: JobRows, others: JobRows) -> JobRows:
    """Return jobs and behind them others, in the order in which they are given."""
    return JobRows(*(np.concatenate(columns) for columns in zip(some, others, strict=True)))


class QueueMoment(NamedTuple):
    """What is known at a moment, and nothing of what came after it."""

    now: float
    running: JobRows
    waiting: JobRows
    #: The jobs that ended last, the latest last.
    ended: JobRows
    #: The jobs that came last, the latest last; the ends of those that still run or wait are NaN.
    came: JobRows


class History:
    """Jobs of which is known when they started and ended, and what of it was known at each moment."""

    def __init__(self, jobs: JobRows) -> None:
        """Take jobs in order of submission."""
        self.jobs = jobs
        self._by_end = np.argsort(jobs.end, kind="stable")
        # Unknown ends are last.
        self._ends = jobs.end[self._by_end]

    def at(self, now: float) -> QueueMoment:
        """Return what was known at a moment, in s."""
        jobs = self.jobs
        come = int(jobs.submission.searchsorted(now, side="right"))
        over = int(self._ends.searchsorted(now, side="right"))
        there = np.flatnonzero(~(jobs.end[:come] <= now))
        runs = jobs.start[there] <= now
        came = jobs.take(slice(max(come - ARRIVALS, 0), come))
        return QueueMoment(
            now,
            running=jobs.take(there[runs]),
            waiting=jobs.take(there[~runs]),
            ended=jobs.take(self._by_end[max(over - ENDS, 0) : over]),
            came=came._replace(end=np.where(came.end <= now, came.end, np.nan)),
        )
