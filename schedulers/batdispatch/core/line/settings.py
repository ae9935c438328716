"""Structs of settings: what people are told of each field, and how they write it.

A field's text stands in the docstring of its struct, its bounds in its type (`msgspec.Meta`), and what neither its name
nor its type tells in a `Form`. The command line, its help, campaigns and the manual follow from these three.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

import msgspec

from batdispatch.core.errors import InputError
from batdispatch.core.line.options import parse_named, written

#: Headings that the options of several commands share.
INPUTS = "What is simulated"
DISPATCHER = "Dispatchers"
SIMULATION = "How it is simulated"
BATSIM = "A real Batsim"
REPLICATES = "Replicates"
LOGS = "Reading a log"
RESULTS = "Results"
#: In the order of the help.
HEADINGS = (INPUTS, DISPATCHER, SIMULATION, BATSIM, REPLICATES, LOGS, RESULTS)

#: What a field's text stands for in the docstring of a struct: ``name, name: text``.
_TEXT = re.compile(r"^(\w+(?:, \w+)*): (.+(?:\n[ \t]+.+)*)", re.MULTILINE)


class Form(msgspec.Struct, frozen=True):
    """How people write a field, as far as neither its name nor its type tells.

    Attributes:
        metavar: what its value is called; empty: what its type is called.
        section: the heading that it stands under; empty: what its struct's `section` says, if it has one.
        name: of its option; empty: the field's, with hyphens.
        file: whether a text names a file, or a path one that is no folder.
        folder: whether a path is one of a folder.
        exists: whether the command line is wrong if a path leads to nothing.
        piped: whether ``-`` may stand for what is piped into the command.
        default: the default as people write it; empty: as `written` does.
        read: makes the value of a text; None: its type tells.
        gather: makes the value of all texts that are given; None: there is one text.
        choices: returns the texts that can be given; None: its type tells.
        offers: what a shell offers, one of the names in `batdispatch.cli.completion`.
    """

    metavar: str = ""
    section: str = ""
    name: str = ""
    file: bool = False
    folder: bool = False
    exists: bool = False
    piped: bool = False
    default: str = ""
    read: Callable[[str], Any] | None = None
    gather: Callable[[Sequence[str]], Any] | None = None
    choices: Callable[[], Sequence[str]] | None = None
    offers: str = ""


class Setting(msgspec.Struct, frozen=True):
    """A field as people are told of it.

    Attributes:
        name: of the field.
        option: its option, with dashes.
        kind: its type, with bounds and without None.
        default: its value if none is given; `msgspec.NODEFAULT`: one has to be given.
        text: what it does; empty: nothing says it.
        form: how it is written.
    """

    name: str
    option: str
    kind: Any
    default: Any
    text: str
    form: Form


@cache
def settings_of(struct: type[msgspec.Struct]) -> list[Setting]:
    """Return what can be said of each field of a struct, in order."""
    texts, section = texts_of(struct), getattr(struct, "section", "")
    return [_setting(field, texts.get(field.name, ""), section) for field in msgspec.structs.fields(struct)]


def _setting(field: msgspec.structs.FieldInfo, text: str, section: str) -> Setting:
    factory = field.default_factory
    form = next((mark for mark in typing.get_args(field.type)[1:] if isinstance(mark, Form)), Form())
    form = form if form.section else msgspec.structs.replace(form, section=section)
    return Setting(
        field.name,
        form.name or f"--{field.name.replace('_', '-')}",
        field.type,
        field.default if factory is msgspec.NODEFAULT else factory(),
        text,
        form,
    )


def texts_of(struct: type[msgspec.Struct]) -> dict[str, str]:
    """Return the text of each field, by name. What a class says holds for those that derive from it."""
    texts: dict[str, str] = {}
    for cls in struct.__mro__:
        if issubclass(cls, msgspec.Struct) and cls is not msgspec.Struct:
            for names, text in _TEXT.findall(inspect.cleandoc(cls.__doc__ or "").partition("\n\n")[2]):
                for name in names.split(", "):
                    texts.setdefault(name, " ".join(text.split()))
    return texts


S = TypeVar("S", bound=msgspec.Struct)


def struct_of(struct: type[S], given: Mapping[str, Any]) -> S:
    """Return a struct of what people gave.

    Args:
        struct: its type.
        given: values by name, such as the texts that its form gathers; None for a field that is needed: the empty text.
    """
    values: dict[str, Any] = {}
    for setting in settings_of(struct):
        value = given.get(setting.name)
        if value is not None:
            values[setting.name] = value if setting.form.gather is None else setting.form.gather(value)
        elif setting.default is msgspec.NODEFAULT:
            values[setting.name] = ""
        elif setting.name in given:
            values[setting.name] = None
    return struct(**values)


def pairs_of(texts: Sequence[str], source: str = "option --set") -> dict[str, str]:
    """Read texts KEY=VALUE.

    Raises:
        InputError: one has another form, or a key is given twice.
    """
    values: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise InputError(f"found {text!r}, expected KEY=VALUE", source=source)
        if key in values:
            raise InputError(f"{key!r} is given twice", source=source)
        values[key] = value
    return values


def roles_of(texts: Sequence[str]) -> dict[str, str]:
    """Read texts HOST:ROLE: host -> role.

    Raises:
        InputError: one has another form, or a host is given twice.
    """
    roles: dict[str, str] = {}
    for text in texts:
        # A host name may hold colons, a role does not.
        name, colon, role = text.rpartition(":")
        if not colon or not name or name in roles:
            raise InputError(f"{text!r} is not HOST:ROLE, each host once", source="option --role")
        roles[name] = role
    return roles


def named_with(dispatcher: str, settings: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return a dispatcher's name, and the options in its brackets together with those of ``--set``.

    Raises:
        InputError: the text has another form, or an option is given twice.
    """
    name, options = parse_named(dispatcher, "option --dispatcher")
    for key, value in settings.items():
        if key in options:
            raise InputError(f"{key!r} stands in brackets and in --set", source="option --dispatcher")
        options[key] = value
    return name, options


def default_text(setting: Setting) -> str:
    """Return a setting's default as people write it; empty if there is none."""
    if setting.form.default or setting.default in (msgspec.NODEFAULT, None, "", (), {}):
        return setting.form.default
    return written(setting.default)
