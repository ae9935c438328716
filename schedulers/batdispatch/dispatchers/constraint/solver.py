"""Runs CP-SAT within deterministic limits, and tells what it did."""

from __future__ import annotations

import math
import time

import numpy as np
from ortools.sat.python import cp_model

from batdispatch.core.errors import BatdispatchError
from batdispatch.dispatchers.constraint.greedy import Plan
from batdispatch.dispatchers.constraint.instance import Instance
from batdispatch.dispatchers.constraint.models import FORMULATIONS, Model
from batdispatch.dispatchers.constraint.outcome import Outcome


def improve(
    formulation: str,
    instance: Instance,
    plan: Plan,
    *,
    first: int,
    work: float,
    wall: float,
    seed: int,
    hint: bool = True,
) -> Outcome:
    """Let CP-SAT look for a better plan than `plan`, with one worker.

    Args:
        formulation: a key of `FORMULATIONS`.
        instance: the instance.
        plan: a feasible plan; with `hint` it is the solver's first solution and upper bound.
        first: cost of the greedy first solution, for the account.
        work: limit in CP-SAT's deterministic seconds.
        wall: limit in seconds of wall-clock time, a safety net.
        seed: of the solver.
        hint: whether the solver is told the plan.

    Raises:
        InputError: the formulation cannot express the instance.
    """
    began = time.perf_counter()
    model: Model = FORMULATIONS[formulation](instance)
    if hint:
        model.hint(plan)
    variables, constraints = model.size()
    built = time.perf_counter()
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed % 2**31
    solver.parameters.max_deterministic_time = work
    solver.parameters.max_time_in_seconds = wall
    # The default search has no linear relaxation of cumulatives worth the name with one worker.
    solver.parameters.linearization_level = 2
    status = solver.solve(model.cp)
    ended = time.perf_counter()
    name = solver.status_name(status)
    if name == "MODEL_INVALID":
        raise BatdispatchError(f"CP-SAT refuses the {formulation} model: {model.cp.validate()[:200]}")
    bound = instance.bound()
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        # Costs are whole, the solver's bound is a float.
        bound = max(bound, math.ceil(solver.best_objective_bound - 1e-6))
        starts = np.array([solver.value(start) for start in model.starts], dtype=np.int64)
        cost = instance.cost(starts)
        if cost < plan.cost or not hint:
            plan = Plan(starts, cost, plan.places if model.places is None else model.places(solver))
    return Outcome(
        plan=plan,
        status=name,
        bound=bound,
        first=first,
        variables=variables,
        constraints=constraints,
        build_seconds=built - began,
        solve_seconds=ended - built,
        work=solver.response_proto.deterministic_time,
        limited=name in ("FEASIBLE", "UNKNOWN") and ended - built >= wall,
    )
