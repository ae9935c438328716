"""Removing what no campaign of a folder needs: nothing of a current grid, and everything of older ones."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from batdispatch.abilities.campaigns.campaign import leftovers
from batdispatch.abilities.campaigns.campaign import plan as planning
from batdispatch.abilities.campaigns.campaign.leftovers import NEEDS, clean, note_needs
from batdispatch.abilities.campaigns.campaign.plan import Plan
from batdispatch.cli.main import cli
from batdispatch.core.errors import InputError
from batdispatch.inputs.folders import MARK, Claim
from campaigns import SMALL, Calls, make, planned, read, written

CALLS = Calls()
OTHER = SMALL.replace("name: small", "name: other").replace("seeds: 0..1", "seeds: 0")


def campaign(folder: Path, text: str, **options: object) -> Plan:
    """Run a campaign in this process, as a call of it does."""
    plan = Plan(read(folder, text, **options), folder / "out")
    plan.places.own.mkdir(parents=True, exist_ok=True)
    note_needs(plan)
    make(plan)
    return plan


def everything(folder: Path) -> dict[str, bytes]:
    """All files of runs and inputs."""
    out = folder / "out"
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


def test_nothing_of_a_current_grid_goes_and_all_of_an_older_one_does(tmp_path: Path) -> None:
    other = campaign(tmp_path, OTHER)
    before = campaign(tmp_path, SMALL)
    # Two seeds and two dispatchers; the other campaign needs the first seed.
    assert clean(before, remove=True) == []
    now = campaign(tmp_path, SMALL.replace("jobs: 20", "jobs: 21").replace("fcfs", "conservative"))
    whole = everything(tmp_path)
    found = clean(now, remove=False)
    assert everything(tmp_path) == whole
    gone = {one.path.name for one in found}
    assert gone == {*before.tasks.keys() - other.tasks.keys(), *before.inputs() - other.inputs() - now.inputs()}
    assert [one.is_run for one in found] == [True, True, False]
    assert {(one.label, one.why) for one in found} == {("fcfs", "this code"), ("easy", "this code"), ("workloads", "")}
    for one in found:
        inside = str(one.path.relative_to(tmp_path / "out"))
        assert one.size == sum(len(content) for name, content in whole.items() if name.startswith(inside)) > 0
    assert clean(now, remove=True) == found
    assert everything(tmp_path) == {name: content for name, content in whole.items() if not gone & {*Path(name).parts}}
    for one in (now, other):
        assert not Plan(one.campaign, tmp_path / "out").pending
    assert clean(now, remove=True) == []


def test_runs_of_older_code_stay_until_the_campaign_was_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = campaign(tmp_path, SMALL)
    monkeypatch.setattr(planning, "_environment", lambda: {"code": "another"})
    monkeypatch.setattr(leftovers, "environment", lambda: {"code": "another"})
    newer = planned(tmp_path, SMALL)
    assert not older.tasks.keys() & newer.tasks.keys()
    # The table shows them.
    assert clean(newer, remove=True) == []
    # Under way: the table and what was noted are of different code.
    note_needs(newer)
    assert clean(newer, remove=True) == []
    make(newer)
    found = clean(newer, remove=True)
    assert {one.path.name for one in found} == older.tasks.keys()
    assert {one.why for one in found} == {"other code"}
    assert {path.name for path in newer.places.cells.iterdir()} == newer.tasks.keys()


def test_what_the_file_would_take_now_stays(tmp_path: Path) -> None:
    campaign(tmp_path, SMALL)
    campaign(tmp_path, SMALL.replace("jobs: 20", "jobs: 21"))
    # The file was changed back, and not run since.
    now = planned(tmp_path, SMALL)
    assert clean(now, remove=True) == []
    assert not planned(tmp_path, SMALL).pending


def test_parts_that_a_call_left_out_stay(tmp_path: Path) -> None:
    text = OTHER + "parts: {a: {dispatchers: fcfs}, b: {dispatchers: 'easy[ordering=sjf]'}}\n"
    for part in ("a", "b"):
        campaign(tmp_path, text, parts=[part])
    mine = campaign(tmp_path, SMALL.replace("seeds: 0..1", "seeds: 5..6"))
    assert clean(mine, remove=True) == []
    # A call of the whole file knows that there is no part a any more.
    campaign(tmp_path, text.replace("a: {dispatchers: fcfs}, ", ""))
    (found,) = clean(mine, remove=False)
    assert (found.is_run, found.label) == (True, "fcfs")


def test_a_table_without_a_note_keeps_its_runs_and_their_inputs(tmp_path: Path) -> None:
    campaign(tmp_path, OTHER)
    (tmp_path / "out" / "other" / NEEDS).unlink()
    mine = campaign(tmp_path, SMALL.replace("seeds: 0..1", "seeds: 5..6"))
    assert clean(mine, remove=True) == []
    # Nobody knows what an older version of this program was about to do.
    (tmp_path / "out" / "other" / MARK).mkdir()
    with pytest.raises(InputError, match="run it once more first"):
        clean(mine, remove=True)


def test_a_note_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    mine = campaign(tmp_path, SMALL)
    (mine.places.own / NEEDS).write_text("{}")
    with pytest.raises(InputError, match="cannot be read"):
        clean(mine, remove=True)


def test_a_campaign_that_is_under_way_and_one_who_cleans_keep_out_of_each_others_way(tmp_path: Path) -> None:
    mine = campaign(tmp_path, SMALL)
    stray = mine.places.cells / ("0" * 24)
    stray.mkdir()
    with Claim(tmp_path / "out" / "other"), pytest.raises(InputError, match="is being written by process"):
        clean(mine, remove=True)
    assert stray.is_dir()
    path = written(tmp_path, SMALL)
    with Claim(mine.places.cells):
        done = CALLS.run(path, "--out", "out", check=False)
    assert (done.returncode, "is being written by process" in done.stderr) == (2, True)
    # A run that a task on a cluster goes on with.
    with Claim(stray):
        assert clean(mine, remove=True) == []
    (found,) = clean(mine, remove=True)
    assert (found.label, found.why) == ("unknown", "unfinished")
    assert not stray.exists()


def test_what_is_not_ours_stays(tmp_path: Path) -> None:
    mine = campaign(tmp_path, SMALL)
    for path in (mine.places.cells / "notes.txt", mine.places.cells / "mine", mine.places.inputs / "log.swf"):
        path.write_text("mine")
    assert clean(mine, remove=True) == []


KILLED = """
import os, signal, sys
from pathlib import Path
from batdispatch.abilities.campaigns.campaign import leftovers
from campaigns import planned
left = int(sys.argv[3])
def dying(remove):
    def one(*words, **more):
        global left
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
        return remove(*words, **more)
    return one
os.unlink, os.rmdir = dying(os.unlink), dying(os.rmdir)
leftovers.clean(planned(Path(sys.argv[1]), sys.argv[2]), remove=True)
"""


@pytest.mark.parametrize("left", [1, 3, 8, 15])
def test_killed_while_it_removes_it_has_touched_nothing_that_is_needed(tmp_path: Path, left: int) -> None:
    campaign(tmp_path, SMALL.replace("jobs: 20", "jobs: 19"))
    now = campaign(tmp_path, SMALL)
    needed = {name: content for name, content in everything(tmp_path).items() if Path(name).parts[1] in now.tasks}
    stale = len(clean(now, remove=False))
    done = subprocess.run(
        [sys.executable, "-c", KILLED, tmp_path, SMALL, str(left)],
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == -signal.SIGKILL
    assert everything(tmp_path).items() >= needed.items()
    assert not Plan(now.campaign, tmp_path / "out").pending
    # None that was begun counts as whole, and the rest goes the next time.
    for one in clean(now, remove=False):
        assert not one.is_run or one.why == "unfinished" or len(list(one.path.iterdir())) >= 4
    assert 0 < len(clean(now, remove=True)) <= stale
    assert clean(now, remove=True) == []
    assert everything(tmp_path).items() >= needed.items()


def test_the_command_lists_and_removes(tmp_path: Path) -> None:
    def call(*words: str) -> Result:
        path = tmp_path / "campaign.yaml"
        return CliRunner().invoke(cli, ["campaign", str(path), "--out", str(tmp_path / "out"), "--clean", *words])

    old = campaign(tmp_path, SMALL)
    new = campaign(tmp_path, SMALL.replace("jobs: 20", "jobs: 21"))
    listed = call("--dry-run").stdout.splitlines()
    assert [line.split()[0] for line in listed] == ["2", "2", "2", "would"]
    assert listed[0].endswith(("fcfs, this code", "easy, this code"))
    assert "would remove 4 runs (" in listed[-1]
    assert len(list(old.places.cells.iterdir())) == 8
    answer = json.loads(call("--json").stdout)
    assert (answer["removed"], answer["runs"], answer["inputs"]) == (True, 4, 2)
    assert not any(Path(one).exists() for one in answer["paths"])
    assert {path.name for path in old.places.cells.iterdir()} == new.tasks.keys()
    assert "removed 0 runs" in call().stdout
    refused = call("--parts", "all")
    assert isinstance(refused.exception, InputError)
    assert "not with --clean" in str(refused.exception)


def test_a_call_notes_what_it_needs_before_it_runs_anything(tmp_path: Path) -> None:
    path = written(tmp_path, SMALL)
    process = CALLS.start(path, "--jobs", "1", "--batch", "1")
    CALLS.wait_for_cells(path, 1, process)
    CALLS.kill(process)
    plan = planned(tmp_path, SMALL, tmp_path / "campaigns")
    there = {folder.name for folder in plan.places.cells.iterdir()}
    # Killed before it had a table; cleaning for another campaign leaves alone what it made.
    other = planned(tmp_path / "other", OTHER.replace("seeds: 0", "seeds: 7"), tmp_path / "campaigns")
    assert clean(other, remove=True) == []
    assert {folder.name for folder in plan.places.cells.iterdir()} == there
