"""`check` finds nothing in honest runs of random cases with all rules of a queue."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import queue_cases
from batdispatch.results.audit.findings import Violation
from batdispatch.results.audit.run import Auditor
from batdispatch.runs.run import RunSpec, execute

POLICIES = ["fcfs", "filler", "easy"]
#: Set BATDISPATCH_CASES for more.
MANY = int(os.environ.get("BATDISPATCH_CASES", "2000"))
Fields = dict[str, Any]


def is_rejected_for_a_dependency(case: Fields, job: Fields, violation: Violation) -> bool:
    # The second: a circle through the namesakes that a singleton waits for.
    return any(text in violation.message for text in ("gives the reason 'depends on", "which depends on it in turn"))


def is_let_in_by_the_default_partition(case: Fields, job: Fields, violation: Violation) -> bool:
    return "partition" not in job and any(window.get("partitions") for window in case["reservations"])


def waits_for_namesakes(case: Fields, job: Fields, violation: Violation) -> bool:
    return {"kind": "singleton"} in job.get("dependencies", [])


#: Rule -> when its alarm is false. With an audit that raises none of these, this is empty.
FALSE_ALARMS: Mapping[str, Callable[[Fields, Fields, Violation], bool]] = {
    "rejection": is_rejected_for_a_dependency,
    "reservation": is_let_in_by_the_default_partition,
    "dependency": waits_for_namesakes,
}


def check(seed: int, folder: Path) -> None:
    case = queue_cases.generate(seed)
    jobs = {job["id"]: job for job in case["jobs"]}
    folder.mkdir()
    platform, workload = map(str, queue_cases.write(case, folder))
    run = folder / "run"
    execute(RunSpec(platform=platform, workload=workload, dispatcher=POLICIES[seed % 3]), run)
    for violation in Auditor().run(run).kept:
        is_false = FALSE_ALARMS.get(violation.kind)
        assert is_false is not None, f"case {seed}: {violation}"
        assert is_false(case, jobs[violation.job], violation), f"case {seed}: {violation}"


def test_check_finds_nothing_in_honest_runs(tmp_path: Path) -> None:
    for seed in range(60):
        check(seed, tmp_path / str(seed))


@pytest.mark.slow
def test_check_finds_nothing_in_many_honest_runs(tmp_path: Path) -> None:
    for seed in range(60, MANY):
        check(seed, tmp_path / str(seed))
