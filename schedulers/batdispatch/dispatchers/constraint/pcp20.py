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

    formulation: `positions`: the published model, in which a unit is a box in time and in the line of all units of a
        resource. `counts`: ours, which counts each job's units on each node.
    ordering: by which order the window is cut, and in which the search rule takes jobs (`batdispatch list orderings`).
    placement: on which free hosts the search rule puts a job (`batdispatch list placements`); `last-fit` as published,
        where positions are set to their largest values.
    prediction, default_walltime, window, ahead, reserve: see `batdispatch explain best-list`.
    work, wall: see `batdispatch explain hcp19`.
    """

    formulation: Literal["positions", "counts"] = "positions"
    placement: str = "last-fit"


class Pcp20(SolverDispatcher):
    """Schedules and places the waiting jobs together, for the least sum of slowdowns; those planned for now start.

    Jobs are boxes in time and in the line of all units of a resource, so that the model does not grow with the machine.
    CP-SAT looks for a better plan than the first solution of the published search rule [1, section 4]: the job of
    highest priority that can start first, at its earliest start. Where the sums of free capacity prove that plan
    optimal, no solver is called (status BOUND).

    Guarantee: none on waiting times: of the jobs that do not fit now only `ahead` are planned for. A plan never exceeds
        a capacity, and its total slowdown is at most that of the first solution.
    Time: bounded by `work` at each decision; the model has |Q| + sum_i rn_i |R| variables of the paper's.
    Deviations: CP-SAT in place of the authors' solver and search. The implied cumulative on positions has durations as
        demands; the paper prints start times, which is not implied. A unit is kept off two nodes by the last position
        it covers; the paper prints the one behind it. Where a resource has thousands of positions (memory in MiB), the
        bounds of each node's positions stand for the map from positions to nodes. A job whose request the model cannot
        express (see `batdispatch.dispatchers.constraint.models`) keeps the start and the place of the first solution,
        and the others are planned around it; whole hosts that are all alike are one node.
    References:
        [1] Galleguillos, Kiziltan, Soto: "A constraint programming-based job dispatcher for modern HPC systems and
            applications", 2020, sections 3 and 4.
    """

    options_type: ClassVar[type[Options]] = Pcp20Options

    def plan(self, instance: Instance, counters: dict[str, int]) -> Found[Plan]:
        began = self.clock()
        return self.improve(self.options.formulation, instance, self.first(instance), began)
