"""Cards: what a dispatcher or part and its options say of themselves, section by section, for terminal and manual.

A card is a docstring. Its first line says what the thing does, further paragraphs how. Then come the sections of
`SECTIONS`, each begun by its name and a colon at the start of a line.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from batdispatch.cli.kinds import KINDS, OPTIONS, find
from batdispatch.core.line.options import Options, describe_type, written
from batdispatch.core.line.settings import texts_of

#: The sections of a card behind its overview, in their order, and what pages call them.
SECTIONS = {
    "Typical use": "Typical use",
    "Limits": "Limits",
    "Guarantee": "Guarantee",
    "Time": "Complexity",
    "Deviations": "Deviations",
    "References": "References",
}
_SECTION = re.compile(rf"^({'|'.join(SECTIONS)}):", re.MULTILINE)
#: Where an item of a list begins, and a numbered reference.
_ITEM = re.compile(r"^\s*- ", re.MULTILINE)
_NUMBERED = re.compile(r"(?:^|\s)(?=\[\d+\] )")
#: Text of an option that another dispatcher has, too.
_ELSEWHERE = re.compile(r"As for `([\w-]+)`\.")


@dataclass(frozen=True, slots=True)
class Card:
    """A docstring, taken apart."""

    #: The paragraphs before the sections, each on one line; the first one is the summary.
    overview: list[str]
    #: Name in `SECTIONS` -> its entries, each on one line, in the order of the docstring.
    sections: dict[str, list[str]]


def read_card(text: str) -> Card:
    """Take a docstring apart; one without sections has an overview only."""
    overview, *rest = _SECTION.split(inspect.cleandoc(text))
    return Card(
        [_joined(paragraph) for paragraph in overview.split("\n\n") if paragraph.strip()],
        {name: list(_entries(name, body)) for name, body in zip(rest[::2], rest[1::2], strict=True)},
    )


def _entries(name: str, body: str) -> Iterator[str]:
    """Return the numbered references, or the items of a list, or the section as a whole."""
    if name == "References":
        parts = _NUMBERED.split(body)
    else:
        parts = _ITEM.split(body) if body.lstrip().startswith("- ") else [body]
    yield from map(_joined, filter(str.strip, parts))


def _joined(text: str) -> str:
    return " ".join(text.split())


@dataclass(frozen=True, slots=True)
class OptionText:
    """An option as people write it."""

    name: str
    #: As it would stand behind ``--set NAME=``.
    default: str
    #: What it accepts, in words.
    accepts: str
    #: What it does; empty if no class of options says it.
    text: str


def options_of(struct: type[Options]) -> list[OptionText]:
    """Return what can be said of each option, in order. What a class says holds for those that derive from it."""
    texts = {name: _looked_up(name, text) for name, text in texts_of(struct).items()}
    return [
        OptionText(field.name, written(field.default), _accepts(field), texts.get(field.name, ""))
        for field in msgspec.structs.fields(struct)
    ]


def _looked_up(name: str, text: str) -> str:
    """Return the text of an option, from where it says that it stands."""
    elsewhere = _ELSEWHERE.fullmatch(text)
    if elsewhere is None:
        return text
    return next(
        option.text for option in options_of(find("dispatchers", elsewhere[1]).options_type) if option.name == name
    )


def _accepts(field: msgspec.structs.FieldInfo) -> str:
    """Say what an option accepts; one that is called as a kind of part takes such a part."""
    kind = KINDS["orderings"] if field.name in ("priorities", "backfill") else OPTIONS.get(field.name)
    if field.type is not str or kind is None:
        return describe_type(field.type)
    part = kind.title or kind.single
    return f"{'an' if part[0] in 'aeiou' else 'a'} {part}"
