"""The package that `new` writes passes its tests, ruff and mypy, and is found by its name once it is installed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from batdispatch.cli.main import cli
from batdispatch.cli.new import KINDS
from batdispatch.core.errors import InputError
from batdispatch.inputs import files

MAIN = "from batdispatch.cli.main import main; main()"


def python(*words: str, folder: Path, site: Path) -> str:
    """Run Python in a folder with what is installed in another one, and return what it prints."""
    done = subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(site)},
        cwd=folder,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def written(folder: Path, kind: str, name: str) -> Path:
    done = CliRunner().invoke(cli, ["new", kind, name, "-o", str(folder)])
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[-1] == str(folder)
    return folder


# Installing a package and its twenty tests take some seconds each.
@pytest.mark.parametrize(
    "kind", [kind if kind == "dispatcher" else pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS]
)
def test_its_own_tests_pass_where_it_is_installed(kind: str, tmp_path: Path) -> None:
    folder, site = written(tmp_path / "mine", kind, "quite-my-own"), tmp_path / "site"
    install = ["pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--target", str(site), str(folder)]
    subprocess.run([sys.executable, "-m", *install], check=True, capture_output=True)
    told = python("-m", "pytest", "-x", "-p", "no:cacheprovider", str(folder), folder=folder, site=site)
    assert "passed" in told
    group = KINDS[kind].group
    assert "quite-my-own" in python("-c", MAIN, "list", group, folder=tmp_path, site=site)
    card = python("-c", MAIN, "explain", "quite-my-own", folder=tmp_path, site=site)
    assert "Options (" in card
    assert ("\nComplexity\n" in card) == (kind == "dispatcher")
    assert list(site.glob("*/py.typed"))


def test_all_are_formatted_and_have_no_fault_that_ruff_finds(tmp_path: Path) -> None:
    for name in ("far-apart", "x"):
        for kind in KINDS:
            # Each folder has settings of its own.
            written(tmp_path / f"{kind}-{name}", kind, name)
    for words in (["check"], ["format", "--check", "--diff"]):
        python("-m", "ruff", *words, "--no-cache", ".", folder=tmp_path, site=tmp_path)


def test_its_types_are_right(tmp_path: Path) -> None:
    # All in one go: reading the package's own types takes most of the time. What an author imports has these in the
    # rooms that decide; `import batdispatch` names classes of all rooms.
    folders = [written(tmp_path / kind, kind, "quite-my-own") for kind in KINDS]
    modules = [str(path.parent) for folder in folders for path in folder.glob("*/__init__.py")]
    settings = tmp_path / "mypy.ini"
    settings.write_text(
        "[mypy]\nstrict = True\n"
        "[mypy-batdispatch.api.*,batdispatch.inputs.*,batdispatch.runs.*]\nfollow_imports = skip\n"
    )
    words = ["-m", "mypy", "--config-file", str(settings), "--cache-dir", str(tmp_path / "cache"), *modules]
    assert f"no issues found in {len(KINDS)} source files" in python(*words, folder=tmp_path, site=tmp_path)


@pytest.mark.parametrize(
    ("kind", "name"), [("dispatcher", "dispatcher"), ("ordering", "job"), ("request-sequence", "law")]
)
def test_a_class_is_not_called_like_what_it_imports(kind: str, name: str, tmp_path: Path) -> None:
    folder = written(tmp_path / "mine", kind, name)
    (module,) = (path.parent.name for path in folder.glob("*/__init__.py"))
    python("-c", f"import {module}", folder=folder, site=folder)


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["dispatcher", "easy"], "'easy' is taken"),
        (["dispatcher", "Mine"], "is no name in lower case with hyphens"),
        (["dispatcher", "../x"], "is no name in lower case with hyphens"),
        (["ordering", "mine", "-o", "there"], "there is there already"),
        (["metric", "mine"], "No such command 'metric'"),
        (["dispatchr", "mine"], "did you mean 'dispatcher'?"),
        (["dispatcher"], "Missing argument 'NAME'"),
    ],
)
def test_a_wrong_argument_writes_nothing(
    arguments: list[str], part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there").mkdir()
    done = CliRunner().invoke(cli, ["new", *arguments])
    assert done.exit_code != 0
    assert part in done.output + str(done.exception)
    assert [str(path) for path in Path().rglob("*")] == ["there"]


def test_a_name_that_no_file_can_have_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="NAME: has 300 letters, expected at most 100"):
        CliRunner().invoke(cli, ["new", "dispatcher", "x" * 300], catch_exceptions=False)
    assert list(tmp_path.iterdir()) == []
    written(tmp_path / "longest", "dispatcher", "x" * 100)


def test_a_package_that_cannot_be_written_whole_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = files.write_whole

    def fail(path: Path, data: bytes) -> None:
        if path.name == "py.typed":
            raise InputError("cannot be written: No space left on device", source=str(path))
        write(path, data)

    monkeypatch.setattr(files, "write_whole", fail)
    with pytest.raises(InputError, match="No space left"):
        CliRunner().invoke(cli, ["new", "dispatcher", "my-own", "-o", str(tmp_path / "mine")], catch_exceptions=False)
    assert list(tmp_path.iterdir()) == []
