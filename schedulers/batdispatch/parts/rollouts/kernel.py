"""Rollouts: EASY with room kept free, on sums over the machine, until no job of a drawn future waits.

A rollout is written in C, in native/rollout.c. Where that was not built, a function in Python does the same, with the
same results and some hundred times as long.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.native.library import load
from batdispatch.native.record import Record, call, structure_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: A job that has outlived its expected end is expected to end in so many seconds.
LATE = 1.0
#: Bounded slowdown: shorter jobs count as this long, s.
THRESHOLD = 10.0


class Rollout(Record):
    """What the structure of native/rollout.c holds."""

    kinds, _fields_ = structure_of("rollout.c", "Rollout")


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
    costs = np.zeros((policies, samples))
    rollout.hold(total=futures.total, first_free=futures.free, costs=costs)
    rollout.hold(**{name: getattr(futures, name) for name in Futures._fields[3:-1]})
    # Room to work in. Jobs that start run as well; a place in their order is two numbers.
    most = running + jobs
    rollout.hold_zeros(resources, "free", "spare")
    rollout.hold_zeros(most * resources, "used")
    rollout.hold_zeros(most, "ends", "hoped")
    rollout.hold_zeros(2 * most, "order")
    rollout.hold_zeros(jobs, "queue")
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
