"""The least that EASY takes in plain Python: a loop over numbers of hosts, without host ids, files, checks or messages.

It is no part of the package. Absolute times differ from machine to machine and from hour to hour, so a benchmark times
this loop beside what it measures, on the same jobs, and prints the ratio. Its start times equal those of `easy` with
`reservation=count`, which `benchmarks/easy.py` checks.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from heapq import heappop, heappush
from typing import NamedTuple


class Rigid(NamedTuple):
    """A job. Times in seconds, on a clock of microseconds."""

    submission: float
    hosts: int
    runtime: float
    walltime: float


def easy(jobs: list[Rigid], hosts: int) -> list[float]:
    """Return when each job starts, in seconds.

    Args:
        jobs: in order of submission; each asks for at most `hosts` hosts and ends at its walltime at the latest.
        hosts: of the machine.
    """
    starts = [math.nan] * len(jobs)
    ends: list[tuple[float, int]] = []  # Heap of (end, job).
    expected: list[tuple[float, int]] = []  # Running jobs by (expected end, job).
    queue: list[int] = []
    free, coming, total = hosts, 0, len(jobs)
    while coming < total or ends:
        now = min(jobs[coming].submission if coming < total else math.inf, ends[0][0] if ends else math.inf)
        while ends and ends[0][0] <= now:
            _, job = heappop(ends)
            free += jobs[job].hosts
            del expected[bisect_left(expected, (round(starts[job] + jobs[job].walltime, 6), job))]
        while coming < total and jobs[coming].submission <= now:
            queue.append(coming)
            coming += 1
        left = []
        shadow = math.inf
        spare = 0
        for place, job in enumerate(queue):
            _, size, runtime, walltime = jobs[job]
            if not free:
                left += queue[place:]
                break
            end = round(now + walltime, 6)
            if size > free or (left and end > shadow and size > spare):
                left.append(job)
                if len(left) == 1:
                    shadow, spare = _reservation(expected, jobs, free, size)
                continue
            if left and end > shadow:
                spare -= size
            starts[job] = now
            free -= size
            heappush(ends, (round(now + runtime, 6), job))
            insort(expected, (end, job))
        queue = left
    return starts


def _reservation(expected: list[tuple[float, int]], jobs: list[Rigid], free: int, size: int) -> tuple[float, int]:
    """Return when `size` hosts are expected to be free, and how many others are then."""
    shadow = math.inf
    for end, job in expected:
        if end > shadow:
            break
        free += jobs[job].hosts
        if free >= size:
            shadow = end
    return shadow, free - size
