"""A plan handed to CP-SAT, to be improved with our model, and to be measured by its bound."""

from __future__ import annotations

from collections.abc import Callable

from batdispatch.abilities.solvers.constraint.instance import Instance
from batdispatch.abilities.solvers.constraint.lists import Plan
from batdispatch.abilities.solvers.solving import Limits, SolverResult, result_without_solver, run

#: Largest objective that a model may have: CP-SAT adds up in 64 bits, and refuses a model that might exceed them.
LARGEST = 2**61


def improve(instance: Instance, plan: Plan, limits: Limits, clock: Callable[[], float]) -> SolverResult[Plan]:
    """Return the better of a plan and the incumbent of the model of counts, which is told the plan.

    If the objective might become too large for the solver (jobs of a second behind jobs of years), no model is built:
    the plan is returned with the status UNKNOWN.

    Args:
        instance: the instance.
        plan: a feasible plan of it.
        limits: when the solver stops.
        clock: seconds, for the account.
    """
    # No start is later than the horizon, and none costs more than the whole plan.
    largest = min(sum(instance.weights.tolist()) * instance.horizon(), len(instance.jobs) * plan.cost)
    if largest > LARGEST:
        return result_without_solver(plan, plan.cost, bound=instance.bound, status="UNKNOWN")
    # A solver takes half a second to load, which commands that only list dispatchers should not pay.
    from batdispatch.abilities.solvers.constraint.models.counts import Counts

    return run(
        lambda: Counts(instance, plan),
        (plan, plan.cost),
        bound=instance.bound,
        limits=limits,
        clock=clock,
    )
