"""Numbers that are written as texts: in options, properties of hosts, cells of tables, and workloads."""

from __future__ import annotations

import math

#: Whole floats below it are written as integers.
EXACT = 2.0**53


def number_of(text: str) -> float:
    """Return the number that a text states, or NaN, which no comparison accepts.

    A text that holds ``_`` states none: to read 1_000 as 1000 is a custom of Python alone.
    """
    try:
        return math.nan if "_" in text else float(text)
    except ValueError:
        return math.nan


def number(value: float) -> int | float:
    """Return a whole float as an integer, which is how people write it."""
    return int(value) if abs(value) < EXACT and value == int(value) else value
