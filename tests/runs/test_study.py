"""The experiments of expe/eurora and expe/kit, on workloads so small that they take seconds."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from batdispatch.cli.main import cli
from batdispatch.core.errors import InputError
from batdispatch.core.machine import Machine
from batdispatch.runs.grid import Cell, fill, publish, refusal
from batdispatch.runs.study import DISPATCHERS, main

EXPE = Path(__file__).parents[2] / "expe"
SHARED = Path(os.environ.get("BATDISPATCH_SHARED", Path(__file__).parents[3] / "shared")) / "data"
SMALL = ["--jobs", "24", "--seeds", "1", "--load", "4", "--solve", "2", "--work", "0.01"]


def experiment(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"expe_{name}", EXPE / name / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows(text: str) -> list[list[str]]:
    """The cells of a section's tables, without the headers."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def section(page: Path, name: str) -> str:
    found = re.search(rf"<!-- measured: {name} -->(.*?)<!-- end -->", page.read_text(), re.DOTALL)
    assert found is not None
    return found[1]


def test_eurora_whole_grid_instances_and_decision_times(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "results.md"
    page.write_text((EXPE / "eurora" / "results.md").read_text())
    log = section(page, "log")
    arguments = [*SMALL, "--out", str(tmp_path / "out"), "--write"]
    assert main(experiment("eurora").EURORA, tmp_path, arguments) == 0, capsys.readouterr().err
    table = rows(section(page, "generated"))[1:]
    assert [row[0] for row in table] == [name for name in DISPATCHERS for _ in range(3)]
    assert [row[8] for row in table] == ["0"] * 21, "no violation in any run"
    assert {row[0]: row[9] for row in table if row[1] == "oracle"}["pcp20"] == "364", "the paper's figure beside ours"
    assert all(re.fullmatch(r"[\d.,]+ ± [\d.,]+", row[6]) for row in table)
    sources = {row[0]: row for row in rows(section(page, "variables"))[1:]}
    predictions = ("data-driven", "oracle", "requested")
    assert set(sources) == {f"generated, {name}, {known}" for name in ("pcp19", "pcp20") for known in predictions}
    assert all(0 < float(row[6]) <= float(row[7]) for row in sources.values())
    assert "PCP'19, node-wise" in section(page, "times")
    timed = section(page, "decision-time")
    assert "| pcp19 | oracle |" in timed
    assert [row[2] for row in rows(timed)[-4:]] == ["0.1 s", "1 s", "10 s", "60 s"]
    for picture in ("variables.svg", "times.svg", "quality-generated.svg"):
        assert ElementTree.parse(tmp_path / picture).getroot().tag.endswith("svg")
    assert section(page, "log") == log, "a part that did not run keeps its figures"
    again = tmp_path / "again"
    result = json.loads((tmp_path / "out/runs/generated-0/measured/easy,prediction=oracle/result.json").read_text())
    words = [*shlex.split(result["command"])[1:], "--out", str(again)]
    assert CliRunner().invoke(cli, words).exit_code == 0, "the noted command repeats the run"
    repeated = json.loads((again / "result.json").read_text())
    assert [repeated[key] for key in ("decision_time", "decision_clock")] == ["measured", "cpu"]
    # The second time nothing is simulated, and the figures of the runs are the same.
    capsys.readouterr()
    before = section(page, "generated")
    assert main(experiment("eurora").EURORA, tmp_path, [*arguments, "--parts", "generated"]) == 0
    assert "easy" not in capsys.readouterr().err
    assert section(page, "generated") == before


def test_kit_refuses_pcp19_and_counts_its_variables_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [*SMALL, "--solve", "1", "--out", str(tmp_path), "--dispatchers", "easy,hcp19,pcp19"]
    arguments += ["--parts", "generated,instances"]
    assert main(experiment("kit").KIT, tmp_path, arguments) == 0
    out = capsys.readouterr().out
    assert "| pcp19 | oracle | refused |" in out
    assert "117,400 variables" in out
    counted = [row for row in rows(out) if row[0] == "generated, hcp19, oracle"]
    assert int(counted[0][4].replace(",", "")) > 1173


@pytest.mark.reallogs
@pytest.mark.skipif(not SHARED.is_dir(), reason="the real logs are not here")
@pytest.mark.parametrize(
    ("name", "log"), [("eurora", "eurora/eurora_historical.tar.xz"), ("kit", "kit-forhlr2/KIT-FH2-2016-1.rst.xz")]
)
def test_first_jobs_of_the_real_log(name: str, log: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = getattr(experiment(name), name.upper())
    arguments = ["--parts", "log", "--log", str(SHARED / log), "--first", "40", "--out", str(tmp_path)]
    assert main(study, tmp_path, [*arguments, "--dispatchers", "easy,best-list"]) == 0
    table = rows(capsys.readouterr().out)[1:]
    assert [(row[0], row[8]) for row in table] == [(d, "0") for d in ("easy", "best-list") for _ in range(2)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--parts", "grid"], "option --parts: found 'grid'"),
        (["--dispatchers", "fcfs"], "option --dispatchers: found 'fcfs'"),
        (["--seeds", "0"], "option --seeds: 0, expected at least 1"),
        (["--parts", "instances"], "holds no recorded run"),
        (["--parts", "log", "--log", "nowhere.rst"], "nowhere.rst"),
    ],
)
def test_mistakes_are_one_line(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(experiment("kit").KIT, tmp_path, [*arguments, "--out", str(tmp_path / "out")]) == 2
    assert message in capsys.readouterr().err


def test_refusal_says_why_and_what_instead() -> None:
    cell = Cell(dispatcher="pcp19", options={"window": "100"})
    assert refusal(cell, Machine.flat(64, "core=16")) == ""
    assert "Use pcp20 or hcp19" in refusal(cell, Machine.flat(1173, "core=20"))


def test_a_page_without_the_section_is_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("nothing\n")
    with pytest.raises(InputError, match="found no section"):
        fill(page, {"log": "text"})
    assert page.read_text() == "nothing\n"


def test_sections_are_printed_and_the_page_is_filled_only_if_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "results.md"
    page.write_text("<!-- measured: one -->\nold\n<!-- end -->\n")
    publish(page, {"one": "new"}, write=False)
    assert capsys.readouterr().out == "\none\n\nnew\n"
    assert "old" in page.read_text()
    publish(page, {"one": "new"}, write=True)
    assert page.read_text() == "<!-- measured: one -->\n\nnew\n\n<!-- end -->\n"
