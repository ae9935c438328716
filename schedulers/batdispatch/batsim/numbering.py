"""How Batsim numbers the hosts of a platform.

Both versions give the compute hosts the ids 0..c-1 and the storage hosts c..c+s-1, each group in the order of names.
Batsim 4.2.1 compares names as plain strings (a0, a1, a10, a2), Batsim 5 compares runs of digits as numbers (a0, a1, a2,
a10), equal numbers (a1, a01) as plain strings.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal

Batsim = Literal[4, 5]

_TOKEN = re.compile(r"\d+|.", re.ASCII | re.DOTALL)


def numeric_aware(name: str) -> tuple[tuple[tuple[int, int], ...], str]:
    """Return Batsim 5's sort key: a run of digits counts as its value, and among other characters as a digit."""
    tokens = ((ord("0"), int(token)) if "0" <= token[0] <= "9" else (ord(token), 0) for token in _TOKEN.findall(name))
    return tuple(tokens), name


def sort_key(batsim: Batsim) -> Callable[[str], Any]:
    """Return the key by which a version of Batsim sorts host names.

    Code points order as the bytes of UTF-8 do, so Python's string order is the C++ order.
    """
    return numeric_aware if batsim == 5 else str
