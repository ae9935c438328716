"""Questions that people ask: each is a struct of options, and a function that returns an answer.

A file of a room or of an ability announces a question as its `QUESTION`. The command, its help, ``--json`` and the page
of the manual follow from that (`cli.questions`), and `Question.ask` asks it from Python. The function that answers is
imported when it is asked, so that help is quick.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple, Protocol

import msgspec


class Line(NamedTuple):
    """A line that is printed.

    Attributes:
        text: of it.
        aside: whether it goes to the error stream, since it is no part of the answer.
    """

    text: str
    aside: bool = False


class Table(NamedTuple):
    """A table that is printed.

    Attributes:
        headings: of all columns; if none says anything, they are left out.
        rows: the name of each and its cells.
        left: numbers of the columns whose texts begin at the left; the others end at the right.
    """

    headings: Sequence[str]
    rows: Sequence[tuple[str, Sequence[str]]]
    left: Sequence[int] = (0,)


class Answer(NamedTuple):
    """What came of a question.

    Attributes:
        facts: the answer for programs, as ``--json`` prints it; None: they read the same as people.
        text: the answer for people.
        status: the exit status of the command.
    """

    facts: Any
    text: Iterable[str | Line | Table]
    status: int = 0


class Fields(NamedTuple):
    """The fields of a struct that a question takes as options.

    Attributes:
        struct: of these.
        only: their names; none: all.
        needed: whether a field without a default has to be given; it is the empty text otherwise.
    """

    struct: type[msgspec.Struct]
    only: tuple[str, ...] = ()
    needed: bool = True

    def take(self, given: dict[str, Any]) -> msgspec.Struct:
        """Return the struct of what is given, and take that out."""
        known = msgspec.structs.fields(self.struct)
        values = {field.name: "" for field in known if field.required and not self.needed}
        names = [field.name for field in known if field.name in given and (not self.only or field.name in self.only)]
        return self.struct(**values | {name: given.pop(name) for name in names})


class Operand(NamedTuple):
    """What a question is about, which stands before its options.

    Attributes:
        name: of the argument of the function that answers.
        metavar: what it is called in the help.
        kind: `str`, or `pathlib.Path`.
        many: whether there may be several, and must be one.
        folder: whether it is a folder, and no file.
        exists: whether the command line is wrong if it names nothing.
        offers: what a shell offers, one of the names in `batdispatch.cli.completion`.
    """

    name: str
    metavar: str
    kind: type
    many: bool = False
    folder: bool = False
    exists: bool = False
    offers: str = ""


class Teller(Protocol):
    """Shows how far work is, and says what happens, as `runs.listener.Listener` does."""

    def progress(self, label: str, done: int, total: int) -> None: ...

    def note(self, text: str) -> None: ...

    def warn(self, text: str) -> None: ...


class Question(NamedTuple):
    """A question.

    Attributes:
        name: of its command.
        options: structs of its options, or the fields of them that it takes.
        answers: ``module:function`` that takes these structs, then the operands, and returns an `Answer`.
        about: the help of its command: a sentence, and what else one should know.
        operands: what it is about.
        as_json: the help of ``--json``.
        told: whether the function takes a `Teller`, too, as `teller`, since the work may take long.
    """

    name: str
    options: tuple[type[msgspec.Struct] | Fields, ...]
    answers: str
    about: str
    operands: tuple[Operand, ...] = ()
    as_json: str = "Print the answer as JSON."
    told: bool = False

    @property
    def fields(self) -> tuple[Fields, ...]:
        """Which fields of which structs are options."""
        return tuple(each if isinstance(each, Fields) else Fields(each) for each in self.options)

    def answer(
        self, options: Sequence[msgspec.Struct], operands: Mapping[str, Any], teller: Teller | None = None
    ) -> Answer:
        """Return the answer.

        Args:
            options: the structs.
            operands: by name.
            teller: shows how far it is; None: this is not shown.
        """
        module, _, name = self.answers.partition(":")
        function = getattr(import_module(module), name)
        more = {"teller": teller} if self.told else {}
        answer: Answer = function(*options, *(operands[each.name] for each in self.operands), **more)
        return answer

    def ask(self, *operands: Any, **options: Any) -> Answer:
        """Return the answer to a question that Python asks: first what it is about, then options by name.

        Raises:
            TypeError: it has no such option, or one is missing.
        """
        named = dict(zip((each.name for each in self.operands), operands, strict=True))
        structs = [each.take(options) for each in self.fields]
        if options:
            raise TypeError(f"{self.name} has no option {next(iter(options))!r}")
        return self.answer(structs, named)


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
