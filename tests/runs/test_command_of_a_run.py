"""The command in result.json repeats the run: read again, it gives the same `RunSpec`, whatever its fields say."""

import shlex
import typing
from collections.abc import Sequence
from types import UnionType
from typing import Any, Literal

import msgspec
import pytest

from batdispatch.cli import run
from batdispatch.core.line.settings import struct_of
from batdispatch.links import nix
from batdispatch.runs.spec import RunSpec, as_typed, command_line

FIELDS = {field.name: field for field in msgspec.structs.fields(RunSpec)}
REQUIRED = {"platform": "p.xml", "workload": "w.json", "dispatcher": "easy"}
#: Fields whose values have a form of their own.
VALUES: dict[str, Any] = {
    "dispatcher": "folder/mine.py:Mine",
    "options": {"ordering": "sjf", "placement": "contiguous[wrap=true]"},
    "nix": "some flake#shell",
}


def other_value(name: str) -> Any:
    """Return a value of a field that is not its default."""
    field, kind = FIELDS[name], typing.get_type_hints(RunSpec)[name]
    if name in VALUES:
        return VALUES[name]
    if typing.get_origin(kind) in (typing.Union, UnionType):
        kind = next(each for each in typing.get_args(kind) if each is not type(None))
    if typing.get_origin(kind) is Literal:
        return next(each for each in typing.get_args(kind) if each != field.default)
    if typing.get_origin(kind) in (list, tuple, Sequence):
        return (list if typing.get_origin(kind) is list else tuple)(["--energy", "two words", "-x=y"])
    return {bool: not field.default, int: 7, float: 2.5, str: "a name"}[kind]


def spec_with(name: str, value: Any) -> RunSpec:
    settings = {**REQUIRED, name: value}
    if name == "nix" or name.startswith("batsim"):
        settings["engine"] = "batsim4"
    return RunSpec(**settings)


def read_again(command: str) -> RunSpec:
    program, name, *words = shlex.split(command)
    assert (program, name) == ("batdispatch", "run")
    with run.command.make_context(name, words) as context:
        return as_typed(struct_of(RunSpec, context.params))


@pytest.mark.parametrize("name", FIELDS)
def test_the_command_of_a_run_says_every_field(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nix.shutil, "which", lambda program: f"/bin/{program}")
    spec = spec_with(name, other_value(name))
    assert getattr(spec, name) != FIELDS[name].default
    assert read_again(command_line(spec)) == spec


def test_the_command_of_a_run_says_all_fields_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nix.shutil, "which", lambda program: f"/bin/{program}")
    spec = RunSpec(**{name: other_value(name) for name in FIELDS})
    assert read_again(command_line(spec)) == spec


@pytest.mark.parametrize("decision_time", [None, 1e-9, 86400.0])
def test_the_command_of_a_run_says_how_long_decisions_take(decision_time: float | None) -> None:
    spec = spec_with("decision_time", decision_time)
    assert read_again(command_line(spec)) == spec
