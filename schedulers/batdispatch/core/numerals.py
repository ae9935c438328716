"""Numbers that are written as texts: in options, properties of hosts, cells of tables, and workloads."""

from __future__ import annotations

import math
import re

#: Whole floats below it are written as integers.
EXACT = 2.0**53
#: Unit of time -> seconds.
TIME_UNITS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}
_TIME = re.compile(rf"(?P<number>.*?)(?P<unit>{'|'.join(TIME_UNITS)})?")


def number_of(text: str) -> float:
    """Return the number that a text states, or NaN, which no comparison accepts.

    A text that holds ``_`` states none: to read 1_000 as 1000 is a custom of Python alone.
    """
    try:
        return math.nan if "_" in text else float(text)
    except ValueError:
        return math.nan


def time_of(text: str) -> tuple[float, str]:
    """Return the number that a time such as ``90`` or ``12h`` states, NaN for none, and its unit, '' for none."""
    match = _TIME.fullmatch(text)
    return (math.nan, "") if match is None else (number_of(match["number"]), match["unit"] or "")


def number(value: float) -> int | float:
    """Return a whole float as an integer, which is how people write it."""
    return int(value) if abs(value) < EXACT and value == int(value) else value
