"""`check` finds nothing in honest runs of random cases with all rules of a queue."""

import os
from pathlib import Path

import pytest

import queue_cases
from batdispatch.abilities.verify.audit.run import Auditor
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec

POLICIES = ["fcfs", "filler", "easy"]
#: Set BATDISPATCH_CASES for more.
MANY = int(os.environ.get("BATDISPATCH_CASES", "2000"))


def check(seed: int, folder: Path) -> None:
    case = queue_cases.generate(seed)
    folder.mkdir()
    platform, workload = map(str, queue_cases.write(case, folder))
    run = folder / "run"
    execute(RunSpec(platform=platform, workload=workload, dispatcher=POLICIES[seed % 3]), run)
    assert [f"case {seed}: {violation}" for violation in Auditor().run(run).kept] == []


def test_check_finds_nothing_in_honest_runs(tmp_path: Path) -> None:
    for seed in range(60):
        check(seed, tmp_path / str(seed))


@pytest.mark.slow
def test_check_finds_nothing_in_many_honest_runs(tmp_path: Path) -> None:
    for seed in range(60, MANY):
        check(seed, tmp_path / str(seed))
