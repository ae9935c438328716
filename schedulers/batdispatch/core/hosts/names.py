"""Names of hosts in short, as Slurm writes them: ``n[01-48,60],login1``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from batdispatch.core.errors import InputError

#: Most names that one text may stand for.
MOST = 10_000_000
_BRACKETS = re.compile(r"\[([0-9,\-]*)\]", re.ASCII)


def expand(text: str) -> Iterator[str]:
    """Yield the names that a text stands for; numbers keep their leading zeros. Several brackets are all combined.

    Raises:
        InputError: brackets hold something else than numbers and ranges, or there are too many names.
    """
    match = _BRACKETS.search(text)
    if match is None:
        if "[" in text or "]" in text:
            raise InputError(f"{text[:60]!r} is no list of hosts, expected brackets such as n[0-3,7]")
        yield text
        return
    for part in match[1].split(","):
        first, dash, last = part.partition("-")
        last = last if dash else first
        if not (first.isdigit() and last.isdigit()) or int(last) < int(first) or len(last) > 15:
            raise InputError(
                f"{text[:60]!r}: found {part[:30]!r} in brackets, expected a number or a range such as 0-3"
            )
        if int(last) - int(first) >= MOST:
            raise InputError(f"{text[:60]!r} stands for more than {MOST:,} hosts")
        for number in range(int(first), int(last) + 1):
            yield from expand(f"{text[: match.start()]}{number:0{len(first)}d}{text[match.end() :]}")
