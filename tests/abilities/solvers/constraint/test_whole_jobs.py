"""PCP'20's search places all units of a job at once where a variable for each position would exceed the limit."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from instances import beyond, check, instance, instances, made, placed_by, random_instance

from batdispatch.abilities.solvers.constraint.instance import Instance
from batdispatch.abilities.solvers.constraint.lists import Plan, Planner, first_solution
from batdispatch.abilities.solvers.constraint.model_search import search_plan
from batdispatch.abilities.solvers.constraint.models.positions import Positions, first_plan_work
from batdispatch.abilities.solvers.solving import Limits, SolverResult
from batdispatch.core.machine.machine import Machine
from simulating import Task, audit, simulate

PLANNED = ("OPTIMAL", "FEASIBLE")


def listed(found: Instance) -> Plan:
    return first_solution(Planner(found, placed_by("last-fit", found)))


def searched(model: str, found: Instance, work: float = 60.0, **options: str) -> SolverResult[Plan]:
    return search_plan(model, found, listed(found), Limits(work=work, wall=600.0), lambda: 0.0, **options)


def wide(jobs: int, units: int) -> Instance:
    """Jobs on 1,000 nodes of 20 cores, half of them in use, of which all but two fit now."""
    machine = Machine.flat(1000, "core=20")
    running: list[tuple[int, int, dict[str, Any], dict[int, int]]] = [
        (100 + node, 10, {"demand": {"core": 1}}, {node: 10}) for node in range(1000)
    ]
    return made(machine, [(60 * (job + 1), units, {"demand": {"core": 1}}) for job in range(jobs)], running)


def test_a_window_of_8000_units_has_a_plan_of_the_search_within_a_tenth_of_a_second_of_work() -> None:
    found = wide(10, 800)
    assert first_plan_work(found) > 100, "position by position"
    outcome = searched("whole-jobs", found, 0.1)
    assert outcome.status == "FEASIBLE"
    assert outcome.variables == 10, "its starts"
    assert outcome.work < 0.11
    check(found, outcome.solution)


@given(found=instances())
def test_a_plan_exceeds_no_capacity_and_costs_no_less_than_the_optimum(found: Instance) -> None:
    outcome, best = searched("whole-jobs", found), searched("positions", found)
    assert outcome.status == "FEASIBLE", "starts alone are taken back, which proves nothing"
    assert outcome.cost >= best.cost
    check(found, outcome.solution)


@given(found=beyond())
def test_jobs_that_no_box_expresses_keep_what_the_list_says(found: Instance) -> None:
    outcome = searched("whole-jobs", found)
    assert outcome.status in PLANNED
    check(found, outcome.solution)


def test_the_search_finds_what_unit_by_unit_finds_when_it_takes_back_starts_alone() -> None:
    """The positions are nearly always the same ones; the solver sees some conflicts of later jobs earlier."""
    same = 0
    for seed in range(60):
        found = random_instance(np.random.default_rng(seed), nodes=4, jobs=6)
        one = searched("whole-jobs", found)
        other = searched("positions", found, backtracking="starts")
        same += one.cost == other.cost
    assert same >= 50


def test_a_start_without_places_is_put_off_until_the_next_end() -> None:
    """Two free cores on either side of a node boundary: a unit of three fits once a job has ended."""
    found = instance([(4,), (4,)], [(5, 1, (3,)), (9, 1, (1,))], [(7, {0: (2,)}), (3, {1: (2,)})])
    outcome = searched("whole-jobs", found)
    assert outcome.solution.starts.tolist() == [3, 0]
    check(found, outcome.solution)


def test_units_take_the_last_free_positions_of_the_last_nodes() -> None:
    found = instance([(4,), (4,), (4,)], [(5, 3, (2,))], [(2, {2: (1,)})])
    place = searched("whole-jobs", found).solution.places[0]
    assert place is not None
    assert dict(place.allocation.per_host()) == {1: 2, 2: 1}


@pytest.mark.parametrize("seed", range(5))
def test_the_work_that_decides_is_no_more_than_what_the_model_charges(seed: int) -> None:
    found = random_instance(np.random.default_rng(seed), nodes=4, jobs=8)
    model = Positions(found, listed(found))
    assert 0 < first_plan_work(found) <= model.build_work() + len(model.variables) * model.branch_work()


def test_small_windows_are_searched_unit_by_unit_and_large_ones_by_whole_jobs() -> None:
    machine = Machine.flat(50, "core=4")
    counts = []
    for units in (2, 80):
        tasks = [Task(str(n), 0.0, units, 10.0 + n, 50.0, {"core": 1}) for n in range(2)]
        result = simulate(machine, tasks, "pcp20", options={"work": "0.01"})
        audit(machine, tasks, result)
        report = result.session.dispatcher.report()
        assert report["fallbacks"] == 0
        counts.append(report["whole_jobs"])
    assert counts == [0, 1]
