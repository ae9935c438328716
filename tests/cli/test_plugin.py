"""The package that `plugin` writes runs, conforms, and is found by its name once it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from batdispatch.cli.main import cli
from batdispatch.cli.plugin import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_its_own_tests_pass_where_it_is_installed(kind: str, tmp_path: Path) -> None:
    folder, site = tmp_path / "mine", tmp_path / "site"
    done = CliRunner().invoke(cli, ["plugin", "far-apart", "--kind", kind, "-o", str(folder)])
    assert done.exit_code == 0, done.output
    install = ["pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--target", str(site), str(folder)]
    subprocess.run([sys.executable, "-m", *install], check=True, capture_output=True)
    environment = os.environ | {"PYTHONPATH": str(site)}
    tests = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", str(folder)]
    ran = subprocess.run(tests, capture_output=True, text=True, check=False, env=environment, cwd=folder)
    assert ran.returncode == 0, ran.stdout
    listed = subprocess.run(
        [sys.executable, "-c", "from batdispatch.cli.main import main; main()", "list", f"{kind}s"],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert "far-apart" in listed.stdout


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["easy"], "'easy' is taken"),
        (["Mine"], "is no name in lower case with hyphens"),
        (["../x"], "is no name in lower case with hyphens"),
        (["mine", "-o", "there"], "there is there already"),
        (["mine", "--kind", "metric"], "is not one of"),
    ],
)
def test_a_wrong_argument_writes_nothing(
    arguments: list[str], part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there").mkdir()
    done = CliRunner().invoke(cli, ["plugin", *arguments])
    assert done.exit_code != 0
    assert part in done.output + str(done.exception)
    assert [str(path) for path in Path().rglob("*")] == ["there"]
