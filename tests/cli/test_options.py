"""Options are the fields of structs: help, type, bounds and default are said there, once, and reach the command."""

from __future__ import annotations

import importlib
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import click
import msgspec
import pytest
from click.testing import CliRunner, Result
from msgspec import Meta

import batdispatch
import batdispatch_papers
from batdispatch.abilities.campaigns.campaign.file import SETTINGS
from batdispatch.cli.groups import Command, Option
from batdispatch.cli.main import cli
from batdispatch.cli.options import options, refuse
from batdispatch.core.errors import InputError
from batdispatch.core.line.settings import Form, default_text, pairs_of, roles_of, settings_of, texts_of
from batdispatch.runs.spec import RunSpec

#: Modules of what people state, which help imports.
STATED = sorted(
    ".".join(path.relative_to(Path(package.__file__).parents[1]).with_suffix("").parts)
    for package in (batdispatch, batdispatch_papers)
    for path in Path(package.__file__).parent.rglob("*.py")
    if "line.settings import" in path.read_text() and "/cli/" not in str(path) and "Form" in path.read_text()
)


class Base(msgspec.Struct, frozen=True, kw_only=True):
    """What many state.

    hosts: Make this many hosts.
    """

    hosts: Annotated[Annotated[int, Meta(ge=1, le=8)] | None, Form("N")] = None


class Stated(Base, frozen=True, kw_only=True):
    """What one states.

    name: Take this name.
    way, other: Go this way,
        or not.
    pairs: Set a key.
    wait: Wait so long.
    deep: Look deep.
    flat: Look flat.
    """

    name: Annotated[str, Form("NAME", "Results")]
    way: Literal["left", "right"] = "left"
    other: Literal["left", "right"] | None = None
    pairs: Annotated[dict[str, str], Form("KEY=VALUE", name="--set", gather=pairs_of)] = {}
    wait: Annotated[Annotated[float, Meta(gt=0)], Form("SECONDS")] = 2.5
    deep: bool = False
    flat: bool = True


def run(*words: str, **how: Any) -> tuple[Result, list[Stated]]:
    """Run a command with the options of `Stated`, and return what its function was given."""
    given: list[Stated] = []

    @click.command(cls=Command)
    @options(Stated, **how)
    def command(stated: Stated) -> None:
        given.append(stated)

    return CliRunner().invoke(command, list(words), env={"COLUMNS": "200"}), given


def test_a_command_is_called_with_the_struct() -> None:
    words = ["--name", "n", "--way", "right", "--set", "a=1", "--set", "b=2", "--wait", "3", "--deep", "--no-flat"]
    result, given = run(*words, "--hosts", "8")
    assert result.exit_code == 0, result.output
    pairs = {"a": "1", "b": "2"}
    assert given == [Stated(name="n", way="right", pairs=pairs, wait=3.0, deep=True, flat=False, hosts=8)]


def test_what_is_not_given_is_the_default_of_the_field() -> None:
    assert run("--name", "n")[1] == [Stated(name="n")]


def test_help_says_text_type_bounds_and_default_of_each_field() -> None:
    text = run("--help")[0].output
    assert "--hosts N " in text
    assert "Make this many hosts.  [at least 1 and at most 8]" in text
    assert "Go this way, or not.  [default: left]" in text
    assert "--other [left|right]  Go this way, or not.\n" in text
    assert "--set KEY=VALUE " in text
    assert "Wait so long.  [default: 2.5; more than 0]" in text
    assert "--deep " in text
    assert "--flat / --no-flat " in text
    assert "Look flat.  [default: flat]" in text
    assert "Results:\n  --name NAME  Take this name.  [required]" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "Missing option '--name'"),
        (("--name", "n", "--hosts", "9"), "9 is not in the range 1<=x<=8"),
        (("--name", "n", "--wait", "nan"), "'nan' is no number of seconds"),
        (("--name", "n", "--way", "rigth"), "Did you mean 'right'?"),
    ],
)
def test_what_the_type_forbids_is_refused(words: tuple[str, ...], message: str) -> None:
    result, given = run(*words)
    assert result.exit_code == 2
    assert message in result.output
    assert given == []


def test_what_can_be_given_may_be_known_to_a_function_alone() -> None:
    class Named(msgspec.Struct):
        kind: Annotated[str | None, Form(choices=lambda: ["table", "swf"])] = None

    @click.command(cls=Command)
    @options(Named)
    def command(named: Named) -> None:
        click.echo(named.kind)

    assert "[table|swf]" in CliRunner().invoke(command, ["--help"]).output
    assert CliRunner().invoke(command, ["--kind", "swf"]).output == "swf\n"
    assert "Did you mean 'swf'?" in CliRunner().invoke(command, ["--kind", "swv"]).output


def test_a_command_may_leave_options_out_and_say_something_else_of_others() -> None:
    result, given = run(leave=("pairs",), needed=False, texts={"way": "Go."})
    assert result.exit_code == 0
    assert given == [Stated(name="")]
    text = run("--help", only=("way", "name"), first="name", texts={"way": "Go."})[0].output
    assert "--set" not in text
    assert text.index("--name") > 0
    assert "Go.  [default: left]" in text


def test_options_that_are_for_something_else_are_refused_only_if_they_are_given() -> None:
    @click.command(cls=Command)
    @options(Stated, needed=False)
    def command(stated: Stated) -> None:
        refuse("is for others", ("way", "pairs"))

    assert CliRunner().invoke(command, []).exit_code == 0
    with pytest.raises(InputError, match="option --set: is for others"):
        CliRunner().invoke(command, ["--set", "a=1"], catch_exceptions=False)


@pytest.mark.parametrize("texts", [["n0"], [":storage"], ["n0:storage", "n0:compute_node"]])
def test_roles_are_said_of_each_host_once(texts: list[str]) -> None:
    with pytest.raises(InputError, match=r"option --role: .* is not HOST:ROLE, each host once"):
        roles_of(texts)


def structs() -> Iterator[type[msgspec.Struct]]:
    for name in STATED:
        for value in vars(importlib.import_module(name)).values():
            if isinstance(value, type) and issubclass(value, msgspec.Struct) and value.__module__ == name:
                yield value


def test_every_field_that_people_state_has_one_text() -> None:
    """The docstring of a struct says each of its fields, and nothing that is no field."""
    stated = [one for one in structs() if one.__struct_fields__ and one not in (Form,)]
    assert len(stated) > 20
    for struct in stated:
        if any(isinstance(mark, Form) for one in settings_of(struct) for mark in typing.get_args(one.kind)[1:]):
            assert set(struct.__struct_fields__) <= set(texts_of(struct)), struct


def test_an_option_of_run_is_a_field_of_the_spec_and_a_setting_of_campaigns() -> None:
    run_command = cli.get_command(click.Context(cli), "run")
    assert run_command is not None
    given = {param.name: param for param in run_command.params if isinstance(param, Option)}
    for setting in settings_of(RunSpec):
        assert setting.option in given[setting.name].opts
        assert given[setting.name].help == setting.text
    fields = {setting.option.removeprefix("--") for setting in settings_of(RunSpec)}
    assert set(SETTINGS) == fields - {"platform", "workload", "dispatcher", "set", "seed"} | {"audit", "evalys"}


def test_defaults_are_written_as_people_write_them() -> None:
    told = {setting.name: default_text(setting) for setting in settings_of(RunSpec)}
    assert (told["decision_time"], told["record"], told["seed"], told["nix"]) == ("none", "true", "0", "")
