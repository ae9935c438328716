"""PCP'20's model knows of the running jobs only those that its window can meet, and a window of one job has a plan."""

import json
from pathlib import Path
from typing import Any

import model_size
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import check, instance, made, placed_by, random_instance

from batdispatch.abilities.solvers.constraint.instance import Instance
from batdispatch.abilities.solvers.constraint.lists import Plan, Planner, first_solution
from batdispatch.abilities.solvers.constraint.model_search import search_plan
from batdispatch.abilities.solvers.constraint.models.lines import Box, OnLines, join_boxes
from batdispatch.abilities.solvers.constraint.models.positions import Positions
from batdispatch.abilities.solvers.constraint.models.relevance import Demand, relevance
from batdispatch.abilities.solvers.doors.files import read_instances
from batdispatch.abilities.solvers.solving import Limits, SolverResult
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec

KIT = Path(__file__).parents[3] / "data" / "kit"
PLANNED = ("OPTIMAL", "FEASIBLE")


def searched(found: Instance, work: float) -> SolverResult[Plan]:
    plan = first_solution(Planner(found, placed_by("last-fit", found)))
    return search_plan("positions", found, plan, Limits(work=work, wall=600.0), lambda: 0.0)


def model_of(found: Instance) -> Positions:
    return Positions(found, first_solution(Planner(found, placed_by("last-fit", found))))


def busy(rng: np.random.Generator, nodes: int) -> list[tuple[int, dict[int, tuple[int, ...]]]]:
    """Running jobs on nodes of four cores and two GPUs, some of which end together."""
    return [
        (int(rng.integers(1, 9)), {node: (int(rng.integers(1, 3)), int(rng.integers(0, 2)))})
        for node in rng.integers(0, nodes, 2 * nodes).tolist()
        if rng.random() < 0.5
    ]


def on_busy_nodes(seed: int, jobs: int) -> Instance:
    """An instance whose running jobs exceed no node, and whose jobs fit the idle machine."""
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(2, 7))
    left = np.tile([4, 2], (nodes, 1))
    running = []
    for remaining, there in busy(rng, nodes):
        ((node, amounts),) = there.items()
        if (left[node] >= amounts).all():
            left[node] -= amounts
            running.append((remaining, there))
    asked = [
        (int(rng.integers(1, 10)), int(rng.integers(1, nodes + 1)), (int(rng.integers(1, 5)), int(rng.integers(0, 3))))
        for _ in range(jobs)
    ]
    return instance([(4, 2)] * nodes, asked, running)


# ---------------------------------------------------------------------- a window of one job


def test_one_job_beside_24_running_jobs_has_a_plan_within_a_tenth_of_a_second_of_work() -> None:
    """It was UNKNOWN: a box for each running job, node and resource, and the charge for them squared."""
    ((_, found),) = read_instances(KIT / "kit-one-job.jsonl")
    outcome = searched(found, 0.1)
    assert (outcome.status, outcome.cost) == ("OPTIMAL", 0)
    assert outcome.work < 0.01


@pytest.mark.parametrize("work", [0.1, 0.001])
def test_no_window_of_one_job_is_without_a_plan_on_a_kit_workload(tmp_path: Path, work: float) -> None:
    """42 of 106 decisions were; 0.001 ends nearly every search before its first plan."""
    spec = RunSpec(
        platform=str(KIT / "kit.xml"),
        workload=str(KIT / "kit-110.json"),
        dispatcher=f"pcp20[prediction=last-two,wall=3600,work={work}]",
    )
    execute(spec, tmp_path / "run")
    lines = [json.loads(line) for line in (tmp_path / "run" / "solver.jsonl").read_text().splitlines()]
    alone = [line for line in lines if line["jobs"] == 1]
    assert len(alone) > 90
    assert {line["status"] for line in alone} <= set(PLANNED)
    if work == 0.1:
        assert sum(line["status"] not in PLANNED for line in lines) <= 4, "windows of several jobs of 128 units"


@given(seed=st.integers(0, 2**32), work=st.sampled_from([1e-6, 0.1]))
def test_a_window_of_one_job_starts_as_soon_as_the_job_fits(seed: int, work: float) -> None:
    found = on_busy_nodes(seed, 1)
    if found.room(found.jobs[0]).sum() < found.jobs[0].units:
        return
    outcome = searched(found, work)
    assert outcome.status in PLANNED
    check(found, outcome.solution)
    earliest = first_solution(Planner(found, placed_by("first-fit", found)))
    assert outcome.solution.starts.tolist() == earliest.starts.tolist()
    if work == 0.1:
        assert outcome.status == "OPTIMAL"


def test_one_job_of_too_many_units_for_a_model_has_a_plan(tmp_path: Path) -> None:
    """Ten thousand units are 30,000 variables in the paper's count: their places are chosen all at once."""
    jobs = [{"id": "1", "subtime": 0, "res": 10_000, "walltime": 60, "profile": "d", "demand": {"core": 2}}]
    profiles = {"d": {"type": "delay", "delay": 30}}
    workload = tmp_path / "w.json"
    workload.write_text(json.dumps({"nb_res": 1173, "jobs": jobs, "profiles": profiles}))
    execute(RunSpec(platform=str(KIT / "kit.xml"), workload=str(workload), dispatcher="pcp20"), tmp_path / "run")
    (line,) = [json.loads(line) for line in (tmp_path / "run" / "solver.jsonl").read_text().splitlines()]
    assert (line["status"], line["started"], line["variables"]) == ("OPTIMAL", 1, 10_001)


def test_a_window_of_two_jobs_without_a_plan_stays_unknown() -> None:
    found = made(Machine.flat(8), [(60, 2, {}), (60, 2, {})])
    assert searched(found, 1e-6).status == "UNKNOWN"


# ---------------------------------------------------------------------- what the model leaves out


@pytest.mark.parametrize("seed", range(60))
def test_what_is_left_out_costs_no_optimum(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same search with all running jobs, and starts until the paper's horizon, proves the same cost."""
    found = random_instance(np.random.default_rng(seed)) if seed % 2 else on_busy_nodes(seed, 3)
    reduced = searched(found, 60.0)
    monkeypatch.setattr(OnLines, "reduce", lambda self: None)
    full = searched(found, 60.0)
    assert (reduced.status, reduced.cost) == (full.status, full.cost)


def test_running_jobs_that_outlast_the_window_are_in_no_box_and_in_no_line() -> None:
    """Two jobs of 5 s: the last start that matters is 5 s from now, and a job that runs for 6 s ends too late."""
    found = instance([(4,), (4,)], [(5, 2, (3,)), (5, 2, (2,))], [(3, {0: (1,)}), (6, {1: (1,)})])
    model = model_of(found)
    assert model.fixed_boxes(0) == [Box(0, 3, 0, 1)]
    assert model.lines[0].ends == [4, 7]
    assert model.totals == [7]


def test_running_jobs_that_end_before_anything_fits_are_in_no_box() -> None:
    found = instance([(4,)], [(5, 1, (4,)), (5, 1, (4,))], [(2, {0: (1,)}), (3, {0: (3,)})])
    model = model_of(found)
    assert model.fixed_boxes(0) == []
    assert [model.soonest[job] for job in model.moved] == [3, 3]
    assert [model.latest[job] for job in model.moved] == [8, 8]
    assert searched(found, 1.0).solution.starts.tolist() == [3, 8]


def test_nodes_that_come_free_later_than_enough_others_give_nothing_back() -> None:
    """Two units use at most two nodes: of five that come free one after the other, the first two are enough."""
    running = [(1 + node, {node: (4,)}) for node in range(5)]
    found = instance([(4,)] * 6, [(9, 1, (4,)), (9, 1, (4,))], running)
    assert {(box.begin, box.end) for box in model_of(found).fixed_boxes(0)} == {(0, 1)}
    fewer = instance([(4,)] * 5, [(9, 1, (4,)), (9, 1, (4,))], running)
    assert model_of(fewer).soonest[0] == 1
    assert {(box.begin, box.end) for box in model_of(fewer).fixed_boxes(0)} == {(0, 2)}


def test_what_lies_side_by_side_for_the_same_time_is_one_box() -> None:
    boxes = [Box(0, 5, 4, 8), Box(0, 5, 0, 4), Box(0, 6, 8, 9), Box(0, 5, 9, 10)]
    assert join_boxes(boxes) == [Box(0, 5, 0, 8), Box(0, 5, 9, 10), Box(0, 6, 8, 9)]
    # A position is two units here.
    running = [(3, {node: (4,)}) for node in range(3)]
    found = instance([(4,)] * 4, [(5, 1, (4,)), (5, 4, (2,))], running)
    assert join_boxes(model_of(found).fixed_boxes(0)) == [Box(0, 3, 0, 6)]


def test_no_job_means_no_start_before_it_fits_and_none_that_only_waits() -> None:
    demands = [Demand(5, 1, np.array([2])), Demand(7, 2, np.array([1]))]
    found = relevance(demands, np.array([[2], [2]]), [], 1_000)
    assert (found.soonest, found.latest) == ([0, 0], [7, 5])
    assert relevance(demands, np.array([[2], [2]]), [], 6).latest == [6, 5], "never later than the horizon"


# ---------------------------------------------------------------------- the model's size


@pytest.mark.parametrize("filled", [0.9, 1.0])
def test_the_model_does_not_grow_with_the_machine(filled: float) -> None:
    """The same queue on 120 to 12,000 nodes; a line of more than 4,096 positions has two constraints a unit more."""
    sizes = [model_size.size_on(nodes, 20, filled, 0) for nodes in (120, 1_200, 12_000)]
    assert sizes[-1].running > 100 * sizes[0].running / 2
    assert len({size.variables for size in sizes}) == 1
    small, middle, large = sizes
    assert large.constraints <= 1.25 * small.constraints
    assert large.boxes <= large.variables - 20, "each unit of the queue needs one node at most"
    assert middle.work <= 1.25 * small.work
    assert large.work <= 1.25 * small.work


@pytest.mark.slow
def test_the_model_does_not_grow_with_the_machine_for_any_of_20_queues() -> None:
    for seed in range(20):
        small, large = (model_size.size_on(nodes, 20, 0.95, seed) for nodes in (1_200, 12_000))
        assert large.variables == small.variables
        assert large.boxes <= large.variables - 20


def test_a_large_machine_with_a_thousand_jobs_leaves_one_job_a_small_model() -> None:
    rng = np.random.default_rng(5)
    hosts = [Host(id=n, name=f"n{n}", properties={"capacity": "core=20 memory=65536"}) for n in range(1000)]
    running: list[tuple[int, int, dict[str, Any], dict[int, int]]] = [
        (int(rng.integers(60, 90_000)), 1, {"demand": {"core": int(rng.integers(1, 20)), "memory": 1024}}, {node: 1})
        for node in range(1000)
    ]
    found = made(Machine(hosts), [(605, 3, {"demand": {"core": 1, "memory": 1024}})], running)
    model = model_of(found)
    assert [model.fixed_boxes(axis) for axis in range(2)] == [[], []]
    assert model.build_work() < 0.001
