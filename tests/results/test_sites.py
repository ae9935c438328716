"""Users of a run's jobs, from a workload that is or is not what it was."""

import json
from pathlib import Path

import pytest

from batdispatch.results.runs import Run, read_run
from batdispatch.results.sites import Sites
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec
from report_pages import PLATFORM

JOBS = [
    {"id": "1", "subtime": 0, "res": 1, "profile": "p", "user": "ada"},
    {"id": "2", "subtime": 0, "res": 1, "profile": "p"},
    {"id": "3", "subtime": 0, "res": 1, "profile": "p", "user": "ben"},
]
DELAY: dict[str, object] = {"type": "delay", "delay": 5}


def made(folder: Path, profile: dict[str, object]) -> tuple[Run, Path]:
    workload = folder / "workload.json"
    workload.write_text(json.dumps({"nb_res": 4, "jobs": JOBS, "profiles": {"p": profile}}))
    execute(RunSpec(platform=PLATFORM, workload=str(workload), dispatcher="fcfs", record=False), folder / "run")
    return read_run(folder / "run"), workload


@pytest.mark.parametrize(
    "profile", [{"type": "delay", "delay": 5}, {"type": "parallel_homogeneous", "cpu": 1e9, "com": 0}]
)
def test_users_are_the_same_whether_the_workload_was_read_before(profile: dict[str, object], tmp_path: Path) -> None:
    run, _ = made(tmp_path, profile)
    before, after = Sites(), Sites()
    assert after.workload(run) is not None
    assert before.users(run) == after.users(run) == {"1": "ada", "3": "ben"}


def test_a_workload_that_has_changed_or_is_gone_tells_no_users(tmp_path: Path) -> None:
    run, workload = made(tmp_path, DELAY)
    workload.write_text(workload.read_text().replace("ada", "eve"))
    assert Sites().users(run) == {}
    workload.unlink()
    assert Sites().users(run) == {}
