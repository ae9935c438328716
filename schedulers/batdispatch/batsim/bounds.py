"""Bounds of JSON that others wrote, looked at before any object is made of it.

Small text can become large memory: ``{}`` takes two bytes and, as an object, 64. And a whole number may have more
digits than any float, so that whoever computes with it fails.
"""

from __future__ import annotations

import math
import re

from batdispatch.core.errors import InputError

#: Most values in one text: the objects made of them take up to some 100 bytes each, thus 1.6 GB.
MAX_VALUES = 1 << 24
#: Bytes of a long file per value that it may hold: 100 bytes for each are then up to 13 times the file. Jobs of a
#: workload take about twice as many bytes per value.
FILE_BYTES = 8
#: Most digits of a number that is surely not beyond the largest float.
MAX_DIGITS = 308

_TO_ZERO = bytes(ord("0") if 48 <= byte < 58 else byte for byte in range(256))
_TOO_LONG = b"0" * (MAX_DIGITS + 1)
_STEP = 1 << 20
_STRIDE = 38
_SAMPLED = b"0" * ((MAX_DIGITS + 1) // _STRIDE)
#: A string, to be passed over, or a long number.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"|(?P<number>[0-9][0-9.eE+-]{%d,})' % MAX_DIGITS, re.DOTALL)


def check_bounds(data: bytes, *, source: str = "", place: str = "", most: int = MAX_VALUES) -> None:
    """Check that JSON text has no more than so many values, and no number beyond the largest float.

    Time: linear, about a nanosecond per byte.

    Args:
        data: the text.
        source: of the text, for messages.
        place: in it, for messages.
        most: values accepted.

    Raises:
        InputError: it has.
    """
    if len(data) <= MAX_DIGITS:
        return
    # No value takes less than a byte.
    if len(data) > most:
        count = values_in(data)
        if count > most:
            raise InputError(f"holds {count:,} values, at most {most:,} are accepted", source=source, place=place)
    # So many digits in a row hold eight of every thirty-eighth byte; hardly anything else does.
    if _SAMPLED not in data[::_STRIDE].translate(_TO_ZERO) or not _has_run(data):
        return
    for token in _TOKEN.finditer(data):
        number = token["number"]
        if number is not None and _is_infinite(number):
            raise InputError(
                f"found a number of {len(number)} digits (byte {token.start()}), expected one below 1.8e308",
                source=source,
                place=place,
            )


def most_of_file(size: int) -> int:
    """Return how many values a file of so many bytes may hold: `MAX_VALUES`, or more if it is long."""
    return max(MAX_VALUES, size // FILE_BYTES)


def values_in(data: bytes) -> int:
    """Return how many values JSON text has at most: all but the outermost follow a comma or an opening bracket."""
    return data.count(b",") + data.count(b"[") + data.count(b"{") + 1


def _is_infinite(number: bytes) -> bool:
    try:
        return math.isinf(float(number))
    except ValueError:
        # It is none; whoever decodes the text says so.
        return False


def _has_run(data: bytes) -> bool:
    """Return whether there are more than `MAX_DIGITS` digits in a row, be it in a string."""
    return any(
        _TOO_LONG in data[start : start + _STEP + MAX_DIGITS].translate(_TO_ZERO)
        for start in range(0, len(data), _STEP)
    )
