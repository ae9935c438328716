"""Questions that people ask: each is a function of structs of options and of operands that returns an answer.

A file of a room or of an ability announces a question as its `QUESTION`. Everything else follows from its function: the
command, its help, ``--json`` and the page of the manual (`cli.questions`), and `Question.ask` asks it from Python. The
file imports nothing large, so that help is quick; the function imports what it needs when it is called.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import msgspec

from batdispatch.core.line.settings import Form, Setting


class Line(NamedTuple):
    """A line that is printed.

    Attributes:
        text: of it.
        aside: whether it goes to the error stream, since it is no part of the answer.
        bold: whether a terminal shows it in bold.
    """

    text: str
    aside: bool = False
    bold: bool = False


class Table(NamedTuple):
    """A table that is printed; between two of them there is an empty line.

    Attributes:
        headings: of all columns; if none says anything, they are left out.
        rows: the name of each and its cells.
        left: numbers of the columns whose texts begin at the left; the others end at the right.
        long: what becomes of a text that is too long: it goes on in a line of its own (``fold``), or is cut off at a
            word (``cut``); empty: words go over several lines.
        width: in characters where there is no terminal.
    """

    headings: Sequence[str]
    rows: Sequence[tuple[str, Sequence[str]]]
    left: Sequence[int] = (0,)
    long: Literal["", "fold", "cut"] = ""
    width: int = 100


class Answer(NamedTuple):
    """What came of a question.

    Attributes:
        facts: the answer for programs, as ``--json`` prints it, or a function that works it out where the text does so
            line by line; None: programs read the same as people.
        text: the answer for people.
        status: the exit status of the command.
        written: path of a file that was written, which is printed in any case; empty: none was.
    """

    facts: Any
    text: Iterable[str | Line | Table]
    status: int = 0
    written: str = ""


class Fields(NamedTuple):
    """Which fields of a struct are options; it marks the parameter of a question's function that takes the struct.

    Attributes:
        only: their names; none: all.
        needed: whether a field without a default has to be given; it is the empty text otherwise.
        first: the field that stands before the others in the help.
    """

    only: tuple[str, ...] = ()
    needed: bool = True
    first: str = ""

    def take(self, struct: type[msgspec.Struct], given: dict[str, Any]) -> msgspec.Struct:
        """Return the struct of what is given, and take that out."""
        known = msgspec.structs.fields(struct)
        values = {field.name: "" for field in known if field.required and not self.needed}
        names = [field.name for field in known if field.name in given and (not self.only or field.name in self.only)]
        return struct(**values | {name: given.pop(name) for name in names})


@dataclass(frozen=True)
class Question:
    """A question.

    The function takes structs, whose fields are options, and then operands: what it is about, which stands before the
    options. A `Form` says how an operand is written, its type whether there may be several, its default whether it may
    be missing. A parameter `listener`, a `runs.listener.Listener`, hears how far long work is. The docstring is the
    help of the command.

    Attributes:
        name: of its command.
        function: that answers it.
        as_json: the help of ``--json``.
        heading: of the help, under which ``--json`` stands; empty: with options that have none.
        quiet: whether there is ``--quiet``, with which nothing is printed but facts and what was written.
        common: names of the options that people use first, which ``--help`` shows; none: it shows all.
    """

    name: str
    function: Callable[..., Answer]
    as_json: str = "Print the answer as JSON."
    heading: str = ""
    quiet: bool = False
    common: tuple[str, ...] = ()

    @cached_property
    def _kinds(self) -> dict[str, Any]:
        kinds = typing.get_type_hints(self.function, include_extras=True)
        return {name: kinds[name] for name in inspect.signature(self.function).parameters}

    @cached_property
    def options(self) -> list[tuple[type[msgspec.Struct], Fields]]:
        """The structs of its options."""
        found = ((_bare(kind), _mark(kind, Fields())) for kind in self._kinds.values())
        return [(kind, fields) for kind, fields in found if isinstance(kind, type) and issubclass(kind, msgspec.Struct)]

    @cached_property
    def operands(self) -> list[Setting]:
        """What it is about."""
        rest = list(inspect.signature(self.function).parameters.values())[len(self.options) :]
        return [
            Setting(each.name, "", kind, _default(each), "", _mark(kind, Form()))
            for each in rest
            for kind in (self._kinds[each.name],)
            if each.name != "listener"
        ]

    @property
    def listens(self) -> bool:
        """Whether the work may take long."""
        return "listener" in self._kinds

    def answer(self, *given: Any, listener: Any = None, **operands: Any) -> Answer:
        """Return the answer.

        Args:
            given: the structs, and what else its function takes in this order.
            listener: hears how far it is; None: as for the functions that Python calls.
            operands: those that are not among these, by name.
        """
        return self.function(*given, **operands, **({"listener": listener} if self.listens else {}))

    def ask(self, *operands: Any, **options: Any) -> Answer:
        """Return the answer to a question that Python asks: first what it is about, then options by name.

        Raises:
            TypeError: it has no such option, or one is missing.
        """
        structs = [fields.take(struct, options) for struct, fields in self.options]
        if options:
            raise TypeError(f"{self.name} has no option {next(iter(options))!r}")
        return self.answer(*structs, *operands)


def _default(parameter: inspect.Parameter) -> Any:
    return msgspec.NODEFAULT if parameter.default is parameter.empty else parameter.default


def _bare(kind: Any) -> Any:
    return typing.get_args(kind)[0] if typing.get_origin(kind) is typing.Annotated else kind


def _mark(kind: Any, default: Any) -> Any:
    """Return what a parameter is marked with that is of the same class as a default, or that default."""
    return next((mark for mark in typing.get_args(kind)[1:] if isinstance(mark, type(default))), default)


class Questions(NamedTuple):
    """Questions whose commands stand under a common one.

    Attributes:
        name: of the common command.
        about: its help.
        questions: in the order of the help.
    """

    name: str
    about: str
    questions: tuple[Question, ...]
