"""The best of a few list schedules."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from batdispatch.core.ledger import Ledger
from batdispatch.core.options import Options
from batdispatch.dispatchers.constraint.base import NotNegative, PlanningDispatcher, PlanningOptions
from batdispatch.dispatchers.constraint.instance import Instance
from batdispatch.dispatchers.constraint.lists import Plan, Planner, best_of_lists
from batdispatch.parts.solving import Found, settled


class BestListOptions(PlanningOptions, frozen=True, kw_only=True):
    """Options of best-list.

    ordering: by which order the window is cut, and the first of the lists (`batdispatch list orderings`).
    placement: on which free hosts a job goes (`batdispatch list placements`); unless given, `scarce` when capacity is
        that of the nodes and `first-fit` when it is pooled.
    capacity: `nodes`: jobs are planned on the nodes. `pooled`: jobs are planned as if all nodes were one, and only
        those that start now are placed; a job that finds no place waits for the next decision.
    prediction: how long jobs are expected to run (`batdispatch list predictions`); no prediction exceeds the walltime.
    default_walltime: seconds that a job without a walltime is expected to run; infinite unless given.
    window: how many of the jobs that would fit now are decided about together, at most.
    ahead: how many of the jobs that do not fit now are planned for too. They keep others from delaying them.
    reserve: when a long job starts, keep up to this share of each resource free for much shorter jobs (at most a tenth
        as long) like those that arrived recently. 0 switches this off.
    tries: how many changes of the best plan are tried: a job that waits goes to the front of its list.
    """

    placement: str = ""
    capacity: Literal["nodes", "pooled"] = "nodes"
    tries: NotNegative = 0


class BestList(PlanningDispatcher):
    """Plans the waiting jobs from several lists, keeps the plan of least total slowdown, and starts what starts now.

    The first plan is non-delay: at each moment the first jobs in order that fit start, which is also the search rule of
    PCP'20 [1]. Then each job of a list in turn gets its earliest start, for four lists: by the ordering, by duration,
    by area (duration x share of the machine), and by Smith's rule [2] for the weights 1/duration.

    Guarantee: none on waiting times: of the jobs that do not fit now only `ahead` are planned for. A plan never exceeds
        a capacity, and its total slowdown is at most that of the search rule's plan.
    Time: at each decision O(tries + 5) list schedules of at most window + ahead jobs, each O(n s p) with s steps (one
        per running and planned job) and p for one placement.
    Deviations: none; this dispatcher is ours.
    References:
        [1] Galleguillos, Kiziltan, Soto: "A constraint programming-based job dispatcher for modern HPC systems and
            applications", 2020, section 4.
        [2] Smith: "Various optimizers for single-stage production", Naval Research Logistics Quarterly, 1956, pp.
            59-66.
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
