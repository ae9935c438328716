"""A run of filler that says it is one of easy: nothing that result.json says switches the rerun off in silence."""

import json
from pathlib import Path
from typing import Any

import pytest

from batdispatch.abilities.verify.audit.run import Auditor
from batdispatch.abilities.verify.checks.settings import contradictions, read_said

pytestmark = pytest.mark.usefixtures("worker_threads")
# What the fixtures are; see conftest.py.
Check = Disguise = Simulate = Any
#: What a forger writes into result.json -> the changes, the exit status, and what is said.
SWITCHES: dict[str, tuple[list[tuple[str, Any]], int, str]] = {
    "nothing": ([], 1, "simulated again, it is"),
    "a long simulation": ([("performance.simulation_seconds", 61.0)], 1, "simulated again, it is"),
    "another numpy": ([("made_from.packages.numpy", "0.1")], 3, "the run had numpy 0.1, this is"),
    "a solver that was stopped": ([("fallbacks", 1), ("report.fallbacks", 1)], 3, "the clock stopped a solver"),
    "measured decisions": ([("decision_time", "measured")], 1, "the dispatcher decides otherwise"),
    "another program": ([("dispatcher", "pybatsim:easyBackfill")], 3, "a scheduler of another program"),
    "a source file": ([("options.placement", "mine.py:Mine")], 3, "source file"),
    "a dispatcher that is not installed": ([("dispatcher", "easiest")], 3, "no dispatcher is called 'easiest'"),
    "no dispatcher": ([("dispatcher", "")], 3, "names no dispatcher"),
}


@pytest.mark.parametrize("switch", SWITCHES)
def test_a_forger_cannot_switch_the_rerun_off(switch: str, disguise: Disguise, check: Check) -> None:
    changes, status, said = SWITCHES[switch]
    folder = disguise(*changes)
    # The files may agree with each other; what they contradict is found beside.
    contradicted = Auditor().run(folder).total > 0 or any(contradictions(read_said(folder)))
    found = check(folder)
    assert said in found.text
    assert "no violation" not in found.text
    assert found.status == (1 if contradicted else status)
    if status == 3:
        assert "not decided again: " in found.text


@pytest.mark.parametrize("switch", ["another numpy", "a solver that was stopped"])
def test_what_proves_nothing_is_told_with_the_difference(switch: str, disguise: Disguise, check: Check) -> None:
    found = check(disguise(*SWITCHES[switch][0]))
    assert found.status == 3
    assert "and here it comes to something else: decision: job " in found.text


def test_a_run_that_says_another_version_made_it_is_made_again(disguise: Disguise, check: Check) -> None:
    found = check(disguise(version=True))
    assert (found.status, "no violation" in found.text) == (3, False)
    assert "not decided again: the run is of version 0.0.9, this is" in found.text
    assert "and here it comes to something else: decision: job " in found.text


@pytest.mark.parametrize("record", [True, False])
def test_an_honest_run_of_another_version_is_confirmed_by_what_comes_out(
    record: bool, simulate: Simulate, of_another_version: Any, check: Check
) -> None:
    folder = simulate("easy", record=record)
    of_another_version(folder)
    assert check(folder).status == 0


@pytest.mark.parametrize(
    ("dispatcher", "fields"),
    [
        ("easy", {}),
        ("easy", {"decision_time": None}),
        ("conservative", {"decision_time": 2.5}),
        ("conservative", {"clock": "apart"}),
    ],
)
def test_honest_runs_are_confirmed(dispatcher: str, fields: dict[str, Any], simulate: Simulate, check: Check) -> None:
    folder = simulate(dispatcher, **fields)
    found = check(folder, "--json")
    (run,) = json.loads(found.text)["runs"]
    assert (found.status, run["undone"], "decision" in run["checked"]) == (0, {}, True)


def test_whoever_says_replay_never_knows_that_nothing_was_decided_again(simulate: Simulate, check: Check) -> None:
    found = check(simulate("easy"), "--replay", "never")
    assert found.status == 0
    assert "not decided again: --replay never" in found.text
    assert "no violation" not in found.text


def test_a_strangers_source_file_runs_only_if_it_is_asked_for(simulate: Simulate, tmp_path: Path, check: Check) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(
        "from pathlib import Path\nfrom batdispatch.dispatchers.backfilling.easy import Easy\n"
        "Path(__file__).with_suffix('.ran').touch()\nclass Mine(Easy):\n    '''Mine.'''\n"
    )
    folders = [
        simulate(f"{mine}:Mine", name="recorded"),
        simulate(f"{mine}:Mine", name="unrecorded", record=False),
    ]
    mine.with_suffix(".ran").unlink()
    found = check(*folders)
    assert found.status == 3
    assert found.text.count("which only --replay always runs") == 2
    assert not mine.with_suffix(".ran").exists()
    assert check(*folders, "--replay", "always").status == 0
    assert mine.with_suffix(".ran").exists()
