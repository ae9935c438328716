"""Rollouts: EASY with room kept free, on sums over the machine, until no job of a drawn future waits.

A rollout is written in C, in native/rollout.c. Where that was not built, a function in Python does the same, with the
same results and some hundred times as long.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.native.library import load
from batdispatch.native.record import Record, call, fields_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: A job that has outlived its expected end is expected to end in so many seconds.
LATE = 1.0
#: Bounded slowdown: shorter jobs count as this long, s.
THRESHOLD = 10.0


class Rollout(Record):
    """What the structure of native/rollout.c holds."""

    kinds = {
        **dict.fromkeys(("resources", "jobs", "waiting"), int),
        **{"now": float, "total": np.int64, "free": np.int64, "spare": np.int64},
        **{"running": int, "used": np.int64, "ends": np.float64, "hoped": np.float64, "order": np.float64},
        **{"needs": np.int64, "expected": np.float64, "lasts": np.float64, "comes": np.float64},
        **{"limits": np.float64, "places": np.int64, "queue": np.int64, "queued": int},
        **{"time": float, "cost": float, "head": int, "shadow": float},
        **{"policies": int, "samples": int, "first_free": np.int64, "run_needs": np.int64, "run_ends": np.float64},
        **{"run_expected": np.float64, "costs": np.float64},
    }
    _fields_ = fields_of(kinds)


class Futures(NamedTuple):
    """What is rolled out, of one moment: jobs that run, that wait and that come, in order. Times in seconds.

    Attributes:
        now: when the futures begin.
        total: capacity, int64 [resource].
        free: what is free, int64 [resource].
        run_needs: what each running job gives back, int64 [running job, resource].
        run_ends: when each ends, float64 [sample, running job].
        run_expected: when each is expected to end, float64 [running job].
        needs: what each job takes, int64 [sample, job, resource]; first those that wait now, then those that come.
        expected: how long each is expected to run, float64 [sample, job].
        lasts: how long each runs, float64 [sample, job].
        comes: when each comes, float64 [sample, job]; not used for those that wait now.
        limits: share of each resource that may be in use once a job has started, float64 [policy, sample, job].
        places: place of each in the order, int64 [policy, sample, job].
        waiting: number of jobs that wait now.
    """

    now: float
    total: Ints
    free: Ints
    run_needs: Ints
    run_ends: Floats
    run_expected: Floats
    needs: Ints
    expected: Floats
    lasts: Floats
    comes: Floats
    limits: Floats
    places: Ints
    waiting: int

    def one(self, policy: int, sample: int) -> Futures:
        """Return one future alone, without the axes of policies and samples."""
        drawn = ("run_ends", "needs", "expected", "lasts", "comes")
        given = {name: getattr(self, name)[sample] for name in drawn}
        given |= {name: getattr(self, name)[policy, sample] for name in ("limits", "places")}
        return self._replace(**given)


def delay_costs(futures: Futures) -> Floats:
    """Return the sum of delay / max(run time, 10 s) over all jobs, waits before now left out; float64 [policy, sample].

    At each event, jobs are taken in order. A job starts if it fits and leaves room: of no resource that it uses may
    more than its limit be in use then. The limit 1 asks for no room, and a job larger than its limit need not leave
    any. The first job that leaves room and does not fit reserves its shadow time; jobs behind it start if they end by
    then or use what it leaves spare. A job that leaves no room waits without a reservation.

    Time: O(e (q + r log r) R) for each future with e events, q jobs that wait and r that run, R resources.
    """
    if load() is not None:
        return _delay_costs_in_c(futures)
    policies, samples, _ = futures.limits.shape
    return np.array(
        [[delay_cost_in_python(futures.one(policy, sample)) for sample in range(samples)] for policy in range(policies)]
    )


def _delay_costs_in_c(futures: Futures) -> Floats:
    (policies, samples, jobs), resources = futures.limits.shape, len(futures.total)
    running = len(futures.run_expected)
    rollout = Rollout(resources=resources, jobs=jobs, waiting=futures.waiting, now=futures.now, running=running)
    rollout.policies, rollout.samples = policies, samples
    given = (
        "total",
        "run_needs",
        "run_ends",
        "run_expected",
        "needs",
        "expected",
        "lasts",
        "comes",
        "limits",
        "places",
    )
    costs = np.zeros((policies, samples))
    rollout.hold(
        **{name: getattr(futures, name) for name in given},
        costs=costs,
        first_free=futures.free,
        # Room to work in. Jobs that start run as well.
        free=np.zeros(resources, dtype=np.int64),
        spare=np.zeros(resources, dtype=np.int64),
        used=np.zeros((running + jobs, resources), dtype=np.int64),
        ends=np.zeros(running + jobs),
        hoped=np.zeros(running + jobs),
        # Two numbers for each.
        order=np.zeros(2 * (running + jobs)),
        queue=np.zeros(jobs, dtype=np.int64),
    )
    call("rollout_costs", rollout, result=None)
    return costs


def delay_cost_in_python(future: Futures) -> float:
    """Return what `delay_costs` returns of one future, see `Futures.one`."""
    now, total, free_now, run_needs, run_ends, run_expected = future[:6]
    needs, expected, lasts, comes, limits, places, waiting = future[6:]
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
