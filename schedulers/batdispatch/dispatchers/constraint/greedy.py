"""Schedules made outside the solver: first solutions, upper bounds, and what the fast dispatchers work with."""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from batdispatch.dispatchers.constraint.instance import Instance, room

#: Nodes of a job and how many of its units are on each.
Place = tuple[NDArray[np.intp], NDArray[np.int64]]
#: Which nodes are filled first, see `Planner`.
Nodes = Literal["scarce", "fullest", "highest", "lowest"]


class Plan(msgspec.Struct):
    """A complete schedule of an instance.

    Attributes:
        starts: int64 [job], s from now.
        cost: sum of weight x start.
        places: nodes and units of each job.
    """

    starts: NDArray[np.int64]
    cost: int
    places: list[Place]


class Planner:
    """Makes schedules of one instance from lists of its jobs.

    Nodes are filled one after the other. `fullest` takes those first that have the least free, compared to the largest
    node (best fit); `scarce` likewise, but each resource counts as much as the jobs of the window ask for it, so that
    they stay away from nodes that have what others need; ties go to the last node. `highest` takes the last nodes of
    the machine, which is what PCP'20's search does when it sets positions to their maximum; `lowest` the first ones.

    Attributes:
        runs: how many schedules were begun.
    """

    def __init__(self, instance: Instance, nodes: Nodes = "scarce", held_back: NDArray[np.bool_] | None = None) -> None:
        """Prepare; the jobs marked in `held_back` must not start now."""
        self.instance = instance
        self.runs = 0
        self._nodes = nodes
        self._weights: list[int] = instance.weights().tolist()
        self._durations: list[int] = instance.durations.tolist()
        self._units: list[int] = instance.units.tolist()
        self._whole: list[bool] = instance.whole().tolist()
        self._held_back = np.zeros(len(instance.ids), dtype=bool) if held_back is None else held_back
        self._free = instance.free()
        self._ends: dict[int, list[tuple[NDArray[np.intp], NDArray[np.int64]]]] = {}
        for held in instance.running:
            self._ends.setdefault(held.remaining, []).append((held.hosts, held.amounts))
        #: Sums below which a job surely does not fit, int64 [job, resource].
        self._needs = instance.totals()
        self._scale = 1.0 / np.maximum(instance.capacity.max(axis=0), 1)
        if nodes == "scarce":
            self._scale = self._scale * instance.pressure()
        self._steps: tuple[list[int], NDArray[np.int64], NDArray[np.int64]] | None = None

    # ------------------------------------------------------------------ non-delay schedules

    def forward(self, order: NDArray[np.intp]) -> Plan:
        """Return the schedule in which, at each moment, the first jobs of the list that fit start.

        The search rule of PCP'20: the job whose priority is highest and that can start first. No job waits while there
        is room for it.
        """
        self.runs += 1
        free = self._free.copy()
        pool = free.sum(axis=0)
        waiting, needs = order, self._needs[order]
        starts = np.zeros(len(order), dtype=np.int64)
        places: dict[int, Place] = {}
        # (time, tie, what is given back); running jobs come first.
        events = [(time, -1, given) for time, given in self._ends.items()]
        heapq.heapify(events)
        if not events and self._held_back.any():
            events = [(1, -1, [])]
        now = 0
        while True:
            begun = []
            for position in (needs <= pool).all(axis=1).nonzero()[0].tolist():
                job = int(waiting[position])
                if (now == 0 and self._held_back[job]) or (needs[position] > pool).any():
                    continue
                place = self.place(free, job)
                if place is None:
                    continue
                used = self.used(job, place)
                free[place[0]] -= used
                pool -= used.sum(axis=0)
                starts[job], places[job] = now, place
                begun.append(position)
                heapq.heappush(events, (now + self._durations[job], job, [(place[0], used)]))
            if begun:
                kept = np.ones(len(waiting), dtype=bool)
                kept[begun] = False
                waiting, needs = waiting[kept], needs[kept]
            if not len(waiting):
                return Plan(starts, self.instance.cost(starts), [places[job] for job in range(len(order))])
            now = events[0][0]
            while events and events[0][0] == now:
                for hosts, amounts in heapq.heappop(events)[2]:
                    free[hosts] += amounts
                    pool += amounts.sum(axis=0)

    # ------------------------------------------------------------------ active schedules

    def serial(self, order: NDArray[np.intp], limit: float = math.inf) -> Plan | None:
        """Return the schedule in which each job of the list in turn gets its earliest start, whatever waits behind it.

        A job that cannot start yet keeps others from delaying it. None as soon as the schedule costs `limit` or more.
        """
        self.runs += 1
        times, frees, sums = self._profile()
        starts = np.zeros(len(order), dtype=np.int64)
        places: dict[int, Place] = {}
        cost = 0
        for job in order.tolist():
            first, last, end, place = self._earliest(job, times, frees, sums)
            start = times[first]
            cost += self._weights[job] * start
            if cost >= limit:
                return None
            starts[job], places[job] = start, place
            if last == len(times) or times[last] != end:
                count = len(times)
                frees[last + 1 : count + 1] = frees[last:count]
                sums[last + 1 : count + 1] = sums[last:count]
                frees[last], sums[last] = frees[last - 1], sums[last - 1]
                times.insert(last, end)
            used = self.used(job, place)
            frees[first:last, place[0]] -= used
            sums[first:last] -= used.sum(axis=0)
        return Plan(starts, cost, [places[job] for job in range(len(order))])

    def _profile(self) -> tuple[list[int], NDArray[np.int64], NDArray[np.int64]]:
        """Return copies of: when the running jobs end, what is free from then on [step, node, resource], its sums."""
        if self._steps is None:
            times = [0, *sorted(self._ends)]
            if self._held_back.any():
                # What does not fit now fits at the soonest when something ends.
                soonest = min(self._durations)
                if len(times) == 1 or soonest < times[1]:
                    times.insert(1, soonest)
            frees = np.empty((len(times) + len(self._units), *self._free.shape), dtype=np.int64)
            frees[0] = self._free
            for step, time in enumerate(times[1:], start=1):
                frees[step] = frees[step - 1]
                for hosts, amounts in self._ends.get(time, ()):
                    frees[step][hosts] += amounts
            self._steps = (times, frees, frees.sum(axis=1))
        times, frees, sums = self._steps
        fresh = np.empty_like(frees)
        fresh[: len(times)] = frees[: len(times)]
        return list(times), fresh, sums.copy()

    def _earliest(
        self, job: int, times: list[int], frees: NDArray[np.int64], sums: NDArray[np.int64]
    ) -> tuple[int, int, int, Place]:
        """Return the first step, the step after the last, the end, and the place of a job's earliest start."""
        count = len(times)
        duration = self._durations[job]
        blocked = np.append((sums[:count] < self._needs[job]).any(axis=1).nonzero()[0], count).tolist()
        first = 1 if self._held_back[job] else 0
        gap = 0
        while True:
            while blocked[gap] < first:
                gap += 1
            bound = blocked[gap]
            if bound == first:
                first += 1
                continue
            end = times[first] + duration
            if bound < count and times[bound] < end:
                first = bound + 1
                continue
            last = bisect_left(times, end, first + 1)
            window = frees[first] if last == first + 1 else frees[first:last].min(axis=0)
            place = self.place(window, job)
            if place is not None:
                return first, last, end, place
            first += 1

    # ------------------------------------------------------------------ nodes

    def used(self, job: int, place: Place) -> NDArray[np.int64]:
        """Return what a job takes on each of its nodes, int64 [node of the place, resource]."""
        if self._whole[job]:
            return self.instance.capacity[place[0]]
        return np.asarray(place[1][:, None] * self.instance.requests[job])

    def place(self, free: NDArray[np.int64], job: int) -> Place | None:
        """Return nodes for a job within `free`, int64 [node, resource], or None."""
        units = self._units[job]
        able = room(free, self.instance.requests[job], self.instance.capacity, units)
        hosts = able.nonzero()[0]
        able = able[hosts]
        if not len(hosts) or able.sum() < units:
            return None
        if self._nodes in ("highest", "scarce"):
            hosts, able = hosts[::-1], able[::-1]
        if self._nodes in ("scarce", "fullest"):
            order = (free[hosts] * self._scale).sum(axis=1).argsort(kind="stable")
            hosts, able = hosts[order], able[order]
        total = able.cumsum()
        last = int(total.searchsorted(units))
        hosts, counts = hosts[: last + 1], able[: last + 1].copy()
        counts[last] -= int(total[last]) - units
        return hosts, counts


def orders(instance: Instance) -> list[NDArray[np.intp]]:
    """Return the lists worth trying: by priority, by duration, by area, and by Smith's rule (d^2 x demand)."""
    total = np.maximum(instance.capacity.sum(axis=0), 1)
    share = (instance.totals() / total).max(axis=1)
    d = instance.durations
    ranks = np.arange(len(d))
    # Weights are 1/d: on one resource, Smith's ratio of work to weight is d x share x d.
    return [ranks, np.lexsort((ranks, share, d)), np.lexsort((ranks, d, d * share)), np.lexsort((ranks, d * d * share))]


def search(planner: Planner, tries: int) -> tuple[Plan, Plan]:
    """Return the first solution, by the search rule of PCP'20, and the best plan found.

    Active schedules of several lists; then each of the first `tries` jobs that wait in the best one goes to the front
    of its list. Deterministic. Time: `tries` + 5 schedules, each linear in jobs x steps x nodes at worst.
    """
    instance = planner.instance
    bound = instance.bound()
    lists = orders(instance)
    first = best = planner.forward(lists[0])
    chosen = lists[0]
    for order in lists:
        if best.cost <= bound:
            return first, best
        found = planner.serial(order, best.cost)
        if found is not None:
            best, chosen = found, order
    tried: set[int] = set()
    for _ in range(tries):
        job = next((int(job) for job in chosen if best.starts[job] > 0 and int(job) not in tried), None)
        if job is None or best.cost <= bound:
            break
        tried.add(job)
        changed = np.concatenate(([job], chosen[chosen != job]))
        found = planner.serial(changed, best.cost)
        if found is not None:
            best, chosen = found, changed
    return first, best
