"""Turns what is wrong with a frame into one readable error: which event, its type, which field, found, expected."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import inspect

from batdispatch.core.errors import FieldError, InputError

#: What decoding hostile bytes may raise: malformed JSON, wrong types, bytes that are no UTF-8, nesting without end.
DECODE_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

_PATH = re.compile(r"^(?P<text>.*) - at `(?:key in )?\$(?P<path>[^`]*)`$", re.DOTALL)
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]|\[\.\.\.\]")
_EVENT = re.compile(r"^\.events\[(\d+)\]\.?")
_MISSING = re.compile(r"missing required field (\S+)")
_LONGEST_QUOTE = 60


def quote(value: object) -> str:
    """Return a value from outside as it may stand in an error message: one short line."""
    if value is None:
        text = "nothing"
    elif isinstance(value, dict):
        text = f"an object with {len(value)} fields"
    elif isinstance(value, list):
        text = f"an array of {len(value)} elements"
    else:
        text = repr(value) if not isinstance(value, int) or abs(value) < 10**30 else "a number of over 30 digits"
    return text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 3] + "..."


def field_error(problem: FieldError, source: str, index: int, kind: str) -> InputError:
    """Return the error for a wrong field of event `index`."""
    return InputError(
        f"found {quote(problem.found)}, expected {problem.expected}",
        source=source,
        place=f"event {index} ({kind}), field {problem.field}",
    )


def frame_error(
    problem: Exception, data: bytes, source: str, kinds: tuple[str, ...], *, shape: type, tag: str = "type"
) -> InputError:
    """Return the error for a frame that its schema refuses.

    Args:
        problem: one of `DECODE_ERRORS`.
        data: the frame.
        source: what the frame is, for the message.
        kinds: the event types that are expected.
        shape: the schema.
        tag: the field of an event that says its type.
    """
    if isinstance(problem, RecursionError):
        return InputError("is nested too deeply", source=source)
    if isinstance(problem, UnicodeDecodeError):
        return InputError(f"is not UTF-8: {problem.reason} (byte {problem.object[problem.start]:#04x})", source=source)
    match = _PATH.match(str(problem))
    text, path = (match["text"], match["path"]) if match else (str(problem), "")
    text = text.replace("`", "")
    if not text.startswith("JSON"):
        text = text[0].lower() + text[1:]
    if not data.strip():
        text = "is empty, expected a JSON object"
    place = path.lstrip(".")
    event = _EVENT.match(path)
    if event is not None:
        index = int(event[1])
        kind = _walk(data, f".events[{index}].{tag}")
        field = path[event.end() :]
        place = f"event {index}" + (f" ({quote(kind).strip(chr(39))})" if isinstance(kind, str) else "")
        place += f", field {field}" if field else ""
        if field == tag and isinstance(kind, str):
            return InputError(f"unknown event type, expected one of {', '.join(kinds)}", source=source, place=place)
    missing = _MISSING.search(text)
    if missing is not None:
        return InputError(f"field {missing[1]} is missing", source=source, place=place)
    if text.startswith("invalid enum value") and (allowed := _allowed(shape, path)):
        text = f"expected {' or '.join(map(repr, allowed))}"
    found = ""
    if path and "unknown field" not in text and "[...]" not in path:
        found = f"found {quote(_walk(data, path))}, "
    return InputError(found + text, source=source, place=place)


def _allowed(shape: type, path: str) -> list[Any]:
    """Return the values that a schema lists for what stands at a path."""
    kinds = [inspect.type_info(shape)]
    for step in _STEP.finditer(path):
        kinds = [each for kind in kinds for each in _inner(kind, step[1])]
    listed = [kind.values if isinstance(kind, inspect.LiteralType) else _members(kind) for kind in kinds]
    return list(dict.fromkeys(value for values in listed for value in values))


def _inner(kind: inspect.Type, name: str | None) -> Sequence[inspect.Type]:
    """Return the types that a field may have, or an element where there is no name."""
    if isinstance(kind, inspect.StructType):
        found = next((field.type for field in kind.fields if field.encode_name == name), None)
    else:
        found = kind.item_type if isinstance(kind, inspect.ListType) else None
    return found.types if isinstance(found, inspect.UnionType) else [] if found is None else [found]


def _members(kind: inspect.Type) -> list[Any]:
    return [member.value for member in kind.cls] if isinstance(kind, inspect.EnumType) else []


def _walk(data: bytes, path: str) -> Any:
    """Return the value at a path such as ``.events[3].type``, or None."""
    try:
        value: Any = msgspec.json.decode(data)
        for name, position in _STEP.findall(path):
            value = value[name] if name else value[int(position)]
    except (*DECODE_ERRORS, LookupError, TypeError, ValueError):
        return None
    return value
