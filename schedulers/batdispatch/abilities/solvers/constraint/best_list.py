"""The best of a few list schedules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import msgspec

from batdispatch.abilities.solvers.constraint.base import NotNegative, PlanningDispatcher, PlanningOptions
from batdispatch.abilities.solvers.constraint.instance import Instance
from batdispatch.abilities.solvers.constraint.lists import Plan, Planner, best_of_lists
from batdispatch.abilities.solvers.solving import SolverResult, result_without_solver
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options


class BestListOptions(PlanningOptions, frozen=True, kw_only=True):
    """Options of best-list.

    ordering: Make the first of the lists in this order, and take the jobs of the window by it (`batdispatch list
        orderings`).
    placement: Choose the hosts of a job by this rule (`batdispatch list placements`). Unless given, it is `scarce` with
        `capacity=nodes`, and `first-fit` with `capacity=pooled`.
    capacity: `nodes`: plan the jobs on the nodes. `pooled`: plan the jobs as if all nodes were one, and place only
        those that start now. A job that finds no place then waits for the next decision.
    tries: Try this many changes of the best plan. Each one moves a job that waits in the plan to the front of its list.
        0 switches this off.
    """

    placement: str = ""
    capacity: Literal["nodes", "pooled"] = "nodes"
    tries: NotNegative = 0


class BestList(PlanningDispatcher):
    """Plans the waiting jobs from several lists, keeps the plan of least total slowdown, and starts what starts now.

    The first plan is non-delay: at each moment, the first jobs in order that fit start. This is also the search rule of
    PCP'20 [1]. Then four more plans are made from lists, in each of which every job in turn gets its earliest start:
    the lists are by the ordering, by duration, by area (duration x share of the machine), and by Smith's rule [2] for
    the weights 1/duration.

    Typical use: mixed workloads with many short jobs, and nodes with several scarce resources. On whole logs of one
        resource `easy[ordering=guarded]` does better.
    Limits: wide jobs may starve: of the jobs that do not fit now only `ahead` are planned for. Durations are rounded up
        to whole seconds.
    Guarantee: `slowdown(plan) <= slowdown(first plan)`, in sum over the planned jobs. No plan exceeds a capacity. There
        is no guarantee on waiting times.
    Time: `O((tries + 5) n s p)` for a decision, with n jobs planned (at most `window` + `ahead`), s steps (one per
        running and planned job), and p for one placement.
    Deviations: none, since this dispatcher is ours.
    References:
        [1] Galleguillos, Kiziltan, Soto: "A constraint programming-based job dispatcher for modern HPC systems and
            applications", 2020, arXiv:2009.10348, section 3 (the search rule of the first plan).
        [2] Smith: "Various optimizers for single-stage production", Naval Research Logistics Quarterly 3, 1956, pp.
            59-66 (the fourth list). doi:10.1002/nav.3800030106
        [3] Kolisch: "Serial and parallel resource-constrained project scheduling methods revisited", European Journal
            of Operational Research 90, 1996 (forward and serial plans).
    """

    options_type: ClassVar[type[Options]] = BestListOptions

    def __init__(self, options: Options | None = None, seed: int = 0) -> None:
        chosen = BestListOptions() if options is None else options
        if isinstance(chosen, BestListOptions) and not chosen.placement:
            default = "first-fit" if chosen.capacity == "pooled" else "scarce"
            chosen = msgspec.structs.replace(chosen, placement=default)
        super().__init__(chosen, seed)

    def takes_nodes_for_one(self, ledger: Ledger) -> bool:
        return self.options.capacity == "pooled" or super().takes_nodes_for_one(ledger)

    def plan(self, instance: Instance, counters: dict[str, int]) -> SolverResult[Plan]:
        began = self.clock()
        first, plan = best_of_lists(Planner(instance, self.placement), self.options.tries)
        if self.options.capacity == "pooled":
            plan, refused = self.place_now(instance, plan)
            counters["put_back"] = len(refused)
        found = result_without_solver(plan, plan.cost, bound=instance.bound, seconds=self.clock() - began)
        found.first = first.cost
        return found

    def plan_again(self, instance: Instance, note: Mapping[str, Any]) -> Plan | None:
        return self.plan(instance, {}).solution
