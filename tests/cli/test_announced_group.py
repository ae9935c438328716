"""Commands, platforms and formats of logs that another package announces."""

from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from batdispatch.cli.groups import Command
from batdispatch.cli.main import cli
from batdispatch.core.line.registry import announcements
from batdispatch.inputs.workloads.importers import formats, read_log
from batdispatch.inputs.workloads.logs import LogFormat
from batdispatch.inputs.workloads.swf import FORMAT


@click.command(cls=Command, short_help="Says hello.")
def hello() -> None:
    """Say hello."""
    click.echo("hello")


THEIRS = LogFormat(FORMAT.read, endings=(".theirs",))


@pytest.fixture
def announce(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = [
        EntryPoint("hello", f"{__name__}:hello", "batdispatch.generators"),
        EntryPoint("hello", f"{__name__}:hello", "batdispatch.platforms"),
        EntryPoint("wrong", f"{__name__}:THEIRS", "batdispatch.generators"),
        EntryPoint("missing", f"{__name__}:nowhere", "batdispatch.generators"),
        EntryPoint("lublin", f"{__name__}:hello", "batdispatch.generators"),
        EntryPoint("theirs", f"{__name__}:THEIRS", "batdispatch.logs"),
    ]
    points = EntryPoints(
        [*(one for group in announcements().groups for one in announcements().select(group=group)), *theirs]
    )
    monkeypatch.setattr("batdispatch.core.line.registry.announcements", lambda: points)
    formats.cache_clear()
    monkeypatch.setattr("batdispatch.inputs.workloads.importers.formats", formats.__wrapped__)


@pytest.mark.usefixtures("announce")
@pytest.mark.parametrize("group", ["generate", "platform generate"])
def test_a_command_of_another_package_runs_and_is_listed(group: str) -> None:
    assert CliRunner().invoke(cli, [*group.split(), "hello"]).output == "hello\n"
    assert "Says hello." in CliRunner().invoke(cli, [*group.split(), "--help"]).output


@pytest.mark.usefixtures("announce")
def test_what_cannot_be_loaded_is_said_and_hides_no_other_command() -> None:
    text = " ".join(CliRunner().invoke(cli, ["generate", "--help"]).output.split())
    assert "command 'missing' cannot be loaded" in text
    assert "expected a click.Command" in text
    assert "Jobs that state the law of their run time." in text


@pytest.mark.usefixtures("announce")
def test_no_other_package_takes_the_place_of_a_command_of_ours() -> None:
    assert "Rigid jobs" in CliRunner().invoke(cli, ["generate", "--help"]).output
    assert "--load" in CliRunner().invoke(cli, ["generate", "lublin", "--help"]).output


@pytest.mark.usefixtures("announce")
def test_a_log_in_a_format_of_another_package_is_known_by_its_ending(tmp_path: Path) -> None:
    log = tmp_path / "a.theirs"
    log.write_text("1 100 5 60 4 -1 -1 4 90 -1 1 3 2 7 1 -1 -1 -1\n")
    read = read_log(log)
    assert (read.report.format, len(read.workload.jobs)) == ("theirs", 1)
