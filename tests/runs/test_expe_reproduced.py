"""``python -m expe``: what a folder says is run, held against the paper's claims and shown."""

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from expe.__main__ import main
from expe.common import running
from expe.common.claims import read_claims
from expe.common.running import CLAIMS, EXPE, folders

ROOT = Path(__file__).parents[2]
Call = Callable[..., tuple[int, str]]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Does what ``python -m expe`` does beside a copy of `expe/`, and returns its status and what it prints."""
    shutil.copytree(EXPE, tmp_path / "expe", ignore=shutil.ignore_patterns("runs", "__pycache__"))
    monkeypatch.setattr(running, "EXPE", tmp_path / "expe")
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["expe", *words])
        status = main()
        return status, capsys.readouterr().out

    return run


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def shrink(folder: Path) -> Path:
    """Leave three tiles a side and no SimGrid of the campaign of dada; return its file."""
    path = folder / "campaign.yaml"
    text = path.read_text().replace("8192", "1536").replace("=simulated", "=estimated")
    path.write_text(text.replace("simgrid: always", "simgrid: auto"))
    claims = folder / CLAIMS
    claims.write_text(claims.read_text().replace("needs: [simgrid]", "needs: []"))
    return path


def test_the_smallest_version_of_a_folder_from_the_runs_to_the_page(call: Call, tmp_path: Path) -> None:
    folder = tmp_path / "expe" / "dada"
    path = shrink(folder)
    path.write_text(path.read_text().replace("gpus: [2, 3, 5, 6, 7]", "gpus: 2"))
    before = files(folder)
    command = [sys.executable, "-m", "expe", "dada", "--quick", "--jobs", "1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.split("|") for line in done.stdout.splitlines() if line.startswith("| ")][2:]
    claims = read_claims(folder / CLAIMS).claims
    assert [line[1].strip() for line in lines] == [claim.claim for claim in claims]
    assert {line[7].strip() for line in lines} <= {"holds", "does not hold"} | {
        f"holds in {one} of 4, does not hold in {4 - one} of 4" for one in (1, 2, 3)
    }
    # Results go elsewhere.
    assert files(folder) == before
    shown = tmp_path / "reproduced" / "pages" / "dada-quick"
    assert {path.name for path in shown.iterdir()} == {"results.md", "cholesky.svg", "lu.svg", "qr.svg", "alpha.svg"}
    page = (shown / "results.md").read_text()
    assert re.findall(r"^## (.*)", page, re.MULTILINE) == ["claims", "ratios", "cholesky", "lu", "qr", "alpha"]
    # The same runs say nothing of numbers of GPUs that were not tried.
    path.write_text(path.read_text().replace("{gpus: 2}}", "{gpus: [2, 3]}}", 1))
    status, told = call("dada", "--quick", "--no-runs")
    assert [line.split("|")[4:8] for line in told.splitlines() if line.startswith("| ")][2:] == [
        ["  ", "  ", f" {claim.expected} ", " not run: needs cholesky "] for claim in claims
    ]
    path.write_text(path.read_text().replace("{gpus: [2, 3]}}", "{gpus: 2}}", 1))
    # What is there is taken, and the page of the whole campaign is not filled with a quick one.
    status, told = call("dada", "--quick", "--no-runs")
    assert (status, told.splitlines()[:-1]) == (0, done.stdout.splitlines()[:-1])


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["dada", "--quick", "--write"], 2, "the figures of the whole campaigns: not with --quick"),
        (["dada", "--no-runs"], 1, "run the campaign first"),
        (["dad"], 2, "expe/ has no campaign 'dad', known:"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_runs(
    words: list[str],
    status: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["expe", "--out", str(tmp_path), *words])
    assert main() == status
    printed = capsys.readouterr()
    assert said in printed.out + printed.err


def test_what_needs_a_log_that_is_not_there_is_left_out_and_a_failure_is_told(call: Call, tmp_path: Path) -> None:
    path = shrink(tmp_path / "expe" / "dada")
    text = path.read_text()
    path.write_text(text.replace("  qr: {generate: tiles, options: {kernel: qr, ", "  qr: {convert: lost.swf} # {"))
    status, told = call("dada", "--quick")
    assert status == 0
    assert re.search(r"left out: .*there is no log .*lost.swf; option --logs says where logs are", told)
    path.write_text(text.replace("size: 1536", "size: 1535"))
    status, told = call("dada", "--quick")
    assert status == 1
    assert "failed: the campaign of expe/dada did not end well" in told


@pytest.mark.parametrize("name", folders())
def test_each_folder_shows_its_claims_and_just_the_sections_and_pictures_of_its_page(name: str) -> None:
    import importlib

    show = importlib.import_module(f"expe.{name}.show")
    page = (EXPE / name / "results.md").read_text(encoding="utf-8")
    found = dict(re.findall(r"<!-- measured: (\S+) -->\n(.*?)<!-- end -->", page, re.DOTALL))
    assert found.keys() == {"claims", *show.SECTIONS}
    for claim in read_claims(EXPE / name / CLAIMS).claims:
        assert f"| {claim.claim} | {claim.source} |" in found["claims"]
    assert "not run" not in found["claims"]
    assert set(re.findall(r"\]\((\S+\.svg)\)", page)) == set(show.PICTURES)
    assert {path.name for path in (EXPE / name).glob("*.svg")} == set(show.PICTURES)


@pytest.mark.slow
def test_the_quick_version_of_every_folder_runs(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "expe", "--quick", "--out", str(tmp_path / "out")]
    done = subprocess.run(command, cwd=EXPE.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in folders():
        told = done.stdout.partition(f"\n## {name}\n\n")[2].partition("\n## ")[0]
        assert told.startswith(("left out: ", "| claim |"))


def test_a_signal_ends_the_campaign_that_was_started(tmp_path: Path) -> None:
    """The campaign is a stand-in that notes when it is told to end."""
    stand_in = tmp_path / "batdispatch"
    stand_in.write_text(
        f"#!/bin/sh\ntrap 'touch {tmp_path}/ended; exit 143' TERM\ntouch {tmp_path}/began\n"
        "while :; do sleep 0.05; done\n"
    )
    stand_in.chmod(0o755)
    program = (
        "import runpy, sys\n"
        f"sys.executable = '{tmp_path}/python'; sys.argv[1:] = ['dada', '--quick', '--out', '{tmp_path}/out']\n"
        "runpy.run_module('expe', run_name='__main__')"
    )
    with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stderr=subprocess.PIPE, text=True) as running:
        while not (tmp_path / "began").exists() and running.poll() is None:
            time.sleep(0.02)
        running.terminate()
        _, said = running.communicate(timeout=60)
    assert (running.returncode, said) == (143, "expe: terminated\n")
    assert (tmp_path / "ended").exists()
