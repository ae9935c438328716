"""Help: every subcommand's line is whole, and fits a terminal of 80 columns."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from batdispatch.cli.groups import OTHER_OPTIONS, Command, Option, option
from batdispatch.cli.main import cli
from batdispatch.cli.subcommands import LazyGroup


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


COMMANDS = [
    (*path, name)
    for path, group in GROUPS
    for name in group.list_commands(click.Context(group))
    if not isinstance(group.get_command(click.Context(group), name), click.Group)
]


def shown(*words: str, width: int = 80) -> str:
    """Return the help of a command, with all of its options."""
    asked = "--help-all" if getattr(found(words), "common", ()) else "--help"
    done = CliRunner().invoke(cli, [*words, asked], env={"COLUMNS": str(width)}, catch_exceptions=False)
    assert done.exit_code == 0
    return done.output


@pytest.mark.parametrize(
    ("path", "group"), GROUPS, ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_no_line_of_the_help_is_cut(path: tuple[str, ...], group: click.Group) -> None:
    text = shown(*path).partition("Show this message and exit.")[2]
    assert "..." not in text
    for name in group.list_commands(click.Context(group)):
        assert f"\n  {name} " in text


def test_every_command_stands_under_one_heading() -> None:
    assert isinstance(cli, LazyGroup)
    below = [name for names in cli.headings.values() for name in names]
    assert below == list(cli.table)
    text = shown()
    for heading, names in cli.headings.items():
        section = text.partition(f"\n{heading}:\n")[2].partition("\n\n")[0]
        assert [line.split()[0] for line in section.splitlines()] == names


@pytest.mark.parametrize("width", [80, 100, 200])
def test_the_text_of_every_help_fits_its_terminal_and_at_most_a_hundred_columns(width: int) -> None:
    lines = [(words, line) for words in COMMANDS for line in shown(*words, width=width).splitlines()]
    # Examples, which are commands in one line each, are indented by four.
    assert [line for line in lines if len(line[1]) > min(width, 100) and not re.match(r" {4}\S", line[1])] == []


def found(words: tuple[str, ...]) -> click.Command:
    """Return the command that these words call."""
    command: click.Command = cli
    for word in words:
        assert isinstance(command, click.Group)
        below = command.get_command(click.Context(command), word)
        assert below is not None
        command = below
    return command


@pytest.mark.parametrize("name", ["run", "compare", "campaign"])
def test_the_options_of_long_helps_stand_under_headings(name: str) -> None:
    options = [param for param in found((name,)).params if isinstance(param, click.Option)]
    assert len({param.section for param in options if isinstance(param, Option)}) >= 2
    text = shown(name, width=100)
    for param in options:
        assert isinstance(param, Option), param.name
        assert param.hidden or param.section != OTHER_OPTIONS, param.name
        assert f"\n{param.section}:\n" in text


#: The verbs with which a help may begin: it says what the option does, and not what its value is. Add one if it is new.
VERBS = re.compile(
    "(Accept|Add|Answer|Ask|Assume|Check|Choose|Combine|Compare|Compute|Connect|Count|Cut|Draw|Drop|Expect|Factorise|Fill|"
    "Fit|Generate|Give|Hand|Hold|Keep|Lay|Learn|Leave|Let|Listen|Look|Make|Mark|Measure|Name|Number|Pin|Play|Price|Print|"
    "Put|Rank|Read|Run|Say|Seed|Send|Set|Show|Simulate|Solve|Speak|Spread|Start|Stop|Stretch|Submit|Take|Tell|Try|Wait|Work|"
    "Write) "
)


def test_the_help_of_every_option_is_a_sentence_that_says_what_the_option_does() -> None:
    for param in [param for words in COMMANDS for param in found(words).params]:
        if not isinstance(param, click.Option):
            continue
        assert isinstance(param, Option), param.name
        assert param.help is not None
        assert VERBS.match(param.help), param.help
        # These have no object: "Number of jobs", "Load of the machine".
        assert param.help.split()[1] not in ("of", "over"), param.help
        assert param.help.endswith("."), param.help
        # A default that click knows stands in its brackets, any other one in a sentence.
        assert "Default:" not in param.help, param.help
        assert "[default" not in param.help, param.help


def test_shared_options_are_the_same_everywhere() -> None:
    texts: dict[str, set[str]] = {}
    shared = ("clock", "simgrid", "master_host", "external_events", "record")
    for name in ("run", "compare", "engine"):
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        for param in command.params:
            if isinstance(param, Option) and param.name in shared:
                texts.setdefault(param.name, set()).add(param.help or "")
    assert {name: len(found) for name, found in texts.items()} == dict.fromkeys(texts, 1)
    assert len(texts) == 5


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (click.IntRange(1), "at least 1"),
        (click.IntRange(1, 10_000), "at least 1 and at most 10,000"),
        (click.IntRange(0, 2**63 - 1), "at least 0"),
        (click.FloatRange(0, min_open=True), "more than 0"),
        (click.FloatRange(max=1, max_open=True), "less than 1"),
    ],
)
def test_a_range_is_said_in_words(kind: click.IntRange | click.FloatRange, words: str) -> None:
    @click.command(cls=Command)
    @option("--x", type=kind, help="Take x.")
    def command(x: float) -> None:
        pass

    text = CliRunner().invoke(command, ["--help"]).output
    assert f"Take x.  [{words}]" in text


def test_the_formats_of_logs_are_those_that_are_read() -> None:
    from batdispatch.cli.convert import command
    from batdispatch.inputs.workloads import importers

    (kind,) = (param.type for param in command.params if param.name == "kind")
    assert isinstance(kind, click.Choice)
    assert set(importers.formats()) == set(kind.choices)


@pytest.mark.parametrize("group", [group for _, group in GROUPS if isinstance(group, LazyGroup)])
def test_a_summary_is_a_sentence_of_one_line(group: LazyGroup) -> None:
    longest = max(map(len, group.table))
    for _, summary in group.table.values():
        assert summary.endswith(".")
        assert len(summary) + longest + 4 <= 78


def test_help_imports_no_subcommand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LazyGroup, "get_command", lambda *_: pytest.fail("a subcommand was imported"))
    assert CliRunner().invoke(cli, ["--help"]).exit_code == 0


def test_where_results_go_is_said_with_o() -> None:
    parameters = [(words, parameter) for words in COMMANDS for parameter in found(words).params]
    assert [words for words, parameter in parameters if "--output" in parameter.opts] == []
    where = [(words, parameter) for words, parameter in parameters if "--out" in parameter.opts]
    assert len(where) > 20
    assert [words for words, parameter in where if "-o" not in parameter.opts] == []


@pytest.mark.parametrize("name", ["-o", "--out", "--output"])
def test_results_go_where_either_name_says(tmp_path: Path, name: str) -> None:
    place = tmp_path / "flat.xml"
    done = CliRunner().invoke(cli, ["platform", "generate", "flat", "--hosts", "2", name, str(place)])
    assert (done.exit_code, place.exists()) == (0, True)


LONG = [words for words in COMMANDS if getattr(found(words), "common", ())]


@pytest.mark.parametrize("words", LONG, ids=" ".join)
def test_a_long_help_begins_with_what_people_use_first(words: tuple[str, ...]) -> None:
    command = found(words)
    assert isinstance(command, Command)
    options = [param for param in command.params if isinstance(param, click.Option) and not param.hidden]
    assert command.common <= {param.name for param in options}
    short = CliRunner().invoke(cli, [*words, "--help"]).output
    there = {
        param.name
        for param in options
        if re.search(rf"^  (-\w, )?{max(param.opts, key=len)}( |$)", short, re.MULTILINE)
    }
    assert there == command.common
    assert f"{' '.join(('cli', *words))} --help-all shows {len(options) - len(there)} more options." in short
    every = shown(*words)
    assert all(re.search(rf"^  (-\w, )?{max(param.opts, key=len)}( |$)", every, re.MULTILINE) for param in options)


def test_the_longest_helps_are_among_them() -> None:
    assert {"compare", "run", "convert", "whatif", "eta"} <= {words[0] for words in LONG}


def test_the_help_of_compare_has_the_ten_options_that_people_use_first() -> None:
    assert len(getattr(found(("compare",)), "common", ())) == 10
