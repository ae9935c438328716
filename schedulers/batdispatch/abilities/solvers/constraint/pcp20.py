"""PCP'20."""

from __future__ import annotations

from typing import ClassVar, Literal

from batdispatch.abilities.solvers.constraint.base import Positive
from batdispatch.abilities.solvers.constraint.instance import Instance
from batdispatch.abilities.solvers.constraint.lists import Plan
from batdispatch.abilities.solvers.constraint.model_search import SearchDispatcher, SearchOptions
from batdispatch.abilities.solvers.solving import SolverResult
from batdispatch.core.line.options import Options


class Pcp20Options(SearchOptions, frozen=True, kw_only=True):
    """Options of PCP'20.

    units: `increasing`: the positions of a job's units increase, as in the authors' code. `different`: they only
        differ, as in the paper. The search then finds fewer plans within the same limit.
    backtracking: `all`: the search takes back starts and positions, as published. `starts`: it takes back starts alone,
        as the authors' later PCP'21 does. That finds better plans, and proves nothing.
    placement: By default, the model places the jobs that it plans, and this rule places those that it cannot express.
        Any other placement places whatever starts now, and a job that finds no place waits.
    most_variables: Search no instance with more variables than this, counted as in the paper, which has no such limit.
        An instance that needs more is given to the fallback, and the next window is half as large.
    """

    units: Literal["increasing", "different"] = "increasing"
    backtracking: Literal["all", "starts"] = "all"
    placement: str = "last-fit"
    most_variables: Positive = 1_000_000


class Pcp20(SearchDispatcher):
    """Schedules and places the waiting jobs together, for the least sum of slowdowns; those planned for now start.

    Units of jobs are boxes in time and in the line of all units of a resource, so that the model does not grow with the
    machine [1, section 3]. The search is the published one: of the jobs that can start first, the one of highest
    priority starts as early as it can, and its positions get their largest values, the one with the fewest values left
    first. It goes on for better plans until the limit, and three times as long while it has none.

    Typical use: to compare with the paper. For everyday use take `best-list`.
    Limits: a decision of a large window takes long. If a search of several jobs finds no plan within its limit, the
        next window is half as large. Wide jobs may starve. Durations are rounded up to whole seconds.
    Guarantee: a plan never exceeds a capacity. There is no guarantee on waiting times: of the jobs that do not fit now
        only `ahead` are planned for. A window of one job that fits the machine always has a plan.
    Time: bounded by `work` deterministic seconds at each decision, `3 work` while no plan is found, with the building
        of the model and all propagation counted. A branch of the search compares `O(u^2)` pairs of u boxes. A model
        that takes more than `10 work` until its first branch is not searched, which is counted and told
        (`beyond_limit`). The model has `|Q| + sum_i rn_i |R|` variables as the paper counts them, for |Q| jobs
        in the window, rn_i units of job i and |R| resources. Where a job's units are placed at once, a branch takes
        `O((n + u) log(n + u))` for n nodes and u boxes.
    Deviations:
        - The limits are deterministic in place of the authors' wall clock.
        - If a start leads to nothing better, the job is put off until the next job can end. A search that puts it off
          by a second finds no plan for many instances.
        - A window of several jobs whose positions, one branch each, would exceed the limit before the first plan has
          variables for its starts alone: the search places all units of a job at once, each at its largest free
          position, and takes back starts alone. `whole_jobs` is 1 in the line of such a decision.
        - The positions of a job's units increase, as in the authors' published code. In the paper they are all
          different (`units=different`), for which fewer plans are found within the same limit.
        - The implied cumulative on positions is left out. The paper prints start times as its demands, which is not
          implied and makes feasible instances infeasible.
        - Running jobs that the window cannot meet have no box: those that outlast its last useful start, those that end
          before anything of it fits, and those on nodes which enough other nodes outdo. Positions that are full for as
          long are left out of the lines. At least one best plan stays (see
          `batdispatch.abilities.solvers.constraint.models.relevance`).
        - No job starts before it fits beside the running jobs, nor later than the other jobs take one after the other
          from then on. The paper's latest start is the sum of all durations, those of running jobs included.
        - The boxes of the only job of a window are kept apart by their order alone, if no running job has a box.
        - If the search for a window of one job finds no plan, or its model is too large, the job starts as in the list
          schedule of the search rule, and this counts as a plan.
        - A unit is kept off two nodes by the last position that it covers. The paper prints the position behind it.
        - Amounts are counted in their greatest common divisor.
        - Where a resource has thousands of positions (memory in MiB), the bounds of each node's positions stand for the
          map from positions to nodes.
        - A job whose request the model cannot express keeps the start and the place of a list schedule, and the others
          are planned around it (see `batdispatch.abilities.solvers.constraint.models.problem`).
        - Whole hosts that are all alike are one node.
        - A job that has no walltime is expected to run for 10^8 s.
    References:
        [1] Galleguillos, Kiziltan, Soto: "A constraint programming-based job dispatcher for modern HPC systems and
            applications", 2020, arXiv:2009.10348, sections 2.2 (scheduling model, objective, priority) and 3
            (allocation model, search).
    """

    options_type: ClassVar[type[Options]] = Pcp20Options

    def plan(self, instance: Instance, counters: dict[str, int]) -> SolverResult[Plan]:
        asked = self.options
        too_large = instance.paper_variables() > asked.most_variables
        # As `search_plan`: a solver takes half a second to load.
        from batdispatch.abilities.solvers.constraint.models.positions import EXTENSION, first_plan_work

        counters["whole_jobs"] = 0
        if len(instance.jobs) > 1 and not too_large and first_plan_work(instance) > EXTENSION * asked.work:
            counters["whole_jobs"] = 1
            return self.search("whole-jobs", instance)
        return self.search(
            "positions", instance, too_large=too_large, units=asked.units, backtracking=asked.backtracking
        )
