"""``batdispatch explain``: the card of a dispatcher or part, with its options."""

from __future__ import annotations

import shutil
import textwrap
from dataclasses import asdict
from typing import Any

import click

from batdispatch.cli.cards import SECTIONS, options_of, read_card
from batdispatch.cli.completion import complete_part
from batdispatch.cli.groups import OTHER_OPTIONS, Command
from batdispatch.cli.kinds import KINDS, find, names
from batdispatch.cli.messages import echo, json_text
from batdispatch.cli.outputs import json_option
from batdispatch.core.errors import InputError
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.options import Part, did_you_mean

#: Columns of the text where the terminal is wider.
_WIDEST = 100


@click.command(cls=Command)
@click.argument("name", shell_complete=complete_part)
@json_option("Print the cards as JSON.", section=OTHER_OPTIONS)
def command(name: str, *, as_json: bool) -> None:
    """Explain a dispatcher or a part of one: what it does, its source, its guarantee, its options.

    \b
    Examples:
      batdispatch explain easy
      batdispatch explain wfp3
    """
    found = [(kind, find(kind.name, name)) for kind in KINDS.values() if name in names(kind.name)]
    if not found:
        known = [entry for kind in KINDS for entry in names(kind)]
        raise InputError(f"nothing is called {name!r}: {did_you_mean(name, known)}")
    if as_json:
        echo(json_text([_card_as_dict(name, kind.single, cls) for kind, cls in found]))
        return
    for place, (kind, cls) in enumerate(found):
        echo(("\n" if place else "") + f"{name} ({kind.title or kind.single})", bold=True)
        _show_card(cls)
        option = kind.option or kind.single
        _show_options(cls, f"--set {option}={name}[NAME=VALUE]" if issubclass(cls, Part) else "--set NAME=VALUE")


def _card_as_dict(name: str, kind: str, cls: type[Dispatcher | Part]) -> dict[str, Any]:
    card = read_card(cls.__doc__ or "")
    sections = {SECTIONS[title].lower().replace(" ", "_"): entries for title, entries in card.sections.items()}
    options = [asdict(option) for option in options_of(cls.options_type)]
    return {"name": name, "kind": kind, "overview": card.overview, **sections, "options": options}


def _show_card(cls: type[Dispatcher | Part]) -> None:
    card = read_card(cls.__doc__ or "")
    for paragraph in card.overview:
        echo(_wrapped(paragraph) + "\n")
    for name, entries in card.sections.items():
        echo(SECTIONS[name], bold=True)
        for entry in entries:
            # Lists and references hang behind their marks; a paragraph alone needs none.
            numbered = name == "References" and entry.startswith("[")
            mark, text = entry.split(" ", 1) if numbered else ("-" if len(entries) > 1 else "", entry)
            text = f"Time: {text}" if name == "Time" else text[0].upper() + text[1:]
            echo(_wrapped(text, first=f"  {mark} " if mark else "  ", rest=" " * (3 + len(mark) if mark else 2)))
        echo()


def _show_options(cls: type[Dispatcher | Part], how: str) -> None:
    options = options_of(cls.options_type)
    if options:
        echo(f"Options ({how})", bold=True)
    for option in options:
        echo(f"  {option.name}={option.default}  ({option.accepts})")
        if option.text:
            echo(_wrapped(option.text, first=" " * 6, rest=" " * 6))


def _wrapped(text: str, *, first: str = "", rest: str = "") -> str:
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    return textwrap.fill(
        text, width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )
