"""explain-wait of jobs that wait for power, or for a cheaper hour."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec
from command_line import call
from recorded_energy import ENERGY
from workloads_of_cases import write_workload

JOBS = [{"id": str(n), "subtime": n, "walltime": 100, "res": 2, "profile": "p"} for n in range(3)]


def explained(folder: Path, options: str, job: str, jobs: Sequence[dict[str, Any]] = JOBS, inside: str = "easy") -> str:
    profiles = {"p": {"type": "delay", "delay": 100}, "q": {"type": "delay", "delay": 10}}
    workload = write_workload(folder / "w.json", [*jobs], profiles, 8)
    platform = ENERGY / "platforms" / "homo8.xml"
    spec = RunSpec(platform=str(platform), workload=str(workload), dispatcher=f"powered[dispatcher={inside},{options}]")
    execute(spec, folder / "run")
    return call("explain-wait", folder / "run", job).output


def test_a_job_that_waits_for_power(tmp_path: Path) -> None:
    """8 hosts burn 800 W idle, and each job 200 W more: two jobs fit under 1,200 W, and job 2 is the third."""
    said = explained(tmp_path, "cap=1200", "2")
    assert "the cap on power left too little" in said
    assert "it adds 200 W, and 0 W were left of 1200 W" in said


@pytest.mark.parametrize("inside", ["easy", "conservative"])
def test_a_job_that_waits_while_power_is_kept_for_one_before_it(inside: str, tmp_path: Path) -> None:
    """Job 0 adds 200 W of 400 W. Job 1 waits for 300 W until 100 s, and job 2 must not delay it."""
    sizes = (2, 3, 1)
    jobs = [{**JOBS[n], "res": size} for n, size in enumerate(sizes)]
    jobs[2]["walltime"] = 1000
    said = explained(tmp_path, "cap=1190", "2", jobs, inside)
    assert "the power was kept for a job before it" in said
    assert "it adds 100 W of the 190 W that were left, and job w0!1, before it, adds 300 W" in said


def test_a_job_that_waits_for_a_cheaper_hour(tmp_path: Path) -> None:
    (tmp_path / "price.csv").write_text("time,price,carbon\n0,9,3\n500,1,2\n")
    price = tmp_path / "price.csv"
    said = explained(tmp_path, f"price={price}:price,carbon={price}:carbon,slack=600", "1")
    assert "it was kept back for a cheaper hour" in said
    assert "until 500 s" in said
    (tmp_path / "moved").mkdir()
    for name in ("price.csv", "run"):
        (tmp_path / name).rename(tmp_path / "moved" / name)
    assert "until 500 s" in call("explain-wait", tmp_path / "moved" / "run", "1").output


def test_hosts_that_wake_up_for_a_planned_start_are_not_taken_for_those_of_a_job(tmp_path: Path) -> None:
    """When job 0 ends, job 1 has host 0 for 10 s, and hosts 1 to 7 wake up for job 2, which takes host 0 after it."""
    jobs = [
        {"id": "0", "subtime": 0, "walltime": 30, "res": 1, "profile": "p"},
        {"id": "1", "subtime": 30, "walltime": 10, "res": 1, "profile": "q"},
        {"id": "2", "subtime": 30, "walltime": 100, "res": 8, "profile": "q"},
    ]
    said = explained(tmp_path, "sleep=idle,after=5", "2", jobs)
    assert "waited 20 s, started at 50 on" in said


def test_a_task_of_an_array_is_rejected_when_another_one_that_held_it_back_was(tmp_path: Path) -> None:
    array = {"id": "a", "limit": 1}
    jobs = [{**JOBS[0], "id": str(n), "subtime": 0, "res": 4, "array": {**array, "index": n}} for n in range(3)]
    said = explained(tmp_path, "cap=1000", "2", jobs)
    assert "rejected at 0: needs 1200 W with all hosts at rest" in said
