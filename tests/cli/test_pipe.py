"""Accounts and queues that are piped into a command."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from batdispatch.cli import pipe
from batdispatch.cli.main import cli
from batdispatch.core.errors import InputError

ACCOUNTS = Path(__file__).parents[1] / "conformance" / "recordings" / "slurm-accounts" / "busy4"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where what is piped is kept for the time of a command."""
    place = tmp_path / "kept"

    def made(prefix: str) -> str:
        place.mkdir()
        return str(place)

    monkeypatch.setattr(pipe.tempfile, "mkdtemp", made)
    return place


def call(*words: object, given: bytes = b"") -> Result:
    return CliRunner().invoke(cli, list(map(str, words)), input=given)


def test_accounts_are_piped_and_nothing_of_them_stays(folder: Path) -> None:
    text = (ACCOUNTS / "sacct.txt").read_bytes()
    from_pipe = call("workload", "show", "-", "--json", given=text)
    assert from_pipe.exit_code == 0, from_pipe.output
    assert from_pipe.stdout == call("workload", "show", ACCOUNTS / "sacct.txt", "--json").stdout
    assert not folder.exists()


def test_a_what_if_of_piped_accounts_is_that_of_the_file(tmp_path: Path, folder: Path) -> None:
    words = ("--slurm", ACCOUNTS / "site", "--change", "hosts+2", "--json")
    text = (ACCOUNTS / "sacct.txt").read_bytes()
    from_pipe = call("whatif", "-", *words, "--out", tmp_path / "a", given=text)
    assert from_pipe.exit_code == 0, from_pipe.output
    file = call("whatif", ACCOUNTS / "sacct.txt", *words, "--out", tmp_path / "b")
    same = [
        one.stdout.replace(f'"{name}', '"').split('"changes"')[1]
        for one, name in ((from_pipe, "piped"), (file, "sacct"))
    ]
    assert same[0] == same[1]
    assert not folder.exists()


@pytest.mark.parametrize("text", [b"", b"no accounts\n"])
def test_what_is_wrong_in_the_pipe_is_one_line_and_nothing_stays(folder: Path, text: bytes) -> None:
    ran = call("workload", "show", "-", given=text)
    assert isinstance(ran.exception, InputError)
    assert "expected" in str(ran.exception)
    assert not folder.exists()


def test_one_pipe_holds_one_input() -> None:
    ran = call("eta", "--accounts", "-", "--queue", "-", given=b"x")
    assert isinstance(ran.exception, InputError)
    assert "stands twice, and there is one pipe" in str(ran.exception)


def test_a_terminal_is_no_pipe(folder: Path) -> None:
    class Terminal:
        def isatty(self) -> bool:
            return True

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipe.sys, "stdin", Terminal())
        with pytest.raises(InputError, match="nothing is piped"):
            cli.main(["workload", "show", "-"], standalone_mode=False)
    assert not folder.exists()
