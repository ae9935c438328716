"""SimGrid's quantities: numbers with units such as ``1Gf``, ``125MBps`` or ``50us``."""

from __future__ import annotations

import math
import re
from typing import Literal

#: A number that `float` reads, then a unit; ``1Ef`` is an exaflop because an exponent needs digits.
_QUANTITY = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)([A-Za-z]*)\s*", re.ASCII)
_DECIMAL = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15, "E": 10**18, "Z": 10**21, "Y": 10**24}
_BINARY = {"": 1, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}
_FLOPS = ("", "kilo", "mega", "giga", "tera", "peta", "exa", "zetta", "yotta")

Kind = Literal["speed", "bandwidth", "time"]

#: Kind of quantity -> unit -> how much it is in flop/s, bytes/s or seconds. A bare number is in that base unit.
UNITS: dict[Kind, dict[str, float]] = {
    "speed": {
        "": 1,
        **{f"{prefix}f": factor for prefix, factor in _DECIMAL.items()},
        **{f"{name}flops": 1000.0**power for power, name in enumerate(_FLOPS)},
    },
    "bandwidth": {
        "": 1,
        **{f"{prefix}Bps": factor for prefix, factor in (_BINARY | _DECIMAL).items()},
        **{f"{prefix}bps": factor / 8 for prefix, factor in (_BINARY | _DECIMAL).items()},
    },
    "time": {
        "": 1,
        "s": 1,
        "w": 604800,
        "d": 86400,
        "h": 3600,
        "m": 60,
        "ms": 1e-3,
        "us": 1e-6,
        "ns": 1e-9,
        "ps": 1e-12,
    },
}
_EXAMPLE: dict[Kind, str] = {"speed": "1Gf", "bandwidth": "125MBps", "time": "50us"}


def quantity(text: str, kind: Kind) -> float:
    """Read one quantity in flop/s, bytes/s or seconds.

    Raises:
        ValueError: with a message that says what was expected; the caller knows the file and line.
    """
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise ValueError(f"is not a {kind} such as {_EXAMPLE[kind]}")
    number, unit = match.groups()
    factor = UNITS[kind].get(unit)
    if factor is None:
        known = ", ".join(name for name in UNITS[kind] if name)
        raise ValueError(f"has the unit {unit!r}, which is none of {known}")
    value = float(number) * factor
    if value < 0 or not math.isfinite(value):
        raise ValueError("must be a finite number that is not negative")
    return value
