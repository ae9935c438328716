"""PCP'20."""

from __future__ import annotations

from typing import ClassVar, Literal

from batdispatch.core.options import Options
from batdispatch.dispatchers.constraint.base import Positive
from batdispatch.dispatchers.constraint.instance import Instance
from batdispatch.dispatchers.constraint.lists import Plan
from batdispatch.dispatchers.constraint.searching import SearchDispatcher, SearchOptions
from batdispatch.parts.solving import Found


class Pcp20Options(SearchOptions, frozen=True, kw_only=True):
    """Options of PCP'20.

    units: `increasing`: the positions of a job's units increase, as in the authors' code. `different`: they are only
        different, as in the paper, which finds fewer plans within the same limits.
    backtracking: `all`: the search takes back starts and positions, as published. `starts`: it takes back starts alone,
        as the authors' later PCP'21 does, which finds better plans and proves nothing.
    placement: by default, jobs go where the model puts them, and those that it cannot plan by this rule. Under any
        other placement, what starts now is placed by it, and waits if it finds no place.
    most_variables: build no model with more variables than this, as the paper counts them. An instance that needs more
        gets the fallback, and the next window is half as large.
    """

    units: Literal["increasing", "different"] = "increasing"
    backtracking: Literal["all", "starts"] = "all"
    placement: str = "last-fit"
    most_variables: Positive = 2_000


class Pcp20(SearchDispatcher):
    """Schedules and places the waiting jobs together, for the least sum of slowdowns; those planned for now start.

    Units of jobs are boxes in time and in the line of all units of a resource, so that the model does not grow with the
    machine [1, section 3]. The search is the published one: of the jobs that can start first, the one of highest
    priority starts as early as it can, and its positions get their largest values, the one with the fewest values left
    first. It goes on for better plans until the limit, and three times as long while it has none.

    Guarantee: none on waiting times: of the jobs that do not fit now only `ahead` are planned for. A plan never exceeds
        a capacity.
    Time: bounded by `work` at each decision, 3 `work` while no plan is found; the model has |Q| + sum_i rn_i |R|
        variables as the paper counts them, for rn_i units of job i and |R| resources.
    Deviations: the limits are deterministic in place of the authors' wall clock. A start that leads to nothing better
        is put off until the next job can end, and not by a second. The positions of a job's units increase in place of
        being all different (see `units`). The implied cumulative on positions is left out: the paper prints start times
        as its demands, which is not implied. A unit is kept off two nodes by the last position that it covers; the
        paper prints the one behind it. Amounts are counted in their greatest common divisor. Where a resource has
        thousands of positions, the bounds of each node's positions stand for the map from positions to nodes. A job
        whose request the model cannot express (see `batdispatch.dispatchers.constraint.models.problem`) keeps the start
        and the place of a list schedule by the search rule, and the others are planned around it. Whole hosts that are
        all alike are one node. A job that has no walltime is expected to run for 10^8 s.
    References:
        [1] C. Galleguillos, Z. Kiziltan, R. Soto. A constraint programming-based job dispatcher for modern HPC systems
            and applications. 2020. Sections 2.2 (scheduling model, objective, priority) and 3 (allocation model,
            search).
    """

    options_type: ClassVar[type[Options]] = Pcp20Options

    def plan(self, instance: Instance, counters: dict[str, int]) -> Found[Plan]:
        asked = self.options
        too_large = instance.paper_variables() > asked.most_variables
        return self.search(
            "positions", instance, too_large=too_large, units=asked.units, backtracking=asked.backtracking
        )
