"""Schedules of an instance made from lists of its jobs: first solutions, hints, and all that `best-list` does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from itertools import chain
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.solvers.constraint.instance import Instance
from batdispatch.core.capacity.totals import SOMEWHERE
from batdispatch.core.hosts.allocation import Place
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.scene import Scene
from batdispatch.core.plans.list_schedule import ListEntry, forward, serial
from batdispatch.core.plans.reservations import Reservation, reservations_between
from batdispatch.core.plans.timeline import Timeline
from batdispatch.parts.placement import Placement


class Plan(msgspec.Struct, frozen=True):
    """A schedule of an instance.

    Attributes:
        starts: int64 [job], s from now; the horizon for a job that was not planned.
        cost: sum of weight x start, see `Instance.weights`.
        places: of each job; None for a job that was not planned, and `SOMEWHERE` where all nodes are taken for one.
    """

    starts: NDArray[np.int64]
    cost: int
    places: list[Place | None]

    def now(self) -> list[int]:
        """Return the jobs that start now, in the instance's order."""
        return [int(job) for job in (self.starts == 0).nonzero()[0] if self.places[job] is not None]


class Planner:
    """Makes schedules of one instance from lists of its jobs."""

    def __init__(self, instance: Instance, placement: Placement, after: Sequence[float] | None = None) -> None:
        """Prepare.

        Args:
            instance: the instance.
            placement: where jobs go.
            after: earliest start of each job, s from now; None: now.
        """
        self.instance = instance
        self._placement = placement
        earliest = [-1.0] * len(instance.jobs) if after is None else after
        self._listed = [
            ListEntry(*row)
            for row in zip(instance.jobs, instance.durations.tolist(), instance.weights.tolist(), earliest, strict=True)
        ]

    def forward(self, order: NDArray[np.intp]) -> Plan:
        """Return the schedule in which, at each moment, the first jobs of the list that fit start.

        This is the search rule of PCP'20 (section 3), when the list is in the order of priority: of the jobs that can
        start first, take the one whose priority is highest.
        """
        instance, listed = self.instance, [self._listed[job] for job in order.tolist()]
        found = forward(instance.space, instance.free, instance.ends, listed, self._choose, 0)
        return self._plan(order, found)

    def serial(self, order: NDArray[np.intp], limit: float = np.inf) -> Plan | None:
        """Return the schedule in which each job of the list in turn gets its earliest start, whatever waits behind it.

        None if the schedule costs `limit` or more. Jobs that find no place count as starting at the horizon.
        """
        found = serial(self._timeline, [self._listed[job] for job in order.tolist()], self._choose, limit)
        if found is None:
            return None
        plan = self._plan(order, found)
        return plan if plan.cost < limit else None

    @cached_property
    def _timeline(self) -> Timeline[Any]:
        instance = self.instance
        return Timeline.rising(instance.space, 0, instance.free, instance.ends, instance.opened)

    def _choose(self, free: Any, job: Job, start: float, end: float, planned: Sequence[Reservation]) -> Place | None:
        if self.instance.pooled:
            return SOMEWHERE
        ledger, opened = self.instance.ledger, self.instance.opened
        if opened is not None:
            job, _ = opened(job, start)
        held = partial(self._held, start, end, planned)
        scene = Scene(ledger, free, held, self.instance.jobs, ledger.now + start)
        return self._placement.place(scene, job)

    def _held(self, start: float, end: float, planned: Sequence[Reservation]) -> Iterator[tuple[Job, Place]]:
        """Yield who holds what at any moment from `start` to `end`."""
        return chain(
            ((one.stay.job, Place(one.allocation)) for one in self.instance.running if start < one.seconds),
            reservations_between(planned, start, end),
        )

    def _plan(self, order: NDArray[np.intp], found: Sequence[Reservation | None]) -> Plan:
        starts = np.zeros(len(found), dtype=np.int64)
        places: list[Place | None] = [None] * len(found)
        for job, kept in zip(order.tolist(), found, strict=True):
            starts[job] = self.instance.horizon() if kept is None else kept.start
            places[job] = None if kept is None else kept.place
        return Plan(starts, self.instance.cost(starts), places)


def orders(instance: Instance) -> list[NDArray[np.intp]]:
    """Return the lists worth trying: as given, by duration, by area, and by Smith's rule. Each is int64 [job].

    With d for a job's duration and a for its largest share of any resource, the area is d a. Smith's rule takes jobs by
    ascending (work / weight); the work is the area and the weight 1/d, so that the ratio is d^2 a.
    """
    share = (instance.needs / np.maximum(instance.total, 1)).max(axis=1)
    d = instance.durations
    ranks = np.arange(len(d))
    return [ranks, np.lexsort((ranks, share, d)), np.lexsort((ranks, d, d * share)), np.lexsort((ranks, d * d * share))]


def first_solution(planner: Planner) -> Plan:
    """Return the first solution of PCP'20's search: a non-delay schedule of the jobs in their order."""
    return planner.forward(np.arange(len(planner.instance.jobs)))


def best_of_lists(planner: Planner, tries: int) -> tuple[Plan, Plan]:
    """Return the first solution, by the search rule of PCP'20, and the best plan found.

    The best plan is looked for among the active schedules of several lists. Then up to `tries` changes are tried: the
    first job that waits in the best plan and was not tried yet goes to the front of the best plan's list.

    Guarantee: the best plan costs no more than the first solution. The same instance gives the same plans.
    Time: `tries` + 5 list schedules, see `batdispatch.core.plans.list_schedule`.
    """
    instance = planner.instance
    bound = instance.bound
    first = best = first_solution(planner)
    if best.cost <= bound:
        return first, best
    lists = orders(instance)
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
