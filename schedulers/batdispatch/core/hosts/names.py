"""Names of hosts in short, as Slurm writes them: ``n[01-48,60],login1``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from batdispatch.core.errors import InputError

#: Most names that one text may stand for.
MOST = 10_000_000
_BRACKETS = re.compile(r"\[([0-9,\-]*)\]", re.ASCII)
_NUMBERED = re.compile(r"(.*?)(\d{1,15})(\D*)", re.ASCII | re.DOTALL)


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


def fold(names: Iterable[str]) -> list[str]:
    """Return texts that stand for names, sorted, each once: ``login1``, ``n[01-48,60]``."""
    series: dict[tuple[str, int, str], list[int]] = {}
    alone = []
    for name in sorted(set(names)):
        match = _NUMBERED.fullmatch(name)
        if match is None:
            alone.append(name)
        else:
            before, number, behind = match.groups()
            # Numbers of one width, padded or not, make one series: n9 and n10 do not, n09 and n10 do.
            series.setdefault((before, len(number), behind), []).append(int(number))
    folded = [f"{before}{_ranges(numbers, width)}{behind}" for (before, width, behind), numbers in series.items()]
    return sorted([*alone, *folded])


def _ranges(numbers: Sequence[int], width: int) -> str:
    """Return sorted numbers in brackets, or a single one without."""
    if len(numbers) == 1:
        return f"{numbers[0]:0{width}d}"
    parts = []
    begin = before = numbers[0]
    for number in [*numbers[1:], -1]:
        if number != before + 1:
            first, last = f"{begin:0{width}d}", f"{before:0{width}d}"
            parts.append(first if begin == before else f"{first}-{last}")
            begin = number
        before = number
    return f"[{','.join(parts)}]"
