"""What a shell offers for a dispatcher or a part: names and options, at every depth of the grammar."""

from __future__ import annotations

import contextlib
import typing
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from batdispatch.cli.kinds import KINDS, OPTIONS, find, names
from batdispatch.core.errors import InputError
from batdispatch.core.line.options import parse_named, split_list

#: Most jobs that are offered.
_MOST = 100


def complete_dispatcher(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return what a dispatcher's name, with the options in its brackets, may go on with."""
    return list(_named(incomplete, "dispatchers"))


def complete_dispatchers(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return what a list of dispatchers may go on with."""
    last = split_list(incomplete)[-1]
    begun = incomplete.removesuffix(last)
    return [begun + text for text in _named(last, "dispatchers")]


def complete_setting(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return what a ``KEY=VALUE`` may go on with for the dispatchers named before."""
    given = context.params.get("dispatcher") or context.params.get("dispatchers") or ""
    found: list[str] = []
    for text in split_list(given):
        try:
            name, _ = parse_named(text)
        except InputError:
            continue
        found += _setting(incomplete, name, "dispatchers")
    return sorted(set(found))


def complete_part(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the names of dispatchers and parts that begin so."""
    known = {name for kind in KINDS for name in names(kind)}
    return sorted(name for name in known if name.startswith(incomplete))


def complete_one_of_them(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the dispatchers named before that begin so."""
    return [text for text in split_list(context.params.get("dispatchers") or "") if text.startswith(incomplete)]


def complete_sequence(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return what a request sequence's name, with the options in its brackets, may go on with."""
    return list(_named(incomplete, "requests"))


def complete_job(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the jobs of the run named before that begin so, as many as a terminal shows."""
    run = context.params.get("run")
    if run is None:
        return []
    found: dict[str, None] = {}
    with contextlib.suppress(OSError), (Path(run) / "jobs.csv").open(encoding="utf-8", errors="replace") as lines:
        next(lines, None)
        for line in lines:
            name, workload, _ = f"{line},,".split(",", 2)
            for text in (name, f"{workload}!{name}"):
                if text.startswith(incomplete) and ("!" in incomplete) == ("!" in text):
                    found[text] = None
            if len(found) >= _MOST:
                break
    return sorted(found)


def _named(text: str, kind: str) -> Iterator[str]:
    """Yield what ``NAME[key=value,...]``, of which `text` is the beginning, may go on with."""
    name, bracket, inside = text.partition("[")
    if not bracket:
        yield from (known for known in names(kind) if known.startswith(name))
        return
    last = split_list(inside)[-1]
    begun = text.removesuffix(last)
    yield from (begun + going_on for going_on in _setting(last, name, kind))


def _setting(text: str, owner: str, kind: str) -> Iterator[str]:
    """Yield what ``key=value``, an option of the part or dispatcher `owner`, may go on with."""
    # A class in a file of the user's is not looked up: a press of the tab key would run that file.
    if owner not in names(kind):
        return
    options = msgspec.structs.fields(find(kind, owner).options_type)
    key, equals, value = text.partition("=")
    if not equals:
        yield from (f"{option.name}=" for option in options if option.name.startswith(key))
        return
    for option in options:
        if option.name == key and key in OPTIONS:
            yield from (f"{key}={going_on}" for going_on in _named(value, OPTIONS[key].name))
        elif option.name == key:
            choices = ["true", "false"] if option.type is bool else map(str, _choices(option.type))
            yield from (f"{key}={choice}" for choice in choices if choice.startswith(value))


def _choices(kind: typing.Any) -> Iterator[object]:
    """Yield the values that a type lists."""
    if typing.get_origin(kind) is typing.Literal:
        yield from typing.get_args(kind)
