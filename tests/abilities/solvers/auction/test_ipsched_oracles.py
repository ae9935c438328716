"""IPSCHED against optima that were worked out elsewhere: the slides' example, and 60 windows."""

from typing import Any

import pytest
from windows import carry_out, cores, machine_of, oracle, problem_of, scaled, solve

EXAMPLE = oracle("worked_example")
WINDOWS = oracle("ipsched_windows")
#: The windows in which the program over classes believes more than the nodes allow.
ABOVE = {"w09", "w14", "w33", "w34", "w45", "w56"}
FORMULATIONS = ["classes", "nodes"]


def started(problem: Any, choice: Any) -> list[str]:
    return [f"J{number}" for number, allocation in enumerate(choice, 1) if allocation is not None]


@pytest.mark.parametrize("case", EXAMPLE["cases"], ids=lambda case: str(case["priorities"]))
def test_the_slides_example_on_1024_nodes(case: dict[str, Any]) -> None:
    count, core, gpu = EXAMPLE["nodes"]
    jobs = [cores({**job, "p": p}, count) for job, p in zip(EXAMPLE["jobs"], case["priorities"], strict=True)]
    problem = problem_of(machine_of([(core, gpu)] * count), jobs)
    found, _, _ = solve(problem)
    assert started(problem, found.solution) == case["started"]
    assert (found.status, -found.cost, -found.bound) == ("OPTIMAL", case["optimum"], case["optimum"])
    assert scaled(problem, found.solution) == case["optimum"] * 2 * count
    carry_out(problem, found.solution)
    if len(case["started"]) == 3:
        assert not problem.ledger.free[:, :2].any(), "all cores and GPUs are in use"


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("case", EXAMPLE["small"], ids=lambda case: f"{case['N']}-{case['priorities']}")
def test_the_slides_example_on_few_nodes(case: dict[str, Any], formulation: str) -> None:
    count = case["N"]
    asked = [(4 * count, 0, 1, count), (2 * count, 2, count // 2, count // 2), (2 * count, 2, count // 2, count // 2)]
    jobs = [
        cores({"p": p, "r": r, "g": g, "nmin": least, "nmax": most}, count)
        for p, (r, g, least, most) in zip(case["priorities"], asked, strict=True)
    ]
    problem = problem_of(machine_of([(8, 2)] * count), jobs)
    found, _, _ = solve(problem, formulation=formulation)
    assert -found.cost == pytest.approx(case["objective"], rel=1e-12)
    assert found.status == "OPTIMAL"
    if (count, case["priorities"]) == (4, [3, 2, 1]):
        # Two optima: all three jobs on 4, 2 and 2 nodes, and the greedy plan, J1 and J2 on 2 nodes each: 15 / 4 both.
        assert found.cost == found.first
    else:
        assert started(problem, found.solution) == case["started"]


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("window", WINDOWS, ids=lambda window: window["id"])
def test_windows_of_the_oracle(window: dict[str, Any], formulation: str) -> None:
    nodes = window["nodes"]
    problem = problem_of(machine_of(nodes), [cores(job, len(nodes)) for job in window["jobs"]])
    found, _, dispatcher = solve(problem, formulation=formulation)
    names = [job["id"] for job, place in zip(window["jobs"], found.solution, strict=True) if place is not None]
    assert sorted(names) == sorted(window["started"])
    assert scaled(problem, found.solution) == window["scaled_objective"]
    assert found.status in ("OPTIMAL", "BOUND")
    carry_out(problem, found.solution)
    believed = round(dispatcher.facts()["class_bound"] * 2 * len(nodes))
    assert believed >= window["scaled_objective"]
    if formulation == "classes" and found.status == "OPTIMAL":
        assert believed == window["aggregate_bound"]


def test_the_windows_whose_class_bound_is_above_the_optimum() -> None:
    above = {w["id"] for w in WINDOWS if w["aggregate_bound"] > w["scaled_objective"]}
    assert above == ABOVE


@pytest.mark.parametrize("window", [w for w in WINDOWS if w["id"] in ABOVE], ids=lambda window: window["id"])
def test_classes_with_too_many_meetings_are_taken_apart_into_their_nodes(
    window: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("batdispatch.abilities.solvers.auction.search.MOST_MEETINGS", 0)
    nodes = window["nodes"]
    problem = problem_of(machine_of(nodes), [cores(job, len(nodes)) for job in window["jobs"]])
    found, counters, _ = solve(problem)
    assert scaled(problem, found.solution) == window["scaled_objective"]
    assert (found.status, -found.bound) == ("OPTIMAL", -found.cost)
    assert counters["refined"]
