"""Rollouts: EASY with room kept free, on sums over the machine, until no job of a drawn future waits.

A rollout is written in C, in native/rollout.c. Where that was not built, a function in Python does the same, with the
same results and some hundred times as long.
"""

from __future__ import annotations

import math
from bisect import insort
from operator import itemgetter
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
    now, total, free = future.now, future.total.tolist(), future.free.tolist()
    needs, places, limits = future.needs.tolist(), future.places.tolist(), future.limits.tolist()
    expected, lasts, comes = future.expected.tolist(), future.lasts.tolist(), future.comes.tolist()
    #: (expected end, end, what it gives back) of each job that runs.
    ends = future.run_expected.tolist(), future.run_ends.tolist()
    running: list[tuple[float, float, list[int]]] = list(zip(*ends, future.run_needs.tolist(), strict=True))
    queue = sorted(range(future.waiting), key=places.__getitem__)
    coming, time, cost = future.waiting, now, 0.0
    while True:
        left: list[int] = []
        shadow, spare, is_reserved = math.inf, free, False
        for job in queue:
            need, share = needs[job], limits[job]
            roomy = share >= 1.0 or not any(
                0 < amount <= share * whole < whole - unused + amount
                for amount, whole, unused in zip(need, total, free, strict=True)
            )
            spends = time + expected[job] > shadow
            if roomy and _fits(need, free) and (not spends or _fits(need, spare)):
                free = _less(free, need)
                if spends:
                    spare = _less(spare, need)
                running.append((time + expected[job], time + lasts[job], need))
                cost += (time - (now if job < future.waiting else comes[job])) / max(lasts[job], THRESHOLD)
                continue
            left.append(job)
            if roomy and not is_reserved:
                shadow, spare, is_reserved = *_reservation(free, need, running), True
        queue = left
        if coming == len(places) and not queue:
            return cost
        time = max(time, min([end for _, end, _ in running] + comes[coming : coming + 1], default=math.inf))
        if time == math.inf:
            # What is left fits nothing: hosts are away.
            return cost
        for _, end, need in running:
            free = _more(free, need) if end <= time else free
        running = [(time + LATE if hoped <= time else hoped, end, need) for hoped, end, need in running if end > time]
        while coming < len(places) and comes[coming] <= time:
            insort(queue, coming, key=places.__getitem__)
            coming += 1


def _fits(need: list[int], room: list[int]) -> bool:
    return all(amount <= free for amount, free in zip(need, room, strict=True))


def _less(amounts: list[int], taken: list[int]) -> list[int]:
    return [amount - part for amount, part in zip(amounts, taken, strict=True)]


def _more(amounts: list[int], given: list[int]) -> list[int]:
    return [amount + part for amount, part in zip(amounts, given, strict=True)]


def _reservation(
    free: list[int], need: list[int], running: list[tuple[float, float, list[int]]]
) -> tuple[float, list[int]]:
    """Return the shadow time of a job that needs so much, and what it leaves spare of all that is free by then."""
    spare, shadow = free, math.inf
    for hoped, _, back in sorted(running, key=itemgetter(0)):
        if hoped > shadow:
            break
        spare = _more(spare, back)
        if shadow == math.inf and _fits(need, spare):
            shadow = hoped
    return shadow, _less(spare, need)
