"""PCP'20's model on CP-SAT, which a benchmark measures: the optimum is the model's, and hints are solutions of it."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from instances import beyond, check, instance, placed_by, random_instance
from ortools.sat.python import cp_model
from positions_cp_sat import PositionsCpSat

from batdispatch.abilities.solvers.constraint.instance import Instance
from batdispatch.abilities.solvers.constraint.lists import Plan, Planner, first_solution
from batdispatch.abilities.solvers.constraint.model_search import search_plan
from batdispatch.abilities.solvers.solving import Limits, SolverResult, run

LIMITS = Limits(work=60.0, wall=600.0)
VARIANTS: list[dict[str, Any]] = [
    {},
    {"rule": "jobs"},
    {"rule": "starts"},
    {"told": True},
    {"told": True, "rule": "jobs"},
]


def listed(found: Instance) -> Plan:
    return first_solution(Planner(found, placed_by("last-fit", found)))


def solve(found: Instance, limits: Limits = LIMITS, **options: Any) -> SolverResult[Plan]:
    plan = listed(found)
    return run(
        lambda: PositionsCpSat(found, plan, **options),
        (plan, plan.cost),
        bound=found.bound,
        limits=limits,
        clock=lambda: 0.0,
        trust=False,
    )


@pytest.mark.parametrize("seed", range(12))
def test_every_variant_proves_the_optimum_that_the_published_search_proves(seed: int) -> None:
    found = random_instance(np.random.default_rng(seed))
    expected = search_plan("positions", found, listed(found), LIMITS, lambda: 0.0)
    assert expected.status == "OPTIMAL"
    for options in VARIANTS:
        outcome = solve(found, **options)
        assert (outcome.status, outcome.cost) == ("OPTIMAL", expected.cost), options
        check(found, outcome.solution)


def test_boxes_need_consecutive_positions_here_too() -> None:
    """One node of 6 units, on which the best plan of boxes is worse than the best plan."""
    asked = zip((4, 1, 2, 4, 4, 5, 3, 5), (2, 3, 3, 3, 2, 1, 1, 3), strict=True)
    found = instance([(6,)], [(duration, 1, (cores,)) for duration, cores in asked])
    assert solve(found).cost == 4133333


@pytest.mark.parametrize("seed", range(20))
def test_a_hint_gives_every_variable_a_value_and_is_a_solution(seed: int) -> None:
    """Fixed to what it is told, the model has the list's plan as its only solution."""
    found = random_instance(np.random.default_rng(seed), nodes=4, jobs=8)
    plan = listed(found)
    model = PositionsCpSat(found, plan, told=True)
    assert len(model.places) == len(model.moved), "lists on so few nodes leave no gaps between units"
    proto = model.cp.proto
    assert sorted(proto.solution_hint.vars) == list(range(len(proto.variables)))
    solver = cp_model.CpSolver()
    solver.parameters.fix_variables_to_their_hinted_value = True
    assert solver.solve(model.cp) == cp_model.OPTIMAL
    read, cost = model.read(solver.value)
    assert cost == plan.cost
    assert read.starts.tolist() == plan.starts.tolist()
    assert [place and place.allocation for place in read.places] == [
        place and place.allocation for place in plan.places
    ]


@given(found=beyond())
def test_what_it_cannot_express_is_planned_around(found: Instance) -> None:
    outcome = solve(found, Limits(work=0.02, wall=600.0), told=True)
    check(found, outcome.solution)


def test_of_a_job_without_consecutive_positions_only_the_start_is_told() -> None:
    """When the second job ends, cores 1 and 3 of four are idle: the last job needs two, and has them without boxes."""
    found = instance([(4,)], [(10, 1, (1,)), (3, 1, (1,)), (2, 1, (2,)), (10, 1, (1,)), (9, 1, (2,))])
    plan = listed(found)
    assert plan.starts.tolist() == [0, 0, 0, 2, 3]
    model = PositionsCpSat(found, plan, told=True)
    assert model.places == {0: {0: [0]}, 1: {0: [1]}, 2: {0: [2]}, 3: {0: [2]}}
    told = dict(zip(model.cp.proto.solution_hint.vars, model.cp.proto.solution_hint.values, strict=True))
    assert [told[start.index] for start in model.starts.values()] == [0, 0, 0, 2, 3]
    assert solve(found, told=True).cost == 522222, "the last two the other way round are better"


def test_the_positions_of_a_jobs_units_increase() -> None:
    found = instance([(4,)], [(5, 3, (1,))])
    model = PositionsCpSat(found, listed(found))
    first, second, _ = model.positions[0]
    model.cp.add(second < first)
    assert model.solve(LIMITS).status == "INFEASIBLE"


class First(cp_model.CpSolver):
    """Stops at its first solution."""

    def __init__(self) -> None:
        super().__init__()
        self.parameters.stop_after_first_solution = True


@pytest.mark.parametrize("rule", ["jobs", "starts"])
def test_by_the_rule_the_first_solution_is_that_of_the_published_search(
    rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing is taken back, as on most small instances; by its own rules CP-SAT finds others first."""
    monkeypatch.setattr("batdispatch.abilities.solvers.solving.cp_sat.cp_model.CpSolver", First)
    same = {}
    for chosen in ("", rule):
        same[chosen] = 0
        for seed in range(12):
            found = random_instance(np.random.default_rng(seed), nodes=4, jobs=8)
            outcome = solve(found, rule=chosen)
            same[chosen] += outcome.solution.starts.tolist() == listed(found).starts.tolist()
    assert same[rule] >= 10
    assert same[""] <= 3
