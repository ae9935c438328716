"""Commands of questions (`core.questions`): each follows from the function that answers it."""

from __future__ import annotations

import sys
from typing import Any

import click

from batdispatch.cli.groups import OTHER_OPTIONS, Command, Group
from batdispatch.cli.messages import Terminal, echo, json_text
from batdispatch.cli.options import argument, options
from batdispatch.cli.outputs import json_option
from batdispatch.core.questions import Answer, Line, Question, Questions


def command_of(asked: Question | Questions) -> click.Command:
    """Return the command of a question, or the group of those of several."""
    if isinstance(asked, Questions):
        return Group(asked.name, {each.name: _command(each) for each in asked.questions}, help=asked.about)
    return _command(asked)


def _command(question: Question) -> click.Command:
    def call(*structs: Any, as_json: bool, **operands: Any) -> None:
        show(_answer(question, structs, operands), as_json=as_json)

    called: Any = json_option(question.as_json, section=question.heading or OTHER_OPTIONS)(call)
    for struct, fields in reversed(question.options):
        called = options(struct, only=fields.only, needed=fields.needed)(called)
    for operand in reversed(question.operands):
        called = argument(operand)(called)
    made: click.Command = click.command(question.name, cls=Command, help=question.function.__doc__)(called)
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
    else:
        for piece in answer.text:
            if isinstance(piece, str):
                echo(piece)
            elif isinstance(piece, Line):
                echo(piece.text, err=piece.aside, bold=piece.bold)
            else:
                from batdispatch.cli.tables import plain, table

                echo(plain(table(piece.headings, piece.rows, left=piece.left)))
    if answer.status:
        sys.exit(answer.status)
