"""The platforms that come with the project are what their README's commands write."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from batdispatch.cli.main import cli
from batdispatch.inputs.platforms import read_platform

FOLDER = Path(__file__).parents[3] / "platforms"
COMMANDS = dict(re.findall(r"^\| `(\S+\.xml)` \| `([^`]+)` \|", (FOLDER / "README.md").read_text(), re.MULTILINE))


def test_every_file_has_its_command() -> None:
    assert sorted(COMMANDS) == sorted(path.name for path in FOLDER.glob("*.xml"))


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_file_is_what_its_command_writes(name: str, tmp_path: Path) -> None:
    output = tmp_path / name
    arguments = ["platform", "generate", *COMMANDS[name].split(), "-o", str(output)]
    result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    assert output.read_bytes() == (FOLDER / name).read_bytes()


def test_blue_waters_has_two_hosts_on_each_of_its_routers() -> None:
    machine = read_platform(FOLDER / "bluewaters.xml").machine
    assert machine.size == 26_976
    assert len(machine.storage) == 672
    assert machine.coordinates is not None
    assert machine.coordinates.max(axis=0).tolist() == [23, 23, 23]
