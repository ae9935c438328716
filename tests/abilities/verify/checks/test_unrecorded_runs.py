"""A run without a recorded exchange is simulated again from its inputs, wherever its folder is now."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from batdispatch.abilities.verify.audit.run import Auditor
from batdispatch.inputs.platforms.generate import flat
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec
from compiling import needs_kernels

pytestmark = pytest.mark.usefixtures("worker_threads")
# What the fixtures are; see conftest.py.
Check = Disguise = Simulate = Any


@pytest.mark.parametrize(
    ("dispatcher", "fields"),
    [
        ("easy", {}),
        ("easy", {"decision_time": 2.5, "decision_clock": "cpu"}),
        ("conservative", {"clock": "apart", "timeout": 5.0}),
        ("stochastic-easy", {"options": {"requests": "learned-ratio"}, "seed": 3}),
        ("best-list", {}),
    ],
)
def test_honest_runs_are_confirmed(dispatcher: str, fields: dict[str, Any], simulate: Simulate, check: Check) -> None:
    found = check(simulate(dispatcher, record=False, **fields), "--json")
    (run,) = json.loads(found.text)["runs"]
    assert (found.status, run["found"], run["undone"], "decision" in run["checked"]) == (0, [], {}, True)


@needs_kernels
def test_a_kernels_run_comes_out_the_same_in_python(simulate: Simulate, check: Check) -> None:
    folder = simulate("easy", record=False, compiled="always")
    assert json.loads((folder / "result.json").read_bytes())["engine"]["compiled"]
    assert check(folder).status == 0


def test_a_run_of_another_dispatcher_is_found(disguise: Disguise, check: Check) -> None:
    folder = disguise(record=False)
    # Without an exchange, the files say nothing against it.
    assert Auditor().run(folder).total == 0
    found = check(folder)
    assert found.status == 1
    assert "decision: job " in found.text
    assert "jobs.csv, line " in found.text


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"engine": {"name": "batsim4"}, "made_from.settings.engine": "batsim4"}, "batsim4 is not started again"),
        ({"decision_time": "measured", "made_from.settings.decision_time": None}, "measured time"),
        ({"made_from": {}}, "does not say what the run was made from"),
        ({"made_from.settings.clock": "wall"}, "made_from.settings cannot be read"),
        ({"made_from.settings.dispatcher": "easiest"}, "no dispatcher is called 'easiest'"),
    ],
)
def test_what_cannot_be_simulated_again_is_told(
    change: dict[str, Any], said: str, simulate: Simulate, check: Check
) -> None:
    path = simulate("easy", record=False) / "result.json"
    result = json.loads(path.read_bytes())
    for name, value in change.items():
        *outer, last = name.split(".")
        place = result
        for key in outer:
            place = place[key]
        place[last] = value
    path.write_text(json.dumps(result))
    found = check(path.parent)
    assert found.status in (1, 3)
    assert "not decided again: " in found.text
    assert said in found.text


@pytest.mark.parametrize(
    ("name", "value"),
    [("dispatcher", "filler"), ("seed", 7), ("options.ordering", "sjf"), ("label", "mine"), ("recorded", True)],
)
def test_result_json_says_what_the_run_was_made_from(
    name: str, value: object, simulate: Simulate, check: Check
) -> None:
    path = simulate("easy", record=False) / "result.json"
    result = json.loads(path.read_bytes())
    place, _, last = name.rpartition(".")
    (result[place] if place else result)[last] = value
    path.write_text(json.dumps(result))
    found = check(path.parent)
    assert found.status == 1
    assert f": result.{name} is " in found.text


@pytest.fixture
def study(inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with inputs and two runs of them, made from paths relative to the folder around it."""
    folder = tmp_path / "first" / "study"
    shutil.copytree(inputs, folder / "input")
    monkeypatch.chdir(folder.parent)
    paths = {"platform": "study/input/p.xml", "workload": "study/input/w.json"}
    for record in (True, False):
        execute(RunSpec(**paths, dispatcher="easy", record=record), folder / "runs" / f"recorded-{record}")
    return folder


@pytest.mark.parametrize("way", ["renamed", "copied beside another study"])
def test_a_folder_that_moved_checks_itself_by_the_inputs_inside_it(
    way: str, study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, check: Check
) -> None:
    place = tmp_path / "second"
    if way == "renamed":
        place.mkdir()
        moved = study.rename(place / "mine")
    else:
        moved = Path(shutil.copytree(study, place / "mine"))
        # Where the noted paths lead now, other files of the same names are.
        shutil.copytree(study / "input", place / "study" / "input")
        (place / "study" / "input" / "p.xml").write_bytes(flat(5))
    monkeypatch.chdir(place)
    found = check(moved / "runs")
    assert (found.status, found.text.count("no violation")) == (0, 2)


def test_inputs_that_were_changed_are_not_taken_for_those_of_the_run(study: Path, check: Check) -> None:
    (study / "input" / "p.xml").write_bytes(flat(5))
    found = check(study / "runs")
    assert found.status == 1
    assert "the run was made with" in found.text
