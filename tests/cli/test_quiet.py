"""--quiet: only errors and the path of the result; and no control character where there is no terminal."""

from __future__ import annotations

import inspect
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from batdispatch.cli.main import cli
from batdispatch.cli.progress import ProgressDisplay

pytestmark = pytest.mark.usefixtures("worker_threads")
ROOT = Path(__file__).parents[2]
FLAT = f"--platform {ROOT}/platforms/flat8.xml --workload {ROOT}/tests/conformance/recordings/workloads/delay.json"
LOG = "; MaxNodes: 4\n; MaxProcs: 4\n" + "".join(
    f"{n} {60 * n} {n % 5} {30 + 7 * n} {1 + n % 4} -1 -1 {1 + n % 4} 300 -1 1 {n % 3} 1 1 1 -1 -1 -1\n"
    for n in range(1, 41)
)
GRID = f"""
name: grid
platforms:
  flat: {ROOT}/platforms/flat8.xml
workloads:
  delay: {ROOT}/tests/conformance/recordings/workloads/delay.json
dispatchers:
  EASY: easy
"""
COMMANDS = [
    f"run {FLAT} --dispatcher easy --out out",
    f"compare {FLAT} --dispatchers fcfs,easy --out out --no-report",
    "compare log.swf --dispatchers fcfs,easy --out out --replicates 2 --jobs 1",
    "convert log.swf -o w.json",
    "generate lublin -o w.json --seed 1 --jobs 20 --hosts 128",
    "generate slice -o w.json --from log.swf --number 1 --jobs 10",
    "workload show log.swf --html w.html",
    "workload fidelity log.swf --out out --dispatchers easy --jobs 1",
    "campaign campaign.yaml --out out --jobs 1",
]
WITH_QUIET = {
    "export evalys",
    *(" ".join(words.split()[: 2 if words.startswith(("generate", "workload")) else 1]) for words in COMMANDS),
    "demo",
    "eta",
    "whatif",
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("log.swf").write_text(LOG)
    Path("campaign.yaml").write_text(GRID)


def ran(words: str, **environment: str) -> Result:
    return CliRunner().invoke(cli, words.split(), catch_exceptions=False, env=environment)


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words.split()[:2]))
def test_a_quiet_command_prints_the_path_and_no_other_does_without_more(words: str) -> None:
    loud = ran(words)
    assert loud.exit_code == 0, loud.output
    assert len(loud.output.splitlines()) > 1 or words.startswith("campaign")
    assert [c for c in loud.output if unicodedata.category(c) == "Cc" and c != "\n"] == []
    quiet = ran(f"{words} --quiet")
    assert quiet.exit_code == 0, quiet.output
    assert quiet.stderr == ""
    assert quiet.stdout.splitlines() == loud.stdout.splitlines()[-1:]
    assert Path(quiet.stdout.strip()).exists()


def test_no_color_and_a_dumb_terminal_change_nothing_in_a_pipe() -> None:
    words = f"compare {FLAT} --dispatchers fcfs,easy --out out --no-report"
    plain = ran(words).stdout
    timed = re.compile(r"99 % decision.*")
    for environment in ({"NO_COLOR": "1"}, {"FORCE_COLOR": "0"}, {"TERM": "dumb"}):
        assert timed.sub("", ran(words, **environment).stdout) == timed.sub("", plain)


def test_errors_are_told_all_the_same() -> None:
    body = "    def decide(self, ledger):\n        1 / 0\n"
    Path("mine.py").write_text(f"from batdispatch import Dispatcher\n\n\nclass Mine(Dispatcher):\n{body}")
    words = f"compare {FLAT} --out out --no-report --dispatchers fcfs,mine.py:Mine -q"
    done = CliRunner().invoke(cli, words.split())
    assert done.stdout.splitlines() == ["out"]
    assert "failed" in done.stderr
    assert done.exception is not None


def commands(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            below = command.get_command(click.Context(command), name)
            assert below is not None
            yield from commands(below, (*path, name))
    else:
        yield " ".join(path), command


def test_who_shows_progress_can_be_quiet() -> None:
    having = {path for path, command in commands(cli) if any("--quiet" in param.opts for param in command.params)}
    generating = {path for path in having if path.startswith("generate ")}
    assert having - generating == {path for path in WITH_QUIET if not path.startswith("generate ")}
    assert len(generating) == len([path for path, _ in commands(cli) if path.startswith("generate ")])
    for path, command in commands(cli):
        source = inspect.getsource(inspect.unwrap(command.callback)) if command.callback else ""
        # What check prints is its answer, of which nothing can be left out.
        assert "ProgressDisplay(" not in source or path in having | {"check"}, path


def test_quiet_progress_draws_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    @click.command()
    @click.pass_context
    def command(context: click.Context) -> None:
        context.meta["batdispatch.quiet"] = True
        with ProgressDisplay(every=0.01) as following:
            following.tell("easy", 3, 12)
            following._left.wait(0.1)
        assert "_bars" not in vars(following)

    CliRunner().invoke(command, catch_exceptions=False)
    assert capsys.readouterr().err == ""
