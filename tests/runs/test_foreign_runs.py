"""Schedulers of other programs beside ours: their own processes, their ends, and the audit of what they did.

batsched is not needed: a stand-in of its name takes its arguments and speaks its protocol.
"""

import json
import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import stand_in_batsched
from batdispatch.cli.main import cli
from batdispatch.core.errors import InputError, SimulationError
from batdispatch.inputs.workloads import read_workload
from batdispatch.links import foreign
from batdispatch.results.jobs_file import read_columns
from batdispatch.runs.engines import counted_energy
from batdispatch.runs.provenance import code_of_others
from batdispatch.runs.run import execute, is_made
from batdispatch.runs.spec import RunSpec
from checked import checked
from command_line import call

ROOT = Path(__file__).parents[2]
PLATFORM, WORKLOAD = str(ROOT / "platforms/flat64.xml"), ROOT / "workloads/demo64.json"
SHARED = ["compare", "--platform", PLATFORM, "--no-report", "--jobs", "1"]


@pytest.fixture
def workload(tmp_path: Path) -> str:
    """Return the first 60 jobs of the demonstration, and one that is too large."""
    whole = read_workload(WORKLOAD)
    lines = json.loads(WORKLOAD.read_text())
    lines["jobs"] = [*lines["jobs"][:60], {**lines["jobs"][60], "res": 65}]
    assert len(whole.jobs) > 61
    path = tmp_path / "few.json"
    path.write_text(json.dumps(lines))
    return str(path)


@pytest.fixture
def batsched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put the stand-in on PATH and return the file in which it notes how it was called."""
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "batsched"
    program.write_text(f"#!{sys.executable}\n" + Path(stand_in_batsched.__file__).read_text())
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("STAND_IN_NOTE", str(tmp_path / "note.json"))
    return tmp_path / "note.json"


def spec(workload: str, dispatcher: str, **options: str) -> RunSpec:
    return RunSpec(platform=PLATFORM, workload=workload, dispatcher=dispatcher, options=options, timeout=5.0)


def test_batsched_is_called_as_documented_and_gives_our_fcfs(batsched: Path, workload: str, tmp_path: Path) -> None:
    result = execute(spec(workload, "batsched:easy_bf", delay="5", text="a b"), tmp_path / "theirs")
    note = json.loads(batsched.read_text())
    assert note["options"] == {"delay": 5, "text": "a b"}
    assert note["arguments"][:2] == ["-v", "easy_bf"]
    endpoint = note["arguments"][2].removeprefix("--socket-endpoint=ipc://")
    assert note["arguments"][3] == f"--variant_options_filepath={Path(endpoint).parent}/variant_options.json"
    # Nobody else could enter, and nothing is left.
    assert not Path(endpoint).parent.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(note["pid"], 0)
    execute(spec(workload, "fcfs"), tmp_path / "ours")
    theirs, ours = (read_columns(tmp_path / name / "jobs.csv") for name in ("theirs", "ours"))
    assert theirs.job_id.tolist() == ours.job_id.tolist()
    assert theirs.starting_time.tolist() == pytest.approx(ours.starting_time.tolist(), nan_ok=True)
    (rejected,) = result["rejected"]
    assert rejected["reason"] == "rejected by batsched:easy_bf"
    assert result["options"] == {"delay": 5, "text": "a b"}
    findings = checked(tmp_path / "theirs", "always")
    assert findings.total == 0
    assert "another program" in findings.undone["decision"]


def test_runs_of_others_stand_beside_ours_and_are_made_anew(batsched: Path, workload: str, tmp_path: Path) -> None:
    words = [*SHARED, "--workload", workload, "--dispatchers", "filler,batsched:filler", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    assert sorted(path.parent.name for path in tmp_path.glob("out/*/jobs.csv")) == ["batsched-filler", "filler"]
    batsched.unlink()
    again = CliRunner().invoke(cli, words)
    assert "kept filler:" in again.stderr
    assert batsched.exists()
    assert not is_made(spec(workload, "batsched:filler"), tmp_path / "out" / "batsched-filler")


@pytest.mark.parametrize(
    ("name", "counted"), [("energy_bf_idle_sleeper", "batsim"), ("sleeper", "batsim"), ("easy_bf", None)]
)
def test_batscheds_schedulers_that_want_energy_have_it(
    batsched: Path, workload: str, tmp_path: Path, name: str, counted: str | None
) -> None:
    machine = tmp_path / "power.xml"
    assert (
        call("platform", "generate", "flat", "--hosts", 64, "--power", "batsim-homogeneous", "-o", machine).status == 0
    )
    asked = RunSpec(platform=str(machine), workload=workload, dispatcher=f"batsched:{name}", timeout=5.0)
    assert execute(asked, tmp_path / "run")["engine"].get("energy") == counted
    assert json.loads(batsched.read_text())["arguments"][:2] == ["-v", name]


@pytest.mark.parametrize(
    ("fault", "kind", "told"),
    [
        ("die", SimulationError, r"^batsched:x ended with status 1 .*\n  stand-in: no such variant$"),
        ("die-later", SimulationError, r"^batsched:x ended with status 3 .*\n  stand-in: out of memory$"),
        ("silent", SimulationError, r"^batsched:x: .* has not answered for 2 s \(after 3 answers\)"),
        ("garbage", InputError, r"^batsched:x: reply of the scheduler, now: found 'soon'"),
    ],
)
def test_a_scheduler_that_fails_is_named_and_leaves_nothing(
    fault: str,
    kind: type[Exception],
    told: str,
    batsched: Path,
    workload: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("STAND_IN", fault)
    one = RunSpec(platform=PLATFORM, workload=workload, dispatcher="batsched:x", timeout=2.0)
    with pytest.raises(kind, match=f"(?s){told}"):
        execute(one, tmp_path / "out")
    assert not (tmp_path / "out" / "jobs.csv").exists()
    if fault != "die":
        with pytest.raises(ProcessLookupError):
            os.kill(json.loads(batsched.read_text())["pid"], 0)


def test_one_that_fails_does_not_take_the_others_with_it(
    batsched: Path, workload: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAND_IN", "die")
    words = [*SHARED, "--workload", workload, "--dispatchers", "batsched:x,fcfs", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 1
    assert "batsched-x failed: batsched:x ended with status 1" in done.stderr
    assert (tmp_path / "out/fcfs/jobs.csv").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--dispatcher", "batsched:easy_bf"], "there is no batsched on PATH"),
        (["--dispatcher", "pybatsim:fillerSched"], "pybatsim is not installed: pip install --no-deps pybatsim"),
        (["--dispatcher", "pybatsim:fillerSched", "--engine", "batsim4"], "option --engine: is not for pybatsim"),
        (["--dispatcher", "batsched:filler", "--decision-time", "2"], "option --decision-time: is not for batsched"),
        (["--dispatcher", "pybatsim:"], "expected module:Class or path"),
    ],
)
def test_what_cannot_be_is_refused_at_the_door(
    words: list[str], told: str, workload: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreign, "find_spec", lambda name: None)
    monkeypatch.setattr(foreign.shutil, "which", lambda name: None)
    out = tmp_path / "out"
    done = CliRunner().invoke(cli, ["run", "--platform", PLATFORM, "--workload", workload, *words, "--out", str(out)])
    assert isinstance(done.exception, InputError)
    assert told in str(done.exception)
    assert not out.exists()


def test_a_campaign_notices_another_scheduler_of_that_name(batsched: Path, tmp_path: Path) -> None:
    found = foreign.sources_of("batsched:filler", tmp_path)
    assert found == [tmp_path / "bin" / "batsched"]
    mine = tmp_path / "mine.py"
    mine.write_text("first")
    before = code_of_others("pybatsim:mine.py", here=tmp_path)
    assert list(before) == ["pybatsim:mine.py"]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine.py").write_text("second")
    assert code_of_others("pybatsim:mine.py", here=elsewhere) != before


@pytest.mark.parametrize("name", ["fillerSched", "easyBackfill"])
def test_schedulers_of_pybatsim_run_in_processes_of_their_own(name: str, workload: str, tmp_path: Path) -> None:
    pytest.importorskip("batsim.batsim")
    lines = json.loads(Path(workload).read_text())
    lines["jobs"].pop()  # easyBackfill does not reject what is too large.
    small = tmp_path / "small.json"
    small.write_text(json.dumps(lines))
    result = execute(spec(str(small), f"pybatsim:{name}"), tmp_path / "out")
    assert result["decision_time"] == "own"
    assert result["metrics"]["nb_jobs_success"] == 60
    findings = checked(tmp_path / "out", "auto")
    assert findings.total == 0, [str(finding) for finding in findings.kept]


def test_a_scheduler_of_pybatsim_that_does_not_exist_is_named(workload: str, tmp_path: Path) -> None:
    pytest.importorskip("batsim.batsim")
    with pytest.raises(SimulationError, match=r"^pybatsim:nothing ended .*\n  No such scheduler"):
        execute(spec(workload, "pybatsim:nothing"), tmp_path / "out")


@pytest.mark.parametrize(
    ("name", "needs"),
    [
        ("pybatsim:fcfsSchedSleep", True),
        ("pybatsim:easyEnergyBudget", True),
        ("batsched:energy_bf", True),
        ("batsched:sleeper", True),
        ("pybatsim:easyBackfill", False),
        # Its folder says nothing of the scheduler.
        ("pybatsim:/home/sleepy/fifo.py", False),
    ],
)
def test_schedulers_that_let_hosts_sleep_have_energy_counted(
    name: str, needs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreign, "PROGRAMS", dict.fromkeys(("pybatsim", "batsched"), lambda: ["program"]))
    made = foreign.create_any(name, {})
    assert made.needs_energy is needs
    # Energy is then counted by itself, as on a platform with watts.
    assert counted_energy("auto", needed=made.needs_energy) == ("batsim" if needs else None)
