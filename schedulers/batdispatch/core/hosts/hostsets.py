"""Many host sets at once: Batsim's notation (``0-3 5``) of a whole column, as arrays of intervals.

A log of 300,000 jobs has millions of intervals; reading them one by one takes longer than everything else in a report.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.errors import InputError
from batdispatch.core.hosts import hostset

_MAX_DIGITS = 9
#: Host sets read together: enough for numpy, and few enough that what is in between takes little memory.
BLOCK = 1 << 13


def ranges(begins: NDArray[np.integer], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return so many numbers from each beginning on, one range behind the other, int64."""
    return np.repeat(begins - (np.cumsum(lengths) - lengths), lengths) + np.arange(int(lengths.sum()))


@dataclass(frozen=True)
class Intervals:
    """The intervals of many host sets, in order of row and then as written.

    Attributes:
        first: lowest host id, int32 [interval].
        last: highest host id, inclusive, int32 [interval].
        row: position of the host set the interval belongs to, int32 [interval], ascending.
        rows: number of host sets.
    """

    first: NDArray[np.int32]
    last: NDArray[np.int32]
    row: NDArray[np.int32]
    rows: int

    @property
    def length(self) -> NDArray[np.int64]:
        """Number of hosts in each interval, int64 [interval]."""
        return np.subtract(self.last, self.first, dtype=np.int64) + 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of hosts in each set, int64 [row] (a host written twice counts twice)."""
        return np.bincount(self.row, weights=self.length, minlength=self.rows).astype(np.int64)

    @property
    def runs(self) -> NDArray[np.int64]:
        """Number of maximal runs of consecutive host ids in each set, int64 [row]."""
        first, last, row = self.first, self.last, self.row
        inside = row[1:] == row[:-1]
        if bool((inside & (first[1:] < first[:-1])).any()):
            order = np.lexsort((first, row))
            first, last = first[order], last[order]
        # People may write 0-3 4, which is one run of two intervals.
        joined = inside & (first[1:] <= last[:-1] + 1)
        counts = np.bincount(row, minlength=self.rows) - np.bincount(row[1:][joined], minlength=self.rows)
        return counts.astype(np.int64)

    def blocks(self) -> Iterator[tuple[int, Intervals]]:
        """Yield the intervals in blocks of `BLOCK`, each with the position of its first."""
        for low in range(0, len(self.row), BLOCK):
            part = slice(low, low + BLOCK)
            yield low, Intervals(self.first[part], self.last[part], self.row[part], self.rows)

    def bounds(self) -> NDArray[np.int64]:
        """Return offsets, int64 [row + 1]: the intervals of row ``i`` are ``bounds[i]:bounds[i + 1]``."""
        return np.searchsorted(self.row, np.arange(self.rows + 1, dtype=self.row.dtype)).astype(np.int64)

    def of_rows(self, rows: NDArray[np.int64]) -> Intervals:
        """Return the host sets of some rows, in the order of these."""
        bounds = self.bounds()
        return Intervals.of_runs(self.first, self.last, bounds[rows], bounds[rows + 1] - bounds[rows])

    @classmethod
    def of_runs(
        cls, first: NDArray[np.int32], last: NDArray[np.int32], at: NDArray[np.int64], runs: NDArray[np.int64]
    ) -> Intervals:
        """Return host sets, each of which is so many of some intervals in a row.

        Args:
            first: lowest host id, int32 [interval].
            last: highest host id, inclusive, int32 [interval].
            at: where the intervals of each set begin, int64 [set].
            runs: how many it has, int64 [set].
        """
        index = ranges(at, runs)
        row = np.repeat(np.arange(len(runs), dtype=np.int32), runs)
        return cls(first[index], last[index], row, len(runs))

    def by_rows(self, rows: NDArray[np.int64]) -> Iterator[tuple[int, int, int]]:
        """Yield ``(row, first, last)`` of the intervals of some rows, in the order of these.

        They come as Python's numbers, few of them at a time: all of them would take more memory than the arrays.
        """
        bounds = self.bounds()
        for low in range(0, len(rows), BLOCK):
            each = rows[low : low + BLOCK]
            counts = bounds[each + 1] - bounds[each]
            index = ranges(bounds[each], counts)
            columns = (np.repeat(each, counts), self.first[index], self.last[index])
            yield from zip(*(column.tolist() for column in columns), strict=True)

    def hosts(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return ``(host, row)`` [host slot]: every host of every set, in the order of the intervals."""
        return ranges(self.first, self.length), np.repeat(self.row, self.length)

    def texts(self) -> list[str]:
        """Return each set in Batsim's notation, as `parse_many` reads it."""
        pairs = zip(self.first.tolist(), self.last.tolist(), strict=True)
        runs = [str(first) if first == last else f"{first}-{last}" for first, last in pairs]
        return [" ".join(runs[begin:end]) for begin, end in pairwise(self.bounds().tolist())]


def join_columns(parts: Sequence[Intervals]) -> Intervals:
    """Return the host sets of several columns, one column behind the other; there is one at least."""
    before = np.cumsum([0, *(part.rows for part in parts)]).tolist()
    return Intervals(
        np.concatenate([part.first for part in parts]),
        np.concatenate([part.last for part in parts]),
        np.concatenate([part.row + np.int32(shift) for part, shift in zip(parts, before[:-1], strict=True)]),
        before[-1],
    )


def parse_many(texts: Sequence[str] | NDArray[Any]) -> Intervals:
    """Read a column of host sets; an empty text is an empty set. About 10 million intervals a second.

    Raises:
        InputError: a text is not a set of ascending intervals of ids up to ``hostset.MAX_HOST_ID``.
    """
    # Bytes that grow, so that nothing is there twice.
    first, last, row = bytearray(), bytearray(), bytearray()
    for low in range(0, len(texts), BLOCK):
        part = _parse(texts[low : low + BLOCK])
        if part is None:
            _explain(texts)
            raise InputError("a host set is malformed")
        first += part.first.tobytes()
        last += part.last.tobytes()
        row += (part.row + np.int32(low)).tobytes()
    columns = [np.frombuffer(column, dtype=np.int32) for column in (first, last, row)]
    return Intervals(columns[0], columns[1], columns[2], len(texts))


def _parse(texts: Sequence[str] | NDArray[Any]) -> Intervals | None:
    """Read some host sets; return None if one is malformed."""
    data = np.frombuffer("".join([text + "\n" for text in texts]).encode(), dtype=np.uint8)
    digit = (data >= ord("0")) & (data <= ord("9"))
    dash = data == ord("-")
    newline = data == ord("\n")
    known = digit | dash | newline | (data == ord(" ")) | (data == ord(","))
    starts = np.flatnonzero(digit & ~np.concatenate(([False], digit[:-1])))
    ends = np.flatnonzero(digit & ~np.concatenate((digit[1:], [False]))) + 1
    # Every text ends in a newline, so a dash always has a character after it; the first one may lack one before it.
    dashes = np.flatnonzero(dash)
    upper = np.zeros(len(starts), dtype=bool)
    fine = bool(known.all()) and int(newline.sum()) == len(texts)
    if fine and len(dashes):
        fine = bool(dashes[0] > 0) and bool((digit[dashes - 1] & digit[dashes + 1]).all())
        upper[1:] = dash[starts[1:] - 1]
        fine = fine and not bool((upper[1:] & upper[:-1]).any())
    if not fine or (len(starts) and int((ends - starts).max()) > _MAX_DIGITS):
        return None
    # Of up to nine digits.
    values = np.zeros(len(starts), dtype=np.int32)
    for position in range(int((ends - starts).max(initial=0))):
        inside = starts + position < ends
        values[inside] = values[inside] * 10 + (data[starts[inside] + position] - ord("0"))
    line = np.cumsum(newline)[starts] if len(starts) else np.zeros(0, dtype=np.int64)
    first = values[~upper]
    last = first.copy()
    last[np.cumsum(~upper)[upper] - 1] = values[upper]
    if bool((last < first).any()) or int(last.max(initial=0)) > hostset.MAX_HOST_ID:
        return None
    return Intervals(first, last, line[~upper].astype(np.int32), len(texts))


def _explain(texts: Sequence[str] | NDArray[Any]) -> None:
    """Find the text that is wrong and say what is wrong with it; the row number is its place."""
    for row, text in enumerate(texts):
        try:
            hostset.from_text(text)
            if set(text) - set("0123456789-, "):
                raise InputError(f"host set {text[:80]!r}: only digits, '-', spaces and commas are expected")
        except InputError as problem:
            raise InputError(str(problem)[:300], place=f"row {row}") from None
