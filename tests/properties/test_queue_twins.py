"""The queue rules under fcfs, filler and easy, start by start against a naive twin that shares no code with them."""

import ast
import os
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

import queue_cases
import queue_runs
import queue_twin
from batdispatch.core.line import dispatcher as dispatchers
from batdispatch.core.line import registry

SUPPORT = Path(__file__).parents[1] / "support"
TWIN = ["queue_cases", "queue_policies", "queue_rules", "queue_twin"]
POLICIES = ["fcfs", "filler", "easy"]
LAYERS = ["resizing[dispatcher=easy]", "resizing[dispatcher=fcfs,mode=async]", "attempts[dispatcher=fcfs]", "attempts"]
#: Set BATDISPATCH_CASES for more.
MANY = int(os.environ.get("BATDISPATCH_CASES", "5000"))
Case = dict[str, Any]


@pytest.mark.parametrize("name", TWIN)
def test_the_twin_shares_no_code_with_what_it_is_compared_with(name: str) -> None:
    nodes = list(ast.walk(ast.parse((SUPPORT / f"{name}.py").read_text())))
    imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "." for node in nodes if isinstance(node, ast.ImportFrom)}
    assert {full.partition(".")[0] for full in imported} <= sys.stdlib_module_names | set(TWIN)


# ---------------------------------------------------------------------- start by start


def compare(seed: int) -> None:
    case = queue_cases.generate(seed)
    for policy in POLICIES:
        found = queue_runs.run(case, policy)
        expected = queue_runs.starts_of(queue_twin.simulate(case, policy))
        assert found.starts() == expected, f"queue_cases.generate({seed}) under {policy}"
        queue_runs.check_ends(case, found)


@pytest.mark.parametrize("seed", range(80))
def test_each_job_starts_when_and_where_the_twin_starts_it(seed: int) -> None:
    compare(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, MANY, 500))
def test_each_job_of_many_cases_starts_when_and_where_the_twin_starts_it(first: int) -> None:
    for seed in range(first, min(first + 500, MANY)):
        compare(seed)


#: What the cases must show, as it stands in the reason of a rejection.
SHOWN = [
    "which ended REJECTED", "which ended COMPLETED", "depends on the failure of", "depends on it in turn",
    "the whole machine has room for", "the part of the machine", "asks for partition", "names no partition",
    "asks for QOS", "asks for reservation", "which lets in others", "ends too soon", "lasts", "nodes, partition",
    "s, partition", "no walltime",
]  # fmt: skip


def test_the_cases_show_every_rule() -> None:
    cases = [queue_cases.generate(seed) for seed in range(120)]
    reasons = {reason for case in cases for reason in queue_runs.run(case, "fcfs").reasons.values()}
    assert [text for text in SHOWN if not any(text in reason for reason in reasons)] == []


# ---------------------------------------------------------------------- under layers


def with_laws_and_sizes(case: Case) -> Case:
    """Let some jobs of a case be stochastic or malleable, on a site without reservations, which layers refuse."""
    random = Random(case["seed"])
    jobs = []
    for job in case["jobs"]:
        extra: dict[str, Any] = {}
        if random.random() < 0.4:
            extra["runtime_law"] = f"uniform:{random.randint(1, 5)},{random.randint(10, 25)}"
        if random.random() < 0.4:
            extra["sizes"] = {"least": 1, "most": job["res"] + 2, "kind": "malleable", "steps": 10, "period": 2}
        jobs.append({**job, **extra})
    return {**case, "jobs": jobs, "reservations": []}


def survive(seed: int, layer: str) -> None:
    case = with_laws_and_sizes(queue_cases.generate(seed))
    queue_runs.check_ends(case, queue_runs.run(case, layer))


@pytest.mark.parametrize("layer", LAYERS)
def test_no_layer_loses_a_job_or_rejects_one_for_what_is_not_so(layer: str) -> None:
    for seed in range(40):
        survive(seed, layer)


@pytest.mark.slow
@pytest.mark.parametrize("layer", LAYERS)
def test_no_layer_loses_a_job_of_many_cases(layer: str) -> None:
    for seed in range(MANY // 5):
        survive(seed, layer)


# ---------------------------------------------------------------------- chains under every dispatcher


def chain(seed: int) -> Case:
    """Up to six jobs on four hosts that wait for each other in a row; some die at their walltimes, some come late."""
    random = Random(seed)
    jobs: list[dict[str, Any]] = []
    for number in range(random.randint(3, 6)):
        job: dict[str, Any] = {"id": f"j{number}", "res": random.randint(1, 3), "runtime": random.randint(2, 9)}
        job["walltime"] = job["runtime"] + random.choice([-1, 3])
        job["subtime"] = random.choice([0, 0, 12, 30])
        if number:
            job["dependencies"] = [{"job": f"j{number - 1}", "kind": random.choice(queue_cases.KINDS)}]
        jobs.append(job)
    jobs.sort(key=lambda job: (job["subtime"], job["id"]))
    return {"seed": seed, "hosts": 4, "partitions": [], "qos": [], "reservations": [], "jobs": jobs}


def check_order(case: Case, found: queue_runs.Run) -> None:
    """Check that who waited for a start or an end started no earlier."""
    rows = {name: row for name, row in found.rows.items() if row["final_state"] != "REJECTED"}
    for job in case["jobs"]:
        for one in job.get("dependencies", []):
            if job["id"] in rows and one["job"] in rows:
                moment = "starting_time" if one["kind"] == "after" else "finish_time"
                assert float(rows[job["id"]]["starting_time"]) >= float(rows[one["job"]][moment])


@pytest.mark.parametrize("name", registry.names(dispatchers.GROUP))
def test_no_dispatcher_loses_a_job_of_a_chain(name: str) -> None:
    for seed in range(12):
        case = chain(seed)
        found = queue_runs.run(case, name)
        queue_runs.check_ends(case, found)
        check_order(case, found)
