"""One rollout: EASY with room kept free, on sums over the machine, until no job of a drawn future waits.

Compiled by Numba where it is installed (the extra `compiled`). Without it the same function runs in Python, with the
same results and some hundred times as long. Everything that is compiled stands in this one file, since Numba's cache
notices no change in another.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
F = TypeVar("F", bound=Callable[..., Any])

#: A job that has outlived its expected end is expected to end in so many seconds.
LATE = 1.0
#: Bounded slowdown: shorter jobs count as this long, s.
THRESHOLD = 10.0


def _compiled(function: F) -> F:
    """Return a function compiled for the types of its first call; as it is where there is no Numba."""
    try:
        njit = importlib.import_module("numba").njit
    except ImportError:
        return function
    try:
        return cast(F, njit(cache=True, error_model="numpy")(function))
    except RuntimeError:
        # There is no folder in which what is compiled can be kept.
        return cast(F, njit(error_model="numpy")(function))


@_compiled
def delay_cost(
    now: float,
    total: Ints,
    free_now: Ints,
    run_needs: Ints,
    run_ends: Floats,
    run_expected: Floats,
    needs: Ints,
    expected: Floats,
    lasts: Floats,
    comes: Floats,
    limits: Floats,
    places: Ints,
    waiting: int,
) -> float:
    """Return the sum of delay / max(run time, 10 s) over all jobs, waits before now left out.

    At each event, jobs are taken in order. A job starts if it fits and leaves room: of no resource that it uses may
    more than its limit be in use then. The limit 1 asks for no room, and a job larger than its limit need not leave
    any. The first job that leaves room and does not fit reserves its shadow time; jobs behind it start if they end by
    then or use what it leaves spare. A job that leaves no room waits without a reservation.

    Time: O(e (q + r log r) R) for e events, q jobs that wait and r that run, R resources.

    Args:
        now: s.
        total: capacity, int64 [resource].
        free_now: what is free, int64 [resource].
        run_needs: what each running job gives back, int64 [running job, resource].
        run_ends: when each ends in this future, s.
        run_expected: when each is expected to end, s.
        needs: what each job takes, int64 [job, resource]; first those that wait now, then those that come, in order.
        expected: how long each is expected to run, s.
        lasts: how long each runs in this future, s.
        comes: when each comes, s; not used for those that wait now.
        limits: share of each resource that may be in use once a job has started, float64 [job].
        places: place of each in the order, int64 [job].
        waiting: number of jobs that wait now.
    """
    jobs, resources = needs.shape
    most = len(run_ends) + jobs
    running = len(run_ends)
    used = np.empty((most, resources), dtype=np.int64)
    ends = np.empty(most)
    hoped = np.empty(most)
    used[:running] = run_needs
    ends[:running] = run_ends
    hoped[:running] = run_expected
    free = free_now.copy()
    spare = np.zeros(resources, dtype=np.int64)
    queue = np.empty(jobs, dtype=np.int64)
    queued = 0
    for job in range(waiting):
        at = queued
        while at > 0 and places[queue[at - 1]] > places[job]:
            queue[at] = queue[at - 1]
            at -= 1
        queue[at] = job
        queued += 1
    coming = waiting
    time = now
    cost = 0.0
    while True:
        head = -1
        shadow = np.inf
        left = 0
        for index in range(queued):
            job = queue[index]
            fits = True
            roomy = True
            for r in range(resources):
                need = needs[job, r]
                if need > free[r]:
                    fits = False
                limit = limits[job] * total[r]
                if limits[job] < 1.0 and 0 < need <= limit and total[r] - free[r] + need > limit:
                    roomy = False
            spends = False
            if fits and roomy and head >= 0 and time + expected[job] > shadow:
                for r in range(resources):
                    if needs[job, r] > spare[r]:
                        fits = False
                spends = fits
            if fits and roomy:
                for r in range(resources):
                    free[r] -= needs[job, r]
                    if spends:
                        spare[r] -= needs[job, r]
                    used[running, r] = needs[job, r]
                ends[running] = time + lasts[job]
                hoped[running] = time + expected[job]
                running += 1
                since = now if job < waiting else comes[job]
                cost += (time - since) / max(lasts[job], THRESHOLD)
                continue
            queue[left] = job
            left += 1
            if roomy and head < 0:
                head = job
                order = np.argsort(hoped[:running])
                for r in range(resources):
                    spare[r] = free[r]
                for position in range(running):
                    one = order[position]
                    if hoped[one] > shadow:
                        break
                    enough = True
                    for r in range(resources):
                        spare[r] += used[one, r]
                        if needs[job, r] > spare[r]:
                            enough = False
                    if enough and shadow == np.inf:
                        shadow = hoped[one]
                for r in range(resources):
                    spare[r] -= needs[job, r]
        queued = left
        if coming == jobs and queued == 0:
            return cost
        following = np.inf
        for one in range(running):
            following = min(following, ends[one])
        if coming < jobs:
            following = min(following, comes[coming])
        if following == np.inf:
            # What is left fits nothing: hosts are away.
            return cost
        time = max(time, following)
        one = 0
        while one < running:
            if ends[one] <= time:
                running -= 1
                for r in range(resources):
                    free[r] += used[one, r]
                    used[one, r] = used[running, r]
                ends[one] = ends[running]
                hoped[one] = hoped[running]
            else:
                if hoped[one] <= time:
                    hoped[one] = time + LATE
                one += 1
        while coming < jobs and comes[coming] <= time:
            at = queued
            while at > 0 and places[queue[at - 1]] > places[coming]:
                queue[at] = queue[at - 1]
                at -= 1
            queue[at] = coming
            queued += 1
            coming += 1


def prepare() -> None:
    """Have the kernel compiled, or loaded from where it is kept."""
    ints, floats = np.zeros(1, dtype=np.int64), np.zeros(0)
    none = np.zeros((0, 1), dtype=np.int64)
    delay_cost(0.0, ints, ints, none, floats, floats, none, floats, floats, floats, floats, np.zeros(0, np.int64), 0)
