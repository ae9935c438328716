"""``batdispatch explain-wait`` on the command line."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.ledger import Ledger
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec
from sites import simulated

ROOT = Path(__file__).parents[2]
Call = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built-in example under easy, as `compare` lays runs out."""
    folder = tmp_path_factory.mktemp("runs")
    execute(spec("easy"), folder / "easy")
    return folder


def spec(dispatcher: str, **more: object) -> RunSpec:
    platform, workload = ROOT / "platforms/flat64.xml", ROOT / "workloads/demo64.json"
    return RunSpec(platform=str(platform), workload=str(workload), dispatcher=dispatcher, **more)  # type: ignore[arg-type]


def waited(run: Path) -> tuple[str, float]:
    """The job that waited longest, and how long."""
    lines = (run / "jobs.csv").read_text().splitlines()
    header = lines[0].split(",")
    rows = [dict(zip(header, line.split(","), strict=True)) for line in lines[1:]]
    row = max(rows, key=lambda row: float(row["waiting_time"]))
    return row["job_id"], float(row["waiting_time"])


def test_words_and_json_say_the_same(runs: Path, call: Call) -> None:
    job, wait = waited(runs / "easy")
    status, out, err = call("explain-wait", runs / "easy", job)
    assert (status, err) == (0, "")
    assert f"waited {wait:,.6f}".rstrip("0").rstrip(".") + " s, started at" in out
    status, out, _ = call("explain-wait", runs / "easy", f"w0!{job}", "--json")
    assert status == 0
    answer = json.loads(out)
    assert answer["job"] == f"w0!{job}"
    lengths = [phase["end"] - phase["start"] for phase in answer["phases"]]
    assert sum(lengths) == pytest.approx(wait)


def test_limits_fold_what_is_left(runs: Path, call: Call) -> None:
    job, _ = waited(runs / "easy")
    _, whole, _ = call("explain-wait", runs / "easy", job, "--limit", 1000)
    _, short, _ = call("explain-wait", runs / "easy", job, "--limit", 1, "--holders", 0)
    assert "smaller ones" not in whole
    assert len(short) < len(whole)
    assert " others  " in short


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["easy", "17x"], "no job '17x' was submitted; did you mean '17'?"),
        (["easy", "w1!17"], "no job 'w1!17' was submitted; did you mean 'w0!17'?"),
        (["easy", "!"], "no job '!' was submitted; there are "),
        ([".", "17"], "holds several runs, expected one of them: cut, easy, other"),
        (["nowhere", "17"], "is not a folder, expected a run's folder"),
        (["easy/jobs.csv", "17"], "is not a folder, expected a run's folder"),
        (["empty", "17"], "holds neither decisions.jsonl nor jobs.csv"),
        (["unrecorded", "17"], "the run was not recorded; repeat it without --no-record"),
        (["cut", "17"], "line 40: "),
        (["swapped", "17"], "expected 'batsim->sched'"),
        (["other", "17"], "is unknown"),
        (["easy"], "Missing argument 'JOB'"),
        (["easy", "17", "--limit", "0"], "--limit"),
    ],
)
def test_one_readable_message_and_status_2(runs: Path, call: Call, arguments: list[str], message: str) -> None:
    damage(runs)
    status, out, err = call("explain-wait", runs / arguments[0], *arguments[1:])
    assert (status, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def damage(runs: Path) -> None:
    """Make folders that are wrong, each in its way."""
    if (runs / "empty").exists():
        return
    (runs / "empty").mkdir()
    recorded = (runs / "easy" / "decisions.jsonl").read_bytes().splitlines(keepends=True)
    completed = next(index for index, line in enumerate(recorded) if b"JOB_COMPLETED" in line)
    damaged = {
        "cut": [*recorded[:39], recorded[39][:50]],
        "swapped": recorded[1:],
        # A job ends that never began.
        "other": [*recorded[:2], *recorded[completed:]],
    }
    for name, lines in damaged.items():
        (runs / name).mkdir()
        (runs / name / "decisions.jsonl").write_bytes(b"".join(lines))
    (runs / "unrecorded").mkdir()
    shutil.copy(runs / "easy" / "jobs.csv", runs / "unrecorded")


class Picky(Dispatcher):
    """Rejects jobs of more than a unit, for a reason."""

    def decide(self, ledger: Ledger) -> None:
        for job in list(ledger.queue.values()):
            place = ledger.place(job)
            if job.units > 1:
                ledger.reject(job, "too wide for my taste")
            elif place is not None:
                ledger.start(job, place)


def test_the_reason_of_a_rejection_comes_from_the_result(tmp_path: Path, call: Call) -> None:
    result = execute(spec(f"{__file__}:Picky"), tmp_path / "picky")
    job = result["rejected"][0]["job"]
    status, out, _ = call("explain-wait", tmp_path / "picky", job)
    assert status == 0
    assert "too wide for my taste" in out


def test_a_failed_run_is_explained_from_its_partial_recording(runs: Path, tmp_path: Path, call: Call) -> None:
    recorded = (runs / "easy" / "decisions.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "decisions.jsonl.partial").write_bytes(b"".join(recorded[: len(recorded) // 2]))
    status, out, _ = call("explain-wait", tmp_path, "1")
    assert status == 0
    assert out.startswith("w0!1: ")


def test_a_job_that_starts_because_another_one_starts_at_that_moment_is_explained(tmp_path: Path, call: Call) -> None:
    jobs = [
        {"id": name, "subtime": 0, "res": 40, "walltime": 9, "profile": "p", "dependencies": waits}
        for name, waits in (("a", []), ("b", [{"job": "a", "kind": "after"}]), ("c", [{"job": "b", "kind": "after"}]))
    ]
    simulated(tmp_path, "filler", ROOT / "platforms/flat64.xml", jobs, {"p": {"type": "delay", "delay": 5}})
    status, out, err = call("explain-wait", tmp_path / "run", "b")
    assert (status, err) == (0, "")
    assert "waited 5 s, started at 5" in out
