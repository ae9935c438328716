"""PCP'20."""

from __future__ import annotations

import time
from typing import ClassVar, Literal

from batdispatch.core.options import Options
from batdispatch.dispatchers.constraint.base import ConstraintDispatcher, ConstraintOptions
from batdispatch.dispatchers.constraint.greedy import Nodes, Planner, search
from batdispatch.dispatchers.constraint.instance import Instance
from batdispatch.dispatchers.constraint.outcome import Outcome


class Pcp20Options(ConstraintOptions, frozen=True, kw_only=True):
    """Options of PCP'20.

    formulation: `fast`: schedules made from lists on the nodes, improved by CP-SAT's model of unit counts as far as
        `work` allows. `paper`: the published model of positions, solved for 1 deterministic second unless `work` says
        otherwise.
    nodes: which are filled first: `scarce` (those with the least free of what the jobs of the window ask for),
        `fullest` (best fit), `highest` as published (positions are set to their maximum) or `lowest`.
    """

    formulation: Literal["fast", "paper"] = "fast"
    nodes: Nodes = "scarce"


class Pcp20(ConstraintDispatcher):
    """Schedules and places the waiting jobs together, for the least sum of slowdowns; those planned for now start.

    Galleguillos, Kiziltan, Soto: "A constraint programming-based job dispatcher for modern HPC systems and
    applications", 2020 (PCP'20). Jobs are boxes in time and in the line of all units of a resource; the model's size
    does not depend on the machine's.

    Guarantee: none on waiting times: of the jobs that do not fit now only `ahead` are planned for. A plan never exceeds
    a capacity, and is at least as good as the first solution of the published search rule.
    Time: `fast`: at worst jobs x steps x nodes for each of 5 lists; a step for each running and planned job.
    Deviation: by default no solver is called, since only what starts now is carried out, and the rest is planned anew
    at the next decision. The implied cumulative on positions has durations as demands; the paper prints start times,
    which is not implied.
    """

    options_type: ClassVar[type[Options]] = Pcp20Options

    def solve(self, instance: Instance) -> Outcome:
        began = time.perf_counter()
        planner = Planner(instance, self.options.nodes)
        first, plan = search(planner, self.options.tries)
        paper = self.options.formulation == "paper"
        work = self.options.work or (1.0 if paper else 0.0)
        bound = instance.bound()
        if plan.cost <= bound or not work:
            status = "BOUND" if plan.cost <= bound else "GREEDY"
            spent = time.perf_counter() - began
            return Outcome(plan=plan, status=status, bound=bound, first=first.cost, solve_seconds=spent)
        return self.improve("positions" if paper else "counts", instance, plan, first, work)
