"""Amounts of memory as logs and tables write them."""

from __future__ import annotations

import re

#: MiB of each unit; without one, MiB are meant.
_MIB = {"": 1.0, "K": 2.0**-10, "M": 1.0, "G": 2.0**10, "T": 2.0**20, "P": 2.0**30, "E": 2.0**40}
_MEMORY = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)([KMGTPE]?)i?B?([cn]?)", re.ASCII | re.IGNORECASE)
#: Largest amount that is believed: Batsim's JSON keeps it exact with room for sums.
LARGEST_AMOUNT = 2**45


def read_memory(text: str) -> tuple[float, str]:
    """Return MiB, and whether they are of each core (``c``), each node (``n``) or the job (empty).

    Raises:
        ValueError: the text is no amount of memory.
    """
    match = _MEMORY.fullmatch(text)
    if match is None:
        raise ValueError(text)
    amount, unit, of = match.groups()
    mib = float(amount) * _MIB[unit.upper()]
    if mib > LARGEST_AMOUNT:
        raise ValueError(text)
    return mib, of.lower()
