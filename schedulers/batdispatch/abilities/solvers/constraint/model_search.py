"""What the published dispatchers have in common: at each decision a model is searched for a plan, within limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar

import msgspec

from batdispatch.abilities.solvers.constraint.base import PlanningDispatcher, PlanningOptions
from batdispatch.abilities.solvers.constraint.improvement import LARGEST
from batdispatch.abilities.solvers.constraint.instance import Instance
from batdispatch.abilities.solvers.constraint.lists import Plan, Planner, first_solution
from batdispatch.abilities.solvers.solving import Limits, SolverResult, result_without_solver, run
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options
from batdispatch.core.plans.correction import Correction

Seconds = Annotated[float, msgspec.Meta(gt=0)]


def search_plan(
    formulation: str, instance: Instance, fallback: Plan, limits: Limits, clock: Callable[[], float], **options: Any
) -> SolverResult[Plan]:
    """Return what the search of a model finds, or else the fallback with the status UNKNOWN (see `settle_one_job`).

    Args:
        formulation: name of a searched model in `batdispatch.abilities.solvers.constraint.models`.
        instance: the instance.
        fallback: a feasible plan of it. Jobs that the model cannot express keep what it says.
        limits: when the search stops.
        clock: seconds, for the account.
        options: of the model.
    """
    # The solver adds up costs in 64 bits.
    if sum(instance.weights.tolist()) * instance.horizon() > LARGEST:
        return settle_one_job(_result_without_search(instance, fallback))
    # A solver takes half a second to load, which commands that only list dispatchers should not pay.
    from batdispatch.abilities.solvers.constraint.models.formulations import SEARCHED_MODELS

    found = run(
        lambda: SEARCHED_MODELS[formulation](instance, fallback, **options),
        (fallback, fallback.cost),
        bound=instance.bound,
        limits=limits,
        clock=clock,
        trust=False,
    )
    return settle_one_job(found)


def settle_one_job(found: SolverResult[Plan]) -> SolverResult[Plan]:
    """Return a result as it is, but give a window of one job its plan where no search has found one.

    A list schedule starts the only job as soon as it fits, which is the first solution of the search rule as well. So
    the fallback is FEASIBLE, and OPTIMAL where it costs no more than the bound.
    """
    if found.solved or len(found.solution.places) != 1 or found.solution.places[0] is None:
        return found
    return msgspec.structs.replace(found, status="OPTIMAL" if found.cost <= found.bound else "FEASIBLE")


def _result_without_search(instance: Instance, fallback: Plan, seconds: float = 0.0) -> SolverResult[Plan]:
    return result_without_solver(fallback, fallback.cost, bound=instance.bound, status="UNKNOWN", seconds=seconds)


class SearchOptions(PlanningOptions, frozen=True, kw_only=True):
    """Options of the dispatchers that search a model.

    work: Search for at most this many deterministic seconds before the published rule extends the limit. A
        deterministic second takes about a second of a processor, building and propagation counted, and ends at the
        same place on every machine. The papers have 1 s.
    wall: Stop the search after this many seconds of wall-clock time at each decision. This is a safety net: a stop
        makes the run depend on the machine, so each one is counted as a fallback. The default is ten times what the
        published rule extends `work` to at most.
    correction: Expect a job that has outlived its prediction to run for this long in all, but never longer than its
        walltime. `walltime`: as long as its walltime. `steps`: a minute longer than predicted, then 5, 15 and 30
        minutes longer, then 1, 2, 5, 10, 20, 50 and 100 hours. `doubling`: twice as long as predicted, then four times,
        and so on. `second`, as published: a second longer than it has run.
    wake: Decide again when a job that the plan waited for has not ended in time, or when more jobs could start than the
        window held. `false`, as published: decide only when something happens.
    """

    work: Seconds = 1.0
    wall: Seconds = 160.0
    correction: Correction = "second"
    wake: bool = False


class SearchDispatcher(PlanningDispatcher):
    """Searches a model for the plan of each decision.

    If the search of several jobs finds no plan, the next window is half as large, and a fallback is counted: the jobs
    start as in the plan of PCP'20's search rule, made without a solver. A window of one job always has a plan.
    """

    options_type: ClassVar[type[Options]] = SearchOptions
    extra = "cp"
    effort = 2

    def __init__(self, options: Options | None = None, seed: int = 0) -> None:
        super().__init__(options, seed)
        # The models know no rule of placement but their own.
        usual: Any = self.options_type()
        self._asked = self.options.placement != usual.placement or not self.placement.complete

    def first(self, instance: Instance, after: Sequence[float] | None = None) -> Plan:
        """Return the plan of the search rule; `after` are the jobs' earliest starts, s from now."""
        return first_solution(Planner(instance, self.placement, after))

    def start(self, ledger: Ledger, instance: Instance, plan: Plan) -> int:
        if self._asked:
            plan, _ = self.place_now(instance, plan)
        return super().start(ledger, instance, plan)

    def search(
        self, formulation: str, instance: Instance, *, too_large: bool = False, **options: Any
    ) -> SolverResult[Plan]:
        """Search a model; `too_large`: do not even build it."""
        began = self.clock()
        first = self.first(instance)
        if too_large:
            return settle_one_job(_result_without_search(instance, first, self.clock() - began))
        limits = Limits(work=self.options.work, wall=self.options.wall, seed=self.seed)
        return search_plan(formulation, instance, first, limits, self.clock, **options)

    def plan_again(self, instance: Instance, note: Mapping[str, Any]) -> Plan | None:
        # Explanations ask about every decision of a wait, too many to search again.
        if note["status"] != "UNKNOWN" or note.get("repairs"):
            return None
        plan = self.first(instance)
        return self.place_now(instance, plan)[0] if self._asked or instance.pooled else plan

    def may_find_no_place(self, note: Mapping[str, Any]) -> bool:
        # Those that `start` finds no place for are not counted.
        return self._asked or super().may_find_no_place(note)
