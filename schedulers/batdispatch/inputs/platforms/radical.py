"""Radicals: the numbers in the host names of a cluster, such as ``0-3,7,10-12``."""

from __future__ import annotations

import re

from batdispatch.core.hosts.names import MAX_HOSTS

_GROUP = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)


def explode(text: str) -> list[int]:
    """Return the numbers of a radical in the order written, which is the order in which SimGrid makes the hosts.

    Raises:
        ValueError: with a message that names the wrong part.
    """
    numbers: list[int] = []
    for part in text.split(","):
        match = _GROUP.fullmatch(part.strip())
        if match is None:
            raise ValueError(f"has the part {part[:40]!r}, expected a number or an interval such as 0-3")
        first = int(match[1])
        last = first if match[2] is None else int(match[2])
        if last < first:
            raise ValueError(f"has the part {part!r}, whose end is below its start")
        if len(numbers) + last - first + 1 > MAX_HOSTS:
            raise ValueError(f"asks for more than {MAX_HOSTS} hosts")
        numbers.extend(range(first, last + 1))
    return numbers
