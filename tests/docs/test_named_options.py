"""Each option that the manual names in a sentence with a command is an option of that command."""

import re
from collections.abc import Collection
from pathlib import Path

import click
import pytest

from batdispatch.cli.main import cli

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
#: Options of other programs that sentences name beside our commands.
OTHERS = {"--trace-pstate-changes", "--disable-schedule-tracing", "--acknowledge-dynamic-jobs", "--enable-dynamic-jobs"}
#: Options of a command that the sentence before names, by page.
BEFORE = {
    "batsim.md": {"--no-record"},
    "cli.md": {"--baseline"},
    "experiments.md": {"--logs", "--quick", "--decision-clock"},
    "power.md": {"--speed", "--compiled", "--energy"},
}


def options_of(command: click.Command, name: str = "") -> dict[str, set[str]]:
    """Return the options of a command and of those below it, by name; a group has those of all below it."""
    context = click.Context(command)
    found = {name: {flag for param in command.get_params(context) for flag in (*param.opts, *param.secondary_opts)}}
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            below = command.get_command(context, each)
            assert below is not None
            inner = options_of(below, f"{name} {each}".strip())
            found |= inner
            found[name] |= set().union(*inner.values())
    return found


OPTIONS = options_of(cli)


def wrong_in(text: str, before: Collection[str] = ()) -> list[str]:
    """Return the sentences that name an option of none of their commands, nor of those `before`."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    wrong = []
    for sentence in re.split(r"(?<=[.!?:;|])\s|\n\n", prose):
        spans = [span for span in re.findall(r"`([^`]+)`", sentence) if not span.startswith("python ")]
        words = [span.removeprefix("batdispatch ").split() for span in spans]
        named = [name for each in words for name in (" ".join(each[:2]), each[0] if each else "") if name in OPTIONS]
        known = set().union(*(OPTIONS[name] for name in named if name))
        asked = {word.partition("=")[0] for each in words for word in each if re.match(r"--[a-z]", word)}
        if any(named) and (lost := asked - known - OTHERS - set(before)):
            wrong.append(f"{sorted(lost)}: {' '.join(sentence.split())}")
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_options_belong_to_the_commands_beside_them(page: Path) -> None:
    assert wrong_in(page.read_text(), BEFORE.get(page.name, ())) == []


def test_an_option_of_another_command_is_found() -> None:
    assert wrong_in("If it is silent for `--timeout` seconds, `compare` gives up.")
    assert wrong_in("`run --role HOST:ROLE` gives a role.")
    assert not wrong_in("`serve` has `--role`. `compare` has `--baseline NAME`.")
