"""A run or a comparison killed before any change of a file: the folder never reads as whole when it is not."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from batdispatch.core.errors import InputError
from batdispatch.inputs.folders import MARK
from batdispatch.results.run_files import RESULT
from batdispatch.results.runs import find_runs, read_result, read_run
from batdispatch.runs.compare import compare
from batdispatch.runs.listener import Listener
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec

ROOT = Path(__file__).parents[2]
CRASHING = ROOT / "tests" / "support" / "crashing.py"
PLATFORM = str(ROOT / "tests" / "conformance" / "recordings" / "platforms" / "four.xml")
WORKLOAD = str(ROOT / "tests" / "conformance" / "recordings" / "workloads" / "delay.json")


def spec(dispatcher: str) -> RunSpec:
    return RunSpec(platform=PLATFORM, workload=WORKLOAD, dispatcher=dispatcher)


def contents(folder: Path) -> dict[str, Any]:
    """What is in a run's folder, by name, without the times that were measured."""
    found: dict[str, Any] = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    # Sums of measured times stand in schedule.csv.
    header, row = found["schedule.csv"].decode().splitlines()
    sums = dict(zip(header.split(","), row.split(","), strict=True))
    found["schedule.csv"] = {
        name: value for name, value in sums.items() if name not in ("scheduling_time", "simulation_time")
    }
    del found["decision_times.csv"]
    result = json.loads(found[RESULT])
    for key in ("performance", "decisions"):
        del result[key]
    for table, gone in (("metrics", "decisions_seconds"), ("files", "schedule.csv"), ("files", "decision_times.csv")):
        result[table] = {name: value for name, value in result[table].items() if not name.startswith(gone)}
    found[RESULT] = result
    found |= {path.name: "a folder" for path in folder.iterdir() if path.is_dir()}
    return found


def crash(*words: object) -> int:
    return subprocess.run([sys.executable, CRASHING, *map(str, words)], capture_output=True, check=False).returncode


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    root = tmp_path_factory.mktemp("undisturbed")
    for name in ("easy", "filler", "fcfs"):
        execute(spec(name), root / name)
    return {name: contents(root / name) for name in ("easy", "filler", "fcfs")}


@pytest.mark.parametrize("earlier", [None, "filler"])
def test_a_run_killed_before_any_change(
    earlier: str | None, undisturbed: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    before = tmp_path / "before"
    if earlier is not None:
        execute(spec(earlier), before)
        # A file that the next run does not have.
        (before / "solver.jsonl").write_text("{}\n")
        result = json.loads((before / RESULT).read_bytes())
        result["files"]["solver.jsonl"] = "ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356"
        (before / RESULT).write_text(json.dumps(result))
        was = contents(before)
    assert crash("run", PLATFORM, WORKLOAD, "easy", before, tmp_path / "runs") == 0
    folders = sorted((tmp_path / "runs").iterdir(), key=lambda path: int(path.name))
    refused = 0
    for folder in folders:
        if not folder.exists():
            continue
        try:
            (found,) = find_runs([folder])
            read_run(found)
        except InputError as problem:
            refused += "is unfinished: what wrote into it was killed" in str(problem)
            # Before the mark is there, nothing is.
            assert (folder / MARK).is_dir() or not any(folder.iterdir())
            # Even if somebody takes the mark away, result.json stands beside no files but those it was written with.
            shutil.rmtree(folder / MARK, ignore_errors=True)
            if (folder / RESULT).exists():
                read_result(folder)
        else:
            there = {name: found for name, found in contents(folder).items() if not name.startswith(".")}
            there.pop(MARK, None)
            assert there in ([undisturbed["easy"]] if earlier is None else [undisturbed["easy"], was])
    assert refused >= 15
    # The last was not killed; whatever the others left, the next run makes whole.
    assert contents(folders[-1]) == undisturbed["easy"]
    for folder in folders[:-1:3]:
        execute(spec("easy"), folder)
        assert contents(folder) == undisturbed["easy"]


MOMENTS = [
    ("parent", "open", f"{MARK}/changing", False),
    ("parent", "os.rename", "report/index.html", True),
    ("worker", "os.rename", f"easy/{RESULT}", True),
    ("worker", "os.rename", "easy/jobs.csv", False),
    ("worker", "os.remove", f"easy/{RESULT}", False),
]


@pytest.mark.parametrize(
    ("who", "event", "end"),
    [pytest.param(*moment[:3], marks=() if moment[3] else pytest.mark.slow) for moment in MOMENTS],
)
def test_a_comparison_killed_is_completed_by_the_next(
    who: str, event: str, end: str, undisturbed: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    crash("compare", PLATFORM, WORKLOAD, "easy,fcfs", out, who, event, end)
    with pytest.raises(InputError, match=r"is unfinished: what wrote into it was killed"):
        find_runs([out])
    kept: list[str] = []
    listener = Listener()
    listener.kept = kept.extend  # type: ignore[method-assign]
    names = ["easy", "fcfs"]
    folders, failures = compare([spec(name) for name in names], out, processes=2, listener=listener)
    assert ([folder.name for folder in folders], failures) == (names, {})
    # A worker that dies loses only its own run.
    assert kept == (["easy", "fcfs"] if who == "parent" else ["fcfs"])
    assert {name: contents(out / name) for name in names} == {name: undisturbed[name] for name in names}
    assert find_runs([out]) == folders
    assert {path.name for path in out.iterdir()} - {"report", "names.json"} == set(names)
    shutil.rmtree(out)
