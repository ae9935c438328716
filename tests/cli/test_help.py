"""Help: every subcommand's line is whole, and fits a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from batdispatch.cli.groups import LazyGroup
from batdispatch.cli.main import cli


def groups(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Group]]:
    """Yield all groups with the words that lead to them."""
    if isinstance(command, click.Group):
        yield path, command
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from groups(below, (*path, name))


GROUPS = list(groups(cli))


@pytest.mark.parametrize(
    ("path", "group"), GROUPS, ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_no_line_of_the_help_is_cut(path: tuple[str, ...], group: click.Group) -> None:
    text = CliRunner().invoke(cli, [*path, "--help"], env={"COLUMNS": "80"}).output
    assert "..." not in text.partition("\nCommands:\n")[2]
    for name in group.list_commands(click.Context(group)):
        assert f"\n  {name} " in text


@pytest.mark.parametrize("group", [group for _, group in GROUPS if isinstance(group, LazyGroup)])
def test_a_summary_is_a_sentence_of_one_line(group: LazyGroup) -> None:
    longest = max(map(len, group.table))
    for _, summary in group.table.values():
        assert summary.endswith(".")
        assert len(summary) + longest + 4 <= 78


def test_help_imports_no_subcommand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LazyGroup, "get_command", lambda *_: pytest.fail("a subcommand was imported"))
    assert CliRunner().invoke(cli, ["--help"]).exit_code == 0
