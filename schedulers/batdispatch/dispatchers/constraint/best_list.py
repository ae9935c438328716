"""The best of a few list schedules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import msgspec

from batdispatch.core.ledger import Ledger
from batdispatch.core.options import Options
from batdispatch.dispatchers.constraint.base import NotNegative, PlanningDispatcher, PlanningOptions
from batdispatch.dispatchers.constraint.instance import Instance
from batdispatch.dispatchers.constraint.lists import Plan, Planner, best_of_lists
from batdispatch.parts.solving import Found, settled


class BestListOptions(PlanningOptions, frozen=True, kw_only=True):
    """Options of best-list.

    ordering: the first of the lists is in this order, too.
    placement: unless given, `scarce` with capacity=nodes and `first-fit` with capacity=pooled.
    capacity: `nodes`: plan the jobs on the nodes. `pooled`: plan the jobs as if all nodes were one, and place only
        those that start now; a job that finds no place waits for the next decision.
    tries: try so many changes of the best plan; each puts a job that waits at the front of the plan's list.
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

    Guarantee: none on waiting times: of the jobs that do not fit now only `ahead` are planned for. A plan never exceeds
        a capacity, and its total slowdown is at most that of the search rule's plan.
    Time: at each decision O(tries + 5) list schedules of at most window + ahead jobs, each O(n s p) with s steps (one
        per running and planned job) and p for one placement.
    Deviations: none; this dispatcher is ours.
    References:
        [1] C. Galleguillos, Z. Kiziltan, R. Soto. A constraint programming-based job dispatcher for modern HPC systems
            and applications. 2020. Section 3.
        [2] W. E. Smith. Various optimizers for single-stage production. Naval Research Logistics Quarterly, 3, 1956,
            pp. 59-66.
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

    def plan(self, instance: Instance, counters: dict[str, int]) -> Found[Plan]:
        began = self.clock()
        first, plan = best_of_lists(Planner(instance, self.placement), self.options.tries)
        if self.options.capacity == "pooled":
            plan, refused = self.place_now(instance, plan)
            counters["put_back"] = len(refused)
        found = settled(plan, plan.cost, bound=instance.bound, seconds=self.clock() - began)
        found.first = first.cost
        return found

    def plan_again(self, instance: Instance, note: Mapping[str, Any]) -> Plan | None:
        return self.plan(instance, {}).solution
