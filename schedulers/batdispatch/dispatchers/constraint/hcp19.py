"""HCP'19."""

from __future__ import annotations

import time
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.ledger import Ledger
from batdispatch.core.options import Options
from batdispatch.dispatchers.constraint.base import ConstraintDispatcher, ConstraintOptions, NotNegative
from batdispatch.dispatchers.constraint.greedy import Nodes, Place, Planner, search
from batdispatch.dispatchers.constraint.instance import Instance
from batdispatch.dispatchers.constraint.outcome import Outcome


class Hcp19Options(ConstraintOptions, frozen=True, kw_only=True):
    """Options of HCP'19.

    nodes: which are filled first in the second stage: the `highest`, the `lowest`, the `fullest` (best fit, as
        published), or `scarce` (those with the least free of what the jobs of the window ask for).
    repair: how often the schedule is made again at once when jobs find no nodes; 0: they wait, as published.
    """

    nodes: Nodes = "lowest"
    repair: NotNegative = 0
    ahead: NotNegative = 10


class Hcp19(ConstraintDispatcher):
    """Schedules the waiting jobs as if all nodes were one, then places those that start now.

    Galleguillos, Kiziltan, Sîrbu, Babaoglu: "Constraint programming-based job dispatching for modern HPC applications",
    CP 2019 (HCP'19). First stage: one cumulative a resource type, for the least sum of slowdowns. Second stage: best
    fit in the order of priority; a job that finds no nodes is put back.

    Deviation: by default the lowest nodes are filled first instead of the fullest, and 10 jobs that do not fit now are
    planned for too: both measured better. The published dispatcher leaves jobs that were put back to its next call;
    with `repair` the schedule is made again at once with these jobs not starting now, which measured no better.
    """

    options_type: ClassVar[type[Options]] = Hcp19Options

    def decide(self, cluster: Ledger) -> None:
        if not cluster.queue:
            return
        jobs = self.candidates(cluster)
        if not jobs:
            return
        instance = self.viewer.instance(cluster, jobs)
        pooled = instance.pooled()
        held_back = np.zeros(len(jobs), dtype=bool)
        put_back = repairs = 0
        while True:
            outcome = self._schedule(pooled, held_back)
            places, refused = self._place(instance, outcome.plan.starts)
            put_back += len(refused)
            if not refused or repairs == self.options.repair:
                break
            repairs += 1
            held_back[refused] = True
        for index, place in places:
            cluster.start(jobs[index], self.allocation(cluster, jobs[index], place))
        if outcome.solved:
            self.window.succeeded()
        else:
            self.window.failed(len(jobs))
        self.account.add(cluster.now, instance, outcome, len(places), put_back=put_back, repairs=repairs)

    def solve(self, instance: Instance) -> Outcome:
        return self._schedule(instance.pooled(), np.zeros(len(instance.ids), dtype=bool))

    def _schedule(self, pooled: Instance, held_back: NDArray[np.bool_]) -> Outcome:
        """Return a schedule of the pooled instance in which the jobs marked do not start now."""
        began = time.perf_counter()
        first, plan = search(Planner(pooled, "lowest", held_back), self.options.tries)
        bound = pooled.bound()
        if plan.cost <= bound or not self.options.work or held_back.any():
            status = "BOUND" if plan.cost <= bound else "GREEDY"
            spent = time.perf_counter() - began
            return Outcome(plan=plan, status=status, bound=bound, first=first.cost, solve_seconds=spent)
        return self.improve("pooled", pooled, plan, first, self.options.work)

    def _place(self, instance: Instance, starts: NDArray[np.int64]) -> tuple[list[tuple[int, Place]], list[int]]:
        """Return (job, place) of what finds nodes among the jobs that start now, in order of priority, and the rest."""
        planner = Planner(instance, self.options.nodes)
        free = instance.free()
        placed: list[tuple[int, Place]] = []
        refused: list[int] = []
        for job in (starts == 0).nonzero()[0].tolist():
            place = planner.place(free, job)
            if place is None:
                refused.append(job)
            else:
                free[place[0]] -= planner.used(job, place)
                placed.append((job, place))
        return placed, refused
