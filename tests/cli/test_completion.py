"""Tab completion: names and options of dispatchers and parts at every depth of the grammar."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from batdispatch.cli.main import cli

#: What is offered for a word that was begun after others; lines, the words that Bash makes of them, and what it puts in
#: the place of the last.
DATA = json.loads((Path(__file__).parents[1] / "data" / "completions.json").read_bytes())


@pytest.mark.parametrize(("words", "begun", "offered"), DATA["offered"])
def test_the_shell_offers(words: list[str], begun: str, offered: list[str]) -> None:
    complete = ShellComplete(cli, {}, "batdispatch", "_BATDISPATCH_COMPLETE")
    assert [item.value for item in complete.get_completions(words, begun)] == offered


def test_the_jobs_of_a_run_are_offered(tmp_path: Path) -> None:
    rows = "".join(f"{name},w0,d\n" for name in ("7", "17", "170", "2"))
    (tmp_path / "jobs.csv").write_text(f"job_id,workload_name,profile\n{rows}")
    complete = ShellComplete(cli, {}, "batdispatch", "_BATDISPATCH_COMPLETE")

    def offered(begun: str, folder: Path = tmp_path) -> list[str]:
        return [item.value for item in complete.get_completions(["explain-wait", str(folder)], begun)]

    assert offered("17") == ["17", "170"]
    assert offered("") == ["17", "170", "2", "7"]
    assert offered("w0!1") == ["w0!17", "w0!170"]
    assert offered("", tmp_path / "absent") == []


@pytest.fixture
def program(tmp_path: Path) -> dict[str, str]:
    """An environment in which `batdispatch` is on PATH."""
    script = tmp_path / "bin" / "batdispatch"
    script.parent.mkdir()
    script.write_text(f"#!{sys.executable}\nfrom batdispatch.cli.main import main\nmain()\n")
    script.chmod(0o755)
    return os.environ | {"PATH": f"{script.parent}:{os.environ['PATH']}"}


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@pytest.mark.parametrize(
    ("line", "words", "offered"), DATA["lines"], ids=lambda value: value if isinstance(value, str) else ""
)
def test_bash_completes_its_word(
    line: str, words: list[str], offered: list[str] | None, program: dict[str, str]
) -> None:
    quoted = " ".join(f"'{word}'" for word in words)
    script = f"""
        eval "$(_BATDISPATCH_COMPLETE=bash_source batdispatch)"
        COMP_LINE='{line}' COMP_POINT={len(line)} COMP_WORDS=({quoted}) COMP_CWORD={len(words) - 1}
        _batdispatch_completion batdispatch
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "--norc", "-c", script], env=program, capture_output=True, text=True, check=True)
    found = done.stdout.split()
    assert found == offered if offered is not None else {"ordering=", "placement="} <= set(found)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_are_told_whole_words(shell: str, program: dict[str, str]) -> None:
    line = "batdispatch run --dispatcher easy[ordering=wf"
    words = {
        "zsh": {"COMP_WORDS": line, "COMP_CWORD": "3"},
        "fish": {"COMP_WORDS": line, "COMP_CWORD": line.rsplit(maxsplit=1)[-1]},
    }
    environment = program | words[shell] | {"_BATDISPATCH_COMPLETE": f"{shell}_complete"}
    done = subprocess.run(["batdispatch"], env=environment, capture_output=True, text=True, check=False)
    assert "easy[ordering=wfp3" in done.stdout


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_functions_of_other_shells_can_be_read_by_them(shell: str, program: dict[str, str], tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell}")
    told = subprocess.run(
        ["batdispatch"], env=program | {"_BATDISPATCH_COMPLETE": f"{shell}_source"}, capture_output=True, check=True
    )
    (tmp_path / "functions").write_bytes(told.stdout)
    subprocess.run([shell, "-n", str(tmp_path / "functions")], check=True)
