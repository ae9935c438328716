"""PCP'20."""

from __future__ import annotations

from typing import ClassVar, Literal

from batdispatch.core.options import Options
from batdispatch.dispatchers.constraint.base import SolverDispatcher, SolverOptions
from batdispatch.dispatchers.constraint.instance import Instance
from batdispatch.dispatchers.constraint.lists import Plan
from batdispatch.parts.solving import Found


class Pcp20Options(SolverOptions, frozen=True, kw_only=True):
    """Options of PCP'20.

    formulation: give the solver this model. `positions` is the published one, in which a unit is a box in time and in
        the line of all units of a resource. `counts` is ours; it counts each job's units on each node.
    placement: the search rule places by this rule; `last-fit`, as published, where positions are set to their largest
        values. A plan of the solver puts units wherever they fit; under a placement that may refuse a place
        (`contiguous`), what starts now is placed by it, or waits.
    """

    formulation: Literal["positions", "counts"] = "positions"
    placement: str = "last-fit"


class Pcp20(SolverDispatcher):
    """Schedules and places the waiting jobs together, for the least sum of slowdowns; those planned for now start.

    Units of jobs are boxes in time and in the line of all units of a resource, so that the model does not grow with the
    machine [1, section 3]. CP-SAT looks for a better plan than the first solution of the published search rule: of the
    jobs that can start first, the one of highest priority, at its earliest start. If the sums of free capacity prove
    that plan optimal, no solver is called (status BOUND).

    Guarantee: none on waiting times: of the jobs that do not fit now only `ahead` are planned for. A plan never exceeds
        a capacity, and its total slowdown is at most that of the first solution.
    Time: bounded by `work` at each decision; the model has |Q| + sum_i rn_i |R| variables as the paper counts them, for
        rn_i units of job i and |R| resources.
    Deviations: CP-SAT, with a deterministic limit and the first solution as a hint, in place of the authors' solver,
        search and wall-clock limits. The implied cumulative on positions has durations as demands; the paper prints
        start times, which is not implied. A unit is kept off two nodes by the last position that it covers; the paper
        prints the one behind it. Where a resource has thousands of positions (memory in MiB), the bounds of each node's
        positions stand for the map from positions to nodes. A job whose request the model cannot
        express (see `batdispatch.dispatchers.constraint.models`) keeps the start and the place of the first solution,
        and the others are planned around it. Whole hosts that are all alike are one node. A job that has no walltime is
        expected to run for 10^8 s.
    References:
        [1] C. Galleguillos, Z. Kiziltan, R. Soto. A constraint programming-based job dispatcher for modern HPC systems
            and applications. 2020. Sections 2.2 (scheduling model, objective, priority) and 3 (allocation model,
            search).
    """

    options_type: ClassVar[type[Options]] = Pcp20Options

    def plan(self, instance: Instance, counters: dict[str, int]) -> Found[Plan]:
        began = self.clock()
        return self.improve(self.options.formulation, instance, self.first(instance), began)
