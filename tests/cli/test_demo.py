"""The demonstration needs the installed package and nothing else."""

import os
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

import wheels
from batdispatch.cli.demo import DISPATCHERS
from batdispatch.cli.main import cli

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_it_runs_from_the_wheel_alone_in_an_empty_folder(tmp_path: Path) -> None:
    bin_ = wheels.install_wheel(wheels.build_wheel(tmp_path), tmp_path / "env")
    empty = tmp_path / "empty"
    empty.mkdir()
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    where = [bin_ / "python", "-c", "import batdispatch; print(batdispatch.__file__)"]
    found = subprocess.run(where, capture_output=True, text=True, check=True, cwd=empty, env=environment)
    assert found.stdout.startswith(str(tmp_path / "env"))
    done = subprocess.run(
        [bin_ / "batdispatch", "demo"], capture_output=True, text=True, check=False, cwd=empty, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "demo-report/index.html"
    assert (empty / "demo-report/index.html").stat().st_size > 100_000
    for name in DISPATCHERS.split(","):
        assert (empty / "demo-results" / name / "jobs.csv").is_file()


def test_its_inputs_are_those_of_the_checkout_and_its_command_repeats_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, ["demo", "--out", "there"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    for kept, known in (("flat64.xml", "platforms/flat64.xml"), ("demo64.json", "workloads/demo64.json")):
        assert Path("there/input", kept).read_bytes() == (ROOT / known).read_bytes()
    (told,) = [line for line in done.stderr.splitlines() if "batdispatch compare" in line]
    words = [*told.removeprefix("batdispatch: batdispatch ").split(), "--no-report"]
    again = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert again.exit_code == 0, again.output
    assert "kept fcfs, easy, conservative" in again.stderr
