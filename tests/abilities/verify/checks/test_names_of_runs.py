"""Names and headings are bound to what was run: check finds those that are not, and pages say what ran."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

import batdispatch
from batdispatch.cli.main import cli

EXAMPLES = Path(batdispatch.__file__).parent / "examples"


def checked(folder: Path) -> tuple[int, str]:
    done = CliRunner().invoke(cli, ["check", str(folder), "--replay", "never"])
    return done.exit_code, done.output


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A comparison of three runs, and one over windows."""
    folder = tmp_path_factory.mktemp("made")
    machine = ["--platform", str(EXAMPLES / "flat64.xml"), "--workload", str(EXAMPLES / "demo64.json")]
    names = ["--dispatchers", "easy,fcfs,easy[ordering=sjf]", "--no-record", "--no-report"]
    for name, more in (("runs", names), ("windows", [*names[:2], "--replicates", "6"])):
        done = CliRunner().invoke(cli, ["compare", *machine, *more, "--out", str(folder / name)])
        assert done.exit_code == 0, done.output
        assert checked(folder / name)[0] == 0, checked(folder / name)[1]
    return {name: folder / name for name in ("runs", "windows")}


def swap(folder: Path, one: str, other: str) -> None:
    (folder / one).rename(folder / "between")
    (folder / other).rename(folder / one)
    (folder / "between").rename(folder / other)


def facts(change: Callable[[dict[str, object]], object]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        path = folder / "comparison.json"
        told = json.loads(path.read_text())
        change(told)
        path.write_text(json.dumps(told))

    return apply


def renamed_workload(folder: Path) -> None:
    table = folder / "replicates.csv"
    table.write_text(table.read_text().replace("demo64,", "KTH-SP2,"))
    facts(lambda told: told.update(title="Which dispatcher for KTH-SP2?"))(folder)


@pytest.mark.parametrize(
    ("kind", "forge", "words"),
    [
        ("runs", lambda at: swap(at, "easy", "fcfs"), "the folder calls it easy, and it is the run fcfs"),
        ("runs", lambda at: swap(at, "easy", "easy,ordering=sjf"), "it is the run easy,ordering=sjf"),
        (
            "runs",
            lambda at: swap(at, "fcfs", "easy,ordering=sjf"),
            "calls it fcfs, and it is the run easy,ordering=sjf",
        ),
        (
            "runs",
            lambda at: (at / "easy").rename(at / "conservative"),
            "calls it conservative, and it is a run of easy",
        ),
        ("runs", lambda at: (at / "fcfs").rename(at / "slurm-backfill"), "and it is a run of fcfs"),
        ("runs", lambda at: (at / "easy").rename(at / "easy,ordering=wfp3"), "and its options are {}"),
        ("runs", lambda at: (at / "easy,ordering=sjf").rename(at / "easy,ordering=f1"), "its options are"),
        ("windows", lambda at: swap(at / "runs/windows", "easy", "fcfs"), "and it is the run fcfs"),
        ("windows", lambda at: swap(at / "runs/windows", "fcfs", "easy,ordering=sjf"), "calls it fcfs"),
        ("windows", lambda at: (at / "runs/windows/fcfs").rename(at / "runs/windows/filler"), "it is a run of fcfs"),
        ("windows", facts(lambda told: told.update(title="Which dispatcher for KTH-SP2?")), "the title is"),
        ("windows", facts(lambda told: told.update(title="easy is best")), "the title is 'easy is best'"),
        ("windows", renamed_workload, "the table is of KTH-SP2, and the command that made it"),
        ("windows", facts(lambda told: told.update(failures=[["windows/fcfs", "died"]])), "said to have failed"),
        ("windows", facts(lambda told: told.update(refused=[["fcfs", "too slow"]])), "said to take no part"),
    ],
)
def test_a_name_that_is_not_of_what_ran_is_found(
    made: dict[str, Path], kind: str, forge: Callable[[Path], object], words: str, tmp_path: Path
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(made[kind], folder)
    forge(folder)
    status, told = checked(folder)
    assert status == 1, told
    assert words in told


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"energy": "batsim"}, "result.engine.energy is 'batsim', made_from and metrics say 'exact'"),
        ({"energy": None}, "result.engine.energy is None, made_from and metrics say 'exact'"),
        ({"version": "9.9"}, "result.engine.version is '9.9', made_from says"),
        ({"compiled": "easy", "not_compiled": "no compiler"}, "result.engine says that a kernel made the run, and why"),
        ({}, ""),
    ],
)
def test_what_is_said_of_the_engine_follows_from_the_settings(
    said: dict[str, str | None], words: str, tmp_path: Path
) -> None:
    machine, out = str(tmp_path / "p.xml"), tmp_path / "run"
    make = ["platform", "generate", "flat", "--hosts", "64", "--power", "batsim-cluster", "-o", machine]
    assert CliRunner().invoke(cli, make).exit_code == 0
    run = ["run", "--platform", machine, "--workload", str(EXAMPLES / "demo64.json"), "--dispatcher", "easy"]
    assert CliRunner().invoke(cli, [*run, "--energy", "exact", "--no-record", "--out", str(out)]).exit_code == 0
    result = json.loads((out / "result.json").read_text())
    result["engine"] |= said
    (out / "result.json").write_text(json.dumps(result))
    status, told = checked(out)
    assert (status == 1) == bool(words), told
    assert words in told


@pytest.mark.parametrize("name", ["my-easy", "easy-2", "easy old", "baseline", "2026-11-28", "the one I like"])
def test_a_folder_of_ones_own_name_is_free(made: dict[str, Path], name: str, tmp_path: Path) -> None:
    shutil.copytree(made["runs"], tmp_path / "copy")
    (tmp_path / "copy" / "easy").rename(tmp_path / "copy" / name)
    assert checked(tmp_path / "copy")[0] == 0
    assert sorted(batdispatch.load(tmp_path / "copy")) == sorted([name, "fcfs", "easy,ordering=sjf"])


def test_a_run_may_stand_in_a_folder_that_says_less_of_it(made: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(made["runs"] / "easy,ordering=sjf", tmp_path / "alone" / "easy")
    assert checked(tmp_path / "alone")[0] == 0


def test_pages_and_python_name_what_ran(made: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(made["runs"], folder)
    before = {label: run.metrics["mean_waiting_time"] for label, run in batdispatch.load(folder).items()}
    swap(folder, "easy", "fcfs")
    after = {label: run.metrics["mean_waiting_time"] for label, run in batdispatch.load(folder).items()}
    assert after["easy (in fcfs)"] == before["easy"]
    assert after["fcfs (in easy)"] == before["fcfs"]
    page = Path(str(batdispatch.report(folder).path)).read_text()
    assert "easy (in fcfs)" in page
    assert "fcfs (in easy)" in page
