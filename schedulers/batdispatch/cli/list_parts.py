"""``batdispatch list``: what there is to choose from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated

from batdispatch.cli.kinds import KINDS, summaries
from batdispatch.core.line.settings import Form
from batdispatch.core.questions import Answer, Line, Question


def list_parts(kind: Annotated[str | None, Form(choices=lambda: list(KINDS))] = None) -> Answer:
    """List dispatchers and what they are assembled from, with a line about each.

    \b
    Examples:
      batdispatch list
      batdispatch list orderings --json
    """
    tables = {name: summaries(name) for name in KINDS if kind in (None, name)}
    return Answer(tables, _in_words(tables, headed=kind is None))


def _in_words(tables: Mapping[str, Mapping[str, str]], *, headed: bool) -> Iterator[str | Line]:
    for name, entries in tables.items():
        if headed:
            yield Line(name, bold=True)
        width = max(map(len, entries), default=0)
        yield from (f"  {entry.ljust(width)}  {text}" for entry, text in entries.items())


QUESTION = Question("list", list_parts, "Print the list as JSON.")
