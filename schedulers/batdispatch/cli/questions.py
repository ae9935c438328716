"""Commands of questions (`core.questions`): each follows from the function that answers it."""

from __future__ import annotations

import shutil
import sys
from typing import Any

import click

from batdispatch.cli.groups import OTHER_OPTIONS, Command, Group
from batdispatch.cli.messages import Terminal, echo, is_quiet, json_text, quiet_option
from batdispatch.cli.options import argument, options
from batdispatch.cli.outputs import json_option
from batdispatch.core.questions import Answer, Question, Questions, Table

#: What `Table.long` says -> how rich calls that of each column.
_COLUMNS: dict[str, dict[str, Any]] = {"": {}, "fold": {"overflow": "fold"}, "cut": {"no_wrap": True}}


def command_of(asked: Question | Questions) -> click.Command:
    """Return the command of a question, or the group of those of several."""
    if isinstance(asked, Questions):
        return Group(asked.name, {each.name: _command(each) for each in asked.questions}, help=asked.about)
    return _command(asked)


def _command(question: Question) -> click.Command:
    def call(*structs: Any, as_json: bool, **operands: Any) -> None:
        show(_answer(question, structs, operands), as_json=as_json)

    called: Any = quiet_option(call) if question.quiet else call
    called = json_option(question.as_json, section=question.heading or OTHER_OPTIONS)(called)
    for struct, fields in reversed(question.options):
        called = options(struct, only=fields.only, first=fields.first, needed=fields.needed)(called)
    for operand in reversed(question.operands):
        called = argument(operand)(called)
    about = {"help": question.function.__doc__, "common": question.common}
    made: click.Command = click.command(question.name, cls=Command, **about)(called)
    return made


def _answer(question: Question, structs: tuple[Any, ...], operands: dict[str, Any]) -> Answer:
    if not question.listens:
        return question.answer(*structs, **operands)
    from batdispatch.cli.progress import ProgressDisplay

    with ProgressDisplay() as progress:
        return question.answer(*structs, **operands, listener=Terminal(progress.tell))


def show(answer: Answer, *, as_json: bool) -> None:
    """Print an answer, and end with its status if that says anything."""
    if as_json and answer.facts is not None:
        echo(json_text(answer.facts() if callable(answer.facts) else answer.facts))
    elif not is_quiet():
        above: Any = None
        for piece in answer.text:
            if isinstance(piece, Table):
                echo(("\n" if isinstance(above, Table) else "") + _table(piece))
            else:
                text, aside, bold = (piece, False, False) if isinstance(piece, str) else piece
                echo(text, err=aside, bold=bold)
            above = piece
    if answer.written:
        echo(answer.written)
    if answer.status:
        sys.exit(answer.status)


def _table(shown: Table) -> str:
    from batdispatch.cli.tables import plain, table

    width = shutil.get_terminal_size((shown.width, 24)).columns
    return plain(table(shown.headings, shown.rows, left=shown.left, **_COLUMNS[shown.long]), width=width)
