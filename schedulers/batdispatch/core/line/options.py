"""Options of dispatchers and parts: declared as a typed struct, filled from text, refused with a readable message."""

from __future__ import annotations

import difflib
import math
import re
import typing
from collections.abc import Mapping
from itertools import accumulate
from typing import Any, TypeVar

import msgspec

from batdispatch.core.errors import InputError

#: The deepest that brackets may be nested: parts that hold parts call each other at each decision.
MAX_DEPTH = 20


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of option structs: one field an option, with its type and default. The class docstring describes them."""


class Part:
    """Base of what dispatchers are assembled from: orderings, placements, predictions, request sequences.

    A part is named in an option, with options of its own in brackets: ``placement=contiguous[wrap=true]``.
    """

    #: The option struct; its class docstring says what each option does.
    options_type: typing.ClassVar[type[Options]] = Options
    #: The extra of this package whose libraries it needs, one of `batdispatch.core.extras.EXTRAS`.
    extra: typing.ClassVar[str | None] = None
    #: The option, a text, that values without a key make, joined by commas: ``list[5h,40h]``. '': there is none.
    values_option: typing.ClassVar[str] = ""

    def __init__(self, options: Options | None = None) -> None:
        self.options: Any = self.options_type() if options is None else options


def split_list(text: str) -> list[str]:
    """Split a list at the commas that stand in no brackets: ``a,b[c=1,d=2]`` -> ``a``, ``b[c=1,d=2]``."""
    parts, depth, begin = [], 0, 0
    for index, mark in enumerate(text):
        if mark == "[":
            depth += 1
        elif mark == "]":
            depth -= 1
        elif mark == "," and depth == 0:
            parts.append(text[begin:index])
            begin = index + 1
    return [*parts, text[begin:]]


def in_file_names(text: str) -> str:
    """Return a dispatcher's name with its options as the name of a folder has it: brackets are underscores."""
    return re.sub(r"[^A-Za-z0-9=.,_-]", "_", text)


class NamedText(typing.NamedTuple):
    """A dispatcher or part as it is written."""

    name: str
    #: Option -> its text.
    options: dict[str, str]
    #: What stands in the brackets without a key, in order; '' between two commas.
    values: list[str]


def parse_named(text: str, source: str = "") -> tuple[str, dict[str, str]]:
    """Read ``NAME`` or ``NAME[key=value,...]``; a value may have brackets itself: ``easy[placement=local[io=2]]``.

    Raises:
        InputError: it has another form, or a key stands twice; `source` says where the text is from.
    """
    name, options, values = read_named(text, source)
    refuse_values(values, text, source)
    return name, options


def refuse_values(values: typing.Iterable[str], text: str, source: str) -> None:
    """Refuse values without a key that stand in `text`.

    Raises:
        InputError: there is one that is not empty.
    """
    if value := next(filter(None, values), ""):
        raise InputError(f"found {value[:80]!r} in {text.strip()[:80]!r}, expected key=value", source=source)


def read_named(text: str, source: str = "") -> NamedText:
    """Read ``NAME[key=value,...]`` as `parse_named`, in which values may stand without a key: ``list[5h,40h]``.

    Raises:
        InputError: it has another form, or a key stands twice; `source` says where the text is from.
    """
    text = text.strip()
    name, bracket, rest = text.partition("[")
    depth = max(accumulate((mark == "[") - (mark == "]") for mark in text), default=0)
    if depth > MAX_DEPTH:
        message = f"has brackets nested {depth:,} deep, expected at most {MAX_DEPTH}"
        raise InputError(f"{text[:80]!r} {message}", source=source)
    if not name.strip() or any(mark in name for mark in "],= \t\n") or not _closed(bracket + rest):
        raise InputError(f"found {text[:80]!r}, expected NAME or NAME[key=value,...]", source=source)
    found = NamedText(name, {}, [])
    for pair in split_list(rest[:-1]) if bracket else []:
        key, equals, value = pair.partition("=")
        key = key.strip()
        if not equals:
            found.values.append(key)
        elif not key:
            refuse_values([pair.strip()], text, source)
        elif key in found.options:
            raise InputError(f"{key!r} stands twice in {text[:80]!r}", source=source)
        else:
            found.options[key] = value.strip()
    return found


def _closed(text: str) -> bool:
    """Return whether a text is empty, or one pair of brackets with whatever is balanced inside."""
    depth = 0
    for index, mark in enumerate(text):
        depth += (mark == "[") - (mark == "]")
        if depth == 0 and index + 1 < len(text):
            return False
    return depth == 0


O = TypeVar("O", bound=Options)  # noqa: E741


def did_you_mean(name: str, known: typing.Iterable[str]) -> str:
    """Return a sentence with the closest known name, or with all of them."""
    known = list(known)
    same = {word.lower(): word for word in reversed(known)}
    close = difflib.get_close_matches(name.lower(), same, n=1)
    return f"did you mean {same[close[0]]!r}?" if close else f"known: {', '.join(sorted(known)) or 'none'}"


def parse_options(cls: type[O], given: Mapping[str, Any], owner: str) -> O:
    """Build an option struct from texts (or already typed values).

    Raises:
        InputError: an option is unknown or its value does not have the declared type.
    """
    names = [field.name for field in msgspec.structs.fields(cls)]
    values: dict[str, Any] = {}
    for key, value in given.items():
        name = key.replace("-", "_")
        if name not in names:
            raise InputError(f"{owner} has no option {key!r}: {did_you_mean(name, names)}")
        if name in values:
            raise InputError(f"{owner}: option {name} is given twice")
        values[name] = value
    for field in msgspec.structs.fields(cls):
        if field.name in values:
            found = values[field.name]
            if found == "none" and type(None) in typing.get_args(field.type):
                values[field.name] = found = None
            try:
                value = msgspec.convert(found, field.type, strict=False)
            except msgspec.ValidationError:
                value = math.nan
            if isinstance(value, float) and math.isnan(value):
                raise InputError(f"{owner}: option {field.name}={found!r} is not {describe_type(field.type)}")
    try:
        return msgspec.convert(values, cls, strict=False)
    except msgspec.ValidationError as problem:
        raise InputError(f"{owner}: {problem}") from None


def describe_type(kind: Any) -> str:
    """Say in words what an option's type accepts."""
    origin = typing.get_origin(kind)
    if origin is typing.Literal:
        return "one of " + ", ".join(str(value) for value in typing.get_args(kind))
    if origin is typing.Annotated:
        base, *marks = typing.get_args(kind)
        bounds = [
            f"{word} {written(getattr(mark, key))}"
            for mark in marks
            for key, word in (("gt", "above"), ("ge", "at least"), ("lt", "below"), ("le", "at most"))
            if getattr(mark, key, None) is not None
        ]
        return " ".join([describe_type(base), *bounds])
    if origin is not None and type(None) in typing.get_args(kind):
        return " or ".join("none" if part is type(None) else describe_type(part) for part in typing.get_args(kind))
    return {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}.get(kind, str(kind))


def written(value: Any) -> str:
    """Return the value of an option as it is written: ``none``, ``true``, ``5e9``."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, float):
        return str(value)
    short = f"{value:g}".replace("e+0", "e").replace("e+", "e")
    return short if float(short) == value else str(value)
