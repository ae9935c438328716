"""--json: every command whose answer a program may read prints it as JSON, and nothing else on the standard output."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from batdispatch.cli.main import cli

pytestmark = pytest.mark.usefixtures("worker_threads")
ROOT = Path(__file__).parents[2]
INPUTS = f"--platform {ROOT}/platforms/flat8.xml --workload {ROOT}/tests/conformance/recordings/workloads/delay.json"
#: They answer a simulator, a scheduler or a person, and nothing that they print is an answer.
WITHOUT = {"serve"}
#: Command line -> a key of its answer that says more than where it is.
WRITERS = {
    "platform generate flat --hosts 8 -o p.xml": "compute_hosts",
    "platform generate torus --dims 2,2,2 -o p.xml": "network",
    "platform queues flat8.xml queues.toml -o p.xml": "classes",
    "export perfetto run -o trace.json": "slices",
    "export spreadsheet run -o jobs.csv": "jobs",
    "export evalys run -o evalys": "files",
    "instance save run -o instances.jsonl": "instances",
    "new dispatcher my-own": "trial",
    "new placement my-place -o here": "files",
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("flat8.xml").write_bytes((ROOT / "platforms" / "flat8.xml").read_bytes())
    Path("queues.toml").write_text("[partitions.all]\nhosts = ['n[0-7]']\n")


def leaves(command: click.Command, path: tuple[str, ...] = ()) -> list[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        return [(" ".join(path), command)]
    context = click.Context(command)
    below = [(name, command.get_command(context, name)) for name in command.list_commands(context)]
    return [leaf for name, each in below if each is not None for leaf in leaves(each, (*path, name))]


def test_every_command_has_json() -> None:
    without = {
        name for name, command in leaves(cli) if not any("--json" in parameter.opts for parameter in command.params)
    }
    assert without == WITHOUT


def invoke(words: str) -> str:
    done = CliRunner().invoke(cli, words.split(), standalone_mode=False)
    assert done.exception is None, done.exception
    return done.stdout


@pytest.mark.parametrize("line", WRITERS)
def test_what_is_written_is_told_as_json_with_its_path(line: str) -> None:
    if " run" in line:
        invoke(f"run {INPUTS} --dispatcher easy --out run")
    told = json.loads(invoke(f"{line} --json"))
    assert Path(told["output"]).exists()
    assert told[WRITERS[line]] is not None
    if " -o " in line:
        assert told["output"] == line.partition(" -o ")[2]


def test_without_json_the_last_line_is_the_path() -> None:
    assert invoke("platform generate flat --hosts 8 -o p.xml") == "p.xml\n"
    invoke(f"run {INPUTS} --dispatcher easy --out run")
    for line in ("export spreadsheet run -o jobs.csv", "instance save run -o i.jsonl", "new ordering my-order -o here"):
        assert invoke(line).splitlines()[-1] == line.partition(" -o ")[2]


def test_a_platform_on_the_standard_output_is_not_mixed_with_json() -> None:
    done = CliRunner().invoke(cli, ["platform", "generate", "flat", "--hosts", "8", "-o", "-", "--json"])
    assert done.stdout == ""
    assert "option --json" in str(done.exception)
