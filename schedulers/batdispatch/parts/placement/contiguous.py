"""Contiguous: one range of consecutive host ids."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from batdispatch.core import hostset
from batdispatch.core.allocation import Allocation
from batdispatch.core.filling import fill
from batdispatch.core.job import Job
from batdispatch.parts.placement.base import Placement


class Contiguous(Placement):
    """Take consecutive host ids, or wait.

    On exclusive hosts: the lowest range of exactly the job's size. On shared nodes: the shortest range of nodes that
    all have room, the lowest of those. Exact: None is returned only if no such range exists.
    """

    complete = False

    def pick(self, free: int, count: int) -> int | None:
        for first, last in hostset.runs(free):
            if last - first + 1 >= count:
                return ((1 << count) - 1) << first
        return None

    def spread(self, room: NDArray[np.int64], free: NDArray[np.int64], job: Job) -> Allocation | None:
        filled = np.concatenate(([0], np.minimum(room, job.units).cumsum()))
        # For each first node, the first index past a range with enough room; len(room) + 1 where there is none.
        ends = filled.searchsorted(filled[:-1] + job.units)
        # A range must not contain a node without room: the next such node bounds it.
        empty = np.append((room == 0).nonzero()[0], len(room))
        bound = empty[empty.searchsorted(np.arange(len(room)))]
        lengths = np.where(ends <= bound, ends - np.arange(len(room)), len(room) + 1)
        first = int(lengths.argmin())
        if lengths[first] > len(room):
            return None
        return fill(room, job.units, np.arange(first, first + int(lengths[first])))
