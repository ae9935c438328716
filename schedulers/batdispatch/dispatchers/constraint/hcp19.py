"""HCP'19."""

from __future__ import annotations

from typing import ClassVar

from batdispatch.core.ledger import Ledger
from batdispatch.core.options import Options
from batdispatch.dispatchers.constraint.base import NotNegative, SolverDispatcher, SolverOptions
from batdispatch.dispatchers.constraint.instance import Instance
from batdispatch.dispatchers.constraint.lists import Plan
from batdispatch.parts.solving import Found, settled


class Hcp19Options(SolverOptions, frozen=True, kw_only=True):
    """Options of HCP'19.

    ordering: by which order the window is cut, and in which the second stage places jobs (`batdispatch list
        orderings`).
    placement: on which free hosts the second stage puts a job (`batdispatch list placements`); best fit as published.
    prediction, default_walltime, window, ahead, reserve: see `batdispatch explain best-list`.
    work: limit of CP-SAT for each decision, in its deterministic seconds; with 0 it is not called.
    wall: limit of CP-SAT in seconds of wall-clock time, a safety net; reaching it is counted as a fallback.
    repair: how often the schedule is made again at once, from lists, when jobs find no place; 0: they wait for the next
        decision, as published.
    """

    repair: NotNegative = 0


class Hcp19(SolverDispatcher):
    """Schedules the waiting jobs as if all nodes were one, then places those that start now.

    First stage: one cumulative per resource, for the least sum of slowdowns, by CP-SAT. Second stage: best fit in the
    order of priority; a job that finds no place waits for the next decision [1]. Where the sums of free capacity prove
    the first list schedule optimal, no solver is called (status BOUND).

    Guarantee: none on waiting times: of the jobs that do not fit now only `ahead` are planned for, and a planned start
        may find no nodes. What is started never exceeds a capacity.
    Time: bounded by `work` at each decision; the model has a variable per job and a cumulative per resource.
    Deviations: CP-SAT in place of the authors' solver and search, with a list schedule as a hint. Any request takes
        part in the first stage, by what it takes of the machine at least; the placement sees to the rest.
    References:
        [1] Galleguillos, Kiziltan, Sîrbu, Babaoglu: "Constraint programming-based job dispatching for modern HPC
            applications", CP 2019, section 5.
    """

    options_type: ClassVar[type[Options]] = Hcp19Options

    def takes_nodes_for_one(self, ledger: Ledger) -> bool:
        return True

    def plan(self, instance: Instance, counters: dict[str, int]) -> Found[Plan]:
        began = self.clock()
        found = self.improve("pooled", instance, self.first(instance), began)
        plan, refused = self.place_now(instance, found.solution)
        counters.update(put_back=len(refused), repairs=0)
        # The first moment at which something ends: what finds no place now finds one then at the soonest.
        soonest = float(min([int(instance.durations.min()), *(one.seconds for one in instance.running)]))
        after = [-1.0] * len(instance.jobs)
        while refused and counters["repairs"] < self.options.repair:
            counters["repairs"] += 1
            for job in refused:
                after[job] = soonest
            again = self.first(instance, after)
            repaired = settled(again, again.cost, bound=instance.bound, status="GREEDY")
            plan, refused = self.place_now(instance, again)
            counters["put_back"] += len(refused)
            repaired.solve_seconds = self.clock() - began
            found = repaired
        found.solution = plan
        return found
