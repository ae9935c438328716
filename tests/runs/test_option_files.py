"""Files that options of a dispatcher name are inputs of a run: it is made again when they change."""

import json
from pathlib import Path

import pytest

from batdispatch.abilities.verify.checks.lines import KIND
from batdispatch.abilities.verify.checks.rerun import why_not
from batdispatch.runs.provenance import code_of_others, others_names
from batdispatch.runs.run import execute, is_made
from batdispatch.runs.spec import RunSpec
from command_line import call
from recorded_energy import ENERGY
from workloads_of_cases import write_workload

PLATFORM = ENERGY / "platforms" / "homo8.xml"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    jobs = [{"id": str(n), "subtime": 10 * n, "walltime": 60, "res": 3 + n, "profile": "d"} for n in range(5)]
    write_workload(tmp_path / "w.json", jobs, {"d": {"type": "delay", "delay": 50}}, 8)
    (tmp_path / "grid.csv").write_text("time,price,carbon\n0,5,300\n100,3,200\n")
    return tmp_path


def spec_of(folder: Path, name: str, **options: str) -> RunSpec:
    return RunSpec(
        platform=str(PLATFORM), workload=str(folder / "w.json"), dispatcher=name, options=options, energy="exact"
    )


def specs(folder: Path) -> list[RunSpec]:
    grid = folder / "grid.csv"
    return [
        spec_of(folder, f"powered[price={grid},slack=200]"),
        spec_of(folder, f"powered[price={grid}:carbon,slack=200]"),
        spec_of(folder, f"attempts[dispatcher=powered[dispatcher=easy,price={grid}:carbon,slack=200]]"),
        spec_of(folder, "powered", price=f"{grid}:carbon", slack="200"),
        spec_of(folder, "attempts", dispatcher=f"powered[price={grid}]"),
    ]


def test_a_run_is_kept_until_a_series_changes(folder: Path) -> None:
    for number, spec in enumerate(specs(folder)):
        out = folder / str(number)
        (folder / "grid.csv").write_text("time,price,carbon\n0,5,300\n100,3,200\n")
        execute(spec, out)
        assert is_made(spec, out), spec
        (folder / "grid.csv").write_text("time,price,carbon\n0,5,300\n200,3,200\n")
        assert not is_made(spec, out), spec
        (folder / "grid.csv").unlink()
        assert not is_made(spec, out), spec


def test_result_json_notes_the_digest_and_check_finds_another_series(folder: Path) -> None:
    spec = specs(folder)[1]
    execute(spec, folder / "run")
    digests = json.loads((folder / "run" / "result.json").read_text())["made_from"]["sha256"]
    assert sorted(digests) == [f"option {folder / 'grid.csv'}:carbon", "platform", "workload"]
    check = ("check", folder / "run", "--replay", "always")
    assert "no violation" in call(*check).output
    (folder / "grid.csv").write_text("time,price,carbon\n0,4,300\n100,3,200\n")
    assert "inputs.option" in call(*check).output


def test_a_run_with_a_column_of_a_series_is_made_again_wherever_its_folder_lies(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    text = "powered[price=grid.csv:carbon,slack=200,cap=grid.csv:watts,origin=2026-01-01T00:00Z]"
    (folder / "grid.csv").write_text(
        "time,carbon,watts\n2026-01-01T00:00Z,300,2000\n2026-01-01T00:02Z,200,2100\n2026-01-01T00:04Z,250,2000\n"
    )
    execute(spec_of(Path(), f"attempts[dispatcher={text}]"), Path("runs") / "inside")
    execute(spec_of(Path(), text), Path("runs") / "run")
    monkeypatch.chdir(folder.parent)
    moved = folder.rename(folder.parent / "moved")
    for name in ("inside", "run"):
        findings = json.loads(call("check", moved / "runs" / name, "--json").output)["runs"][0]
        assert KIND in findings["checked"]
        assert not findings["violations"]
    with (moved / "grid.csv").open("a") as file:
        file.write("2026-01-01T00:06Z,250,2000\n")
    assert "grid.csv:carbon, which an option names, is not there" in call("check", moved / "runs" / "run").output


@pytest.mark.parametrize("text", ["powered[dispatcher=mine:Class]", "attempts[dispatcher=easy[price=a.csv:b,x=m:C]]"])
def test_check_runs_nobodys_class_beside_a_series(text: str) -> None:
    assert "source file" in why_not({"dispatcher": text, "options": {"price": "a.csv:b"}}, "auto", {})
    assert "source file" in why_not({"dispatcher": "powered", "options": {"dispatcher": text}}, "auto", {})
    assert not why_not({"dispatcher": "powered", "options": {"price": "a.csv:b"}}, "auto", {})


def test_a_column_of_a_file_is_nobodys_class(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = folder / "inside"
    inside.mkdir()
    monkeypatch.chdir(inside)
    text = "powered[price=../grid.csv:carbon]"
    assert others_names(text) == []
    assert code_of_others(text, here=Path.cwd()) == {}
    assert others_names(f"powered[dispatcher={'x' * 5000}:Y]") != []
