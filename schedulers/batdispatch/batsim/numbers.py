"""Numbers in what users wrote: finite, and in messages printed with microseconds."""

from __future__ import annotations

import math
from typing import Any

import msgspec

_CHANGING = frozenset((float, dict, list, tuple))


def raw_number(value: float) -> msgspec.Raw:
    """Return a number as Batsim prints it: with microseconds.

    Raises:
        ValueError: it is infinite or no number.
    """
    if not math.isfinite(value):
        raise ValueError(f"{value} cannot be written as JSON")
    return msgspec.Raw(b"%.6f" % value)


def on_microsecond(seconds: float) -> float:
    """Return a time without what a clock shows beyond microseconds; earlier times never become the later ones."""
    return round(seconds, 6)


def with_microseconds(value: Any) -> Any:
    """Return a JSON value whose floats are replaced by their printed form; whole numbers stay as they are.

    Raises:
        ValueError: a number is infinite or NaN.
        RecursionError: the value is nested too deeply.
    """
    kind = type(value)
    if kind is float:
        return raw_number(value)
    if kind is dict:
        if _CHANGING.isdisjoint(map(type, value.values())):
            return value
        return {name: with_microseconds(part) for name, part in value.items()}
    if kind is list or kind is tuple:
        return [with_microseconds(part) for part in value]
    return value


def require_finite(value: Any) -> None:
    """Check that a JSON value holds only finite numbers (msgspec would print others as null).

    Raises:
        ValueError: it does not.
        RecursionError: the value is nested too deeply.
    """
    kind = type(value)
    if kind is float:
        if not math.isfinite(value):
            raise ValueError(f"{value} cannot be written as JSON")
    elif kind is dict:
        for part in value.values():
            require_finite(part)
    elif kind is list or kind is tuple:
        for part in value:
            require_finite(part)
