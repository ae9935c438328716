"""The budget bounds what reruns cost, whatever a run says of itself, and what it leaves out is told."""

from pathlib import Path
from typing import Any

import pytest

from batdispatch.abilities.verify.checks.again import Budget
from batdispatch.abilities.verify.checks.check import check as check_folders
from batdispatch.abilities.verify.checks.options import CheckOptions

# What the fixtures are; see conftest.py.
Check = Simulate = Any


@pytest.mark.parametrize("record", [True, False])
def test_without_a_budget_nothing_is_made_again(record: bool, simulate: Simulate, check: Check) -> None:
    found = check(simulate("easy", record=record), "--budget", 0)
    assert found.status == 3
    assert "not decided again: --budget 0 was over" in found.text
    assert "no violation" not in found.text


def test_what_was_done_before_the_budget_was_over_counts(simulate: Simulate) -> None:
    folders = [simulate("easy", name=f"run-{number}", record=number != 1) for number in range(3)]
    now = [0.0]

    def progress(what: str, done: int, total: int) -> None:
        if (what, done) == ("rerun", 1):
            now[0] = 11.0

    report = check_folders(folders, CheckOptions(), budget=Budget(10.0, lambda: now[0]), progress=progress)
    undone = [checked.findings.undone.get("decision", "") for checked in report.runs]
    assert undone == ["", "--budget 10 was over", "--budget 10 was over"]
    assert ["decision" in checked.findings.checked for checked in report.runs] == [True, False, False]


def test_a_decision_without_end_is_ended(simulate: Simulate, tmp_path: Path, check: Check) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(
        "import time\nfrom pathlib import Path\nfrom batdispatch.dispatchers.backfilling.easy import Easy\n"
        "class Mine(Easy):\n    '''Mine.'''\n    def decide(self, ledger):\n"
        "        while Path(__file__).with_suffix('.slow').exists():\n            pass\n"
        "        super().decide(ledger)\n"
    )
    folder = simulate(f"{mine}:Mine", name="slow")
    mine.with_suffix(".slow").touch()
    found = check(folder, "--replay", "always", "--budget", 3)
    assert found.status == 3
    assert "--budget 3 was over" in found.text


def test_replay_always_has_no_budget_unless_one_is_given(simulate: Simulate, check: Check) -> None:
    folder = simulate("easy")
    assert check(folder, "--replay", "always").status == 0
    assert check(folder, "--replay", "always", "--budget", 0).status == 3
