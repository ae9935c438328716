"""``batdispatch explain``: what a dispatcher or part does, with its options."""

from __future__ import annotations

import inspect
import re

import click
import msgspec

from batdispatch.cli.completing import complete_part
from batdispatch.cli.kinds import KINDS, find, names, singular
from batdispatch.core.dispatcher import Dispatcher
from batdispatch.core.errors import InputError
from batdispatch.core.options import Part, describe_type, did_you_mean
from batdispatch.parts.requests import RequestSequence


@click.command()
@click.argument("name", shell_complete=complete_part)
def command(name: str) -> None:
    """Explain a dispatcher or a part of one: what it does, its source, its guarantee, its options.

    \b
    Examples:
      batdispatch explain easy
      batdispatch explain wfp3
    """
    found = [(singular(kind), find(kind, name)) for kind in KINDS if name in names(kind)]
    if not found:
        known = [entry for kind in KINDS for entry in names(kind)]
        raise InputError(f"nothing is called {name!r}: {did_you_mean(name, known)}")
    for kind, cls in found:
        click.secho(f"{name} ({kind})", bold=True)
        click.echo(inspect.cleandoc(cls.__doc__ or "") + "\n")
        option = "requests" if issubclass(cls, RequestSequence) else kind
        _explain_options(cls, f"--set {option}={name}[NAME=VALUE]" if issubclass(cls, Part) else "--set NAME=VALUE")


def _explain_options(cls: type[Dispatcher | Part], how: str) -> None:
    fields = msgspec.structs.fields(cls.options_type)
    if not fields:
        return
    click.echo(f"Options ({how}):")
    for field in fields:
        click.echo(f"  {field.name} = {field.default}    {describe_type(field.type)}")
    told: set[str] = set()
    for base in cls.options_type.__mro__:
        # What a class says of an option holds for those that derive from it, unless they say something else.
        entries = re.split(r"\n(?=\w+(?:, \w+)*: )", inspect.cleandoc(base.__doc__ or "").partition("\n\n")[2])
        for entry in filter(None, entries) if "Options of" in (base.__doc__ or "") else ():
            names = set(entry.partition(":")[0].split(", "))
            if not names <= told:
                click.echo("\n" + entry)
            told |= names
