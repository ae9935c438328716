"""``batdispatch explain``: the card of a dispatcher or part, with its options."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Annotated, Any

from batdispatch.cli.cards import SECTIONS, options_of, read_card
from batdispatch.cli.kinds import KINDS, find, names
from batdispatch.core.abilities import Kind
from batdispatch.core.errors import InputError
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.options import Part, did_you_mean
from batdispatch.core.line.settings import Form
from batdispatch.core.questions import Answer, Line, Question

#: Columns of the text where the terminal is wider.
_WIDEST = 100


def explain(name: Annotated[str, Form("NAME", offers="part")]) -> Answer:
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
    return Answer([_card_as_dict(name, kind.single, cls) for kind, cls in found], _in_words(name, found))


def _card_as_dict(name: str, kind: str, cls: type[Dispatcher | Part]) -> dict[str, Any]:
    card = read_card(cls.__doc__ or "")
    sections = {SECTIONS[title].lower().replace(" ", "_"): entries for title, entries in card.sections.items()}
    options = [asdict(option) for option in options_of(cls.options_type)]
    return {"name": name, "kind": kind, "overview": card.overview, **sections, "options": options}


def _in_words(name: str, found: Sequence[tuple[Kind, type[Dispatcher | Part]]]) -> Iterator[str | Line]:
    for place, (kind, cls) in enumerate(found):
        yield Line(("\n" if place else "") + f"{name} ({kind.title or kind.single})", bold=True)
        yield from _card(cls)
        option = kind.option or kind.single
        yield from _options(cls, f"--set {option}={name}[NAME=VALUE]" if issubclass(cls, Part) else "--set NAME=VALUE")


def _card(cls: type[Dispatcher | Part]) -> Iterator[str | Line]:
    card = read_card(cls.__doc__ or "")
    for paragraph in card.overview:
        yield _wrapped(paragraph) + "\n"
    for name, entries in card.sections.items():
        yield Line(SECTIONS[name], bold=True)
        for entry in entries:
            # Lists and references hang behind their marks; a paragraph alone needs none.
            numbered = name == "References" and entry.startswith("[")
            mark, text = entry.split(" ", 1) if numbered else ("-" if len(entries) > 1 else "", entry)
            text = f"Time: {text}" if name == "Time" else text[0].upper() + text[1:]
            yield _wrapped(text, first=f"  {mark} " if mark else "  ", rest=" " * (3 + len(mark) if mark else 2))
        yield ""


def _options(cls: type[Dispatcher | Part], how: str) -> Iterator[str | Line]:
    options = options_of(cls.options_type)
    if options:
        yield Line(f"Options ({how})", bold=True)
    for option in options:
        yield f"  {option.name}={option.default}  ({option.accepts})"
        if option.text:
            yield _wrapped(option.text, first=" " * 6, rest=" " * 6)


def _wrapped(text: str, *, first: str = "", rest: str = "") -> str:
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    return textwrap.fill(
        text, width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


QUESTION = Question("explain", explain, "Print the cards as JSON.")
