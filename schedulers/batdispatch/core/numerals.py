"""Numbers that are written as texts: in options, properties of hosts, and cells of tables."""

from __future__ import annotations

import math


def number_of(text: str) -> float:
    """Return the number that a text states, or NaN, which no comparison accepts.

    A text that holds ``_`` states none: to read 1_000 as 1000 is a custom of Python alone.
    """
    try:
        return math.nan if "_" in text else float(text)
    except ValueError:
        return math.nan
