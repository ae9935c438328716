"""Names of hosts in short, as Slurm writes them: ``n[01-48,60],login1``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence

from batdispatch.core.errors import InputError

#: Most hosts that a machine may have: a text of a few characters must not exhaust the memory.
MAX_HOSTS = 1_000_000
#: Most brackets of one text.
_MOST_BRACKETS = 20
_BRACKETS = re.compile(r"\[([0-9,\-]*)\]", re.ASCII)
_NUMBERED = re.compile(r"(.*?)(\d{1,15})(\D*)", re.ASCII | re.DOTALL)


def expand(*texts: str) -> Iterator[str]:
    """Yield the names that texts stand for; numbers keep their leading zeros. Several brackets are all combined.

    The names are made one by one. To refuse a host that is not there costs no more than the hosts that are.

    Raises:
        InputError: brackets hold something else than numbers and ranges, or the texts so far stand for more than
            `MAX_HOSTS` names. Nothing is yielded of the text that is wrong.
    """
    left = MAX_HOSTS
    for text in texts:
        pieces, ranges = _parts(text)
        left -= math.prod(sum(last - first + 1 for first, last, _ in each) for each in ranges)
        if left < 0:
            raise InputError(f"{text[:60]!r} stands for too many hosts, expected at most {MAX_HOSTS:,}")
        yield from _combine(pieces[0], ranges, pieces[1:])


def _parts(text: str) -> tuple[list[str], list[list[tuple[int, int, int]]]]:
    """Return the texts around the brackets, and for each of these its ranges: (first, last, number of digits)."""
    pieces = _BRACKETS.split(text)
    if any("[" in piece or "]" in piece for piece in pieces[::2]) or len(pieces) > 2 * _MOST_BRACKETS:
        raise InputError(f"{text[:60]!r} is no list of hosts, expected brackets such as n[0-3,7]")
    return pieces[::2], [[_range(part, text) for part in inside.split(",")] for inside in pieces[1::2]]


def _range(part: str, text: str) -> tuple[int, int, int]:
    first, dash, last = part.partition("-")
    last = last if dash else first
    if not (first.isdigit() and last.isdigit()) or len(last) > 15 or int(last) < int(first):
        raise InputError(f"{text[:60]!r}: found {part[:30]!r} in brackets, expected a number or a range such as 0-3")
    return int(first), int(last), len(first)


def _combine(head: str, ranges: Sequence[Sequence[tuple[int, int, int]]], tails: Sequence[str]) -> Iterator[str]:
    if not ranges:
        yield head
        return
    for first, last, digits in ranges[0]:
        for number in range(first, last + 1):
            yield from _combine(f"{head}{number:0{digits}d}{tails[0]}", ranges[1:], tails[1:])


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


def split_list(text: str) -> Iterator[str]:
    """Yield the parts of a list between commas that stand in no brackets."""
    depth, begin = 0, 0
    for position, letter in enumerate(text):
        if letter in "[(":
            depth += 1
        elif letter in "])":
            depth -= 1
        elif letter == "," and depth == 0:
            yield text[begin:position]
            begin = position + 1
    yield text[begin:]
