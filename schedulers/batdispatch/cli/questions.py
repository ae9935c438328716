"""Commands of questions (`core.questions`): each follows from its struct of options and what it is about."""

from __future__ import annotations

import functools
import sys
from typing import Any

import click

from batdispatch.cli.groups import OTHER_OPTIONS, Command, Group
from batdispatch.cli.messages import Terminal, echo, json_text
from batdispatch.cli.options import complete, options
from batdispatch.cli.outputs import json_option
from batdispatch.core.questions import Answer, Line, Operand, Question, Questions


def command_of(asked: Question | Questions) -> click.Command:
    """Return the command of a question, or the group of those of several."""
    if isinstance(asked, Questions):
        return Group(asked.name, {each.name: _command(each) for each in asked.questions}, help=asked.about)
    return _command(asked)


def _command(question: Question) -> click.Command:
    def call(*given: Any, as_json: bool, **operands: Any) -> None:
        show(_answer(question, given, operands), as_json=as_json)

    called: Any = json_option(question.as_json, section=OTHER_OPTIONS)(call)
    for fields in reversed(question.fields):
        called = options(fields.struct, only=fields.only, needed=fields.needed)(called)
    for operand in reversed(question.operands):
        called = _argument(operand)(called)
    made: click.Command = click.command(question.name, cls=Command, help=question.about)(called)
    return made


def _argument(operand: Operand) -> Any:
    kind = str if operand.kind is str else _path(operand)
    more: dict[str, Any] = {"nargs": -1, "required": True} if operand.many else {}
    if operand.offers:
        more["shell_complete"] = functools.partial(complete, operand.offers)
    return click.argument(operand.name, metavar=operand.metavar, type=kind, **more)


def _path(operand: Operand) -> click.Path:
    return click.Path(exists=operand.exists, path_type=operand.kind, file_okay=not operand.folder)


def _answer(question: Question, given: tuple[Any, ...], operands: dict[str, Any]) -> Answer:
    if not question.told:
        return question.answer(given, operands)
    from batdispatch.cli.progress import ProgressDisplay

    with ProgressDisplay() as progress:
        return question.answer(given, operands, Terminal(progress.tell))


def show(answer: Answer, *, as_json: bool) -> None:
    """Print an answer, and end with its status if that says anything."""
    if as_json and answer.facts is not None:
        echo(json_text(answer.facts))
    else:
        for piece in answer.text:
            if isinstance(piece, str):
                echo(piece)
            elif isinstance(piece, Line):
                echo(piece.text, err=piece.aside)
            else:
                from batdispatch.cli.tables import plain, table

                echo(plain(table(piece.headings, piece.rows, left=piece.left)))
    if answer.status:
        sys.exit(answer.status)
