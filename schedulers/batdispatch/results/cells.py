"""A block of CSV text taken apart at once: where its fields stand, and the numbers and texts in them, in C.

Only plain text is taken apart: every line has all fields, and quotes stand around whole fields that hold none. Anything
else is for Python's csv module.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from batdispatch.native.library import load
from batdispatch.native.record import Record, call, structure_of


class JobCells(Record):
    """What native/job_cells.c reads, and where to, see there."""

    kinds, _fields_ = structure_of("job_cells.c", "JobCells")


class Cells:
    """The fields of a block of lines, in those columns that were asked for."""

    def __init__(self, block: bytes, record: JobCells, rows: int, numbers: list[int], words: list[int]) -> None:
        self._text: str | bytes = block.decode() if block.isascii() else block
        self._record, self._rows, self._columns, self._words = record, rows, numbers, words

    def __len__(self) -> int:
        return self._rows

    def numbers(self, read: Callable[[Sequence[str]], NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return the numbers, float64 [row, column of numbers]; NaN for empty fields.

        Args:
            read: reads those that are not just digits with a point among them.
        """
        arrays, odds = self._record.arrays, self._record.odds
        values = arrays["numbers"].reshape(len(self._columns), -1)[:, : self._rows].T
        if odds:
            rows, columns, begins, ends = (
                arrays[f"odd_{name}"][:odds] for name in ("rows", "numbers", "begins", "ends")
            )
            values[rows, columns] = read(self._taken(begins, ends))
        return values

    def texts(self, column: int) -> list[str]:
        """Return the texts in a column."""
        begins, ends, _ = self._stretches(column)
        return self._taken(begins, ends)

    def shared_texts(self, column: int, known: dict[str, str]) -> NDArray[np.object_]:
        """Return the texts in a column that many rows share, object [row].

        Args:
            column: of the fields.
            known: text -> the same text, of which one object is kept; new ones are added.
        """
        begins, ends, again = self._stretches(column)
        first = np.flatnonzero(again == 0)
        texts = np.array(kept_once(self._taken(begins[first], ends[first]), known), dtype=np.object_)
        return np.repeat(texts, np.diff(first, append=self._rows))

    def _stretches(self, column: int) -> tuple[Any, ...]:
        """Return where the texts of a column begin and end, and whether each is that of the row before."""
        place = self._words.index(column)
        arrays = (self._record.arrays[name] for name in ("begins", "ends", "again"))
        return tuple(array.reshape(len(self._words), -1)[place, : self._rows] for array in arrays)

    def _taken(self, begins: NDArray[np.int64], ends: NDArray[np.int64]) -> list[str]:
        """Return stretches of the block."""
        text, bounds = self._text, zip(begins.tolist(), ends.tolist(), strict=True)
        if isinstance(text, bytes):
            return [text[begin:end].decode() for begin, end in bounds]
        return [text[begin:end] for begin, end in bounds]


def kept_once(texts: list[str], known: dict[str, str]) -> list[str]:
    """Return the texts, as `known` has them; new ones are added."""
    return list(map(known.setdefault, texts, texts))


def cells_of(block: bytes, columns: int, numbers: list[int], words: list[int]) -> Cells | None:
    """Return the fields of a block of whole lines, or None if it is not plain, or nothing is there that C was built to.

    Args:
        block: the lines, each with its newline.
        columns: number of fields of a line.
        numbers: columns of numbers.
        words: columns of texts.

    Raises:
        UnicodeDecodeError: it is not UTF-8.
    """
    if not block.isascii():
        block.decode()
    if load() is None:
        return None
    room = block.count(b"\n")
    record = JobCells(bytes=len(block), columns=columns, room=room)
    record.hold(text=np.frombuffer(block, dtype=np.uint8))
    for name, asked in (("number", numbers), ("word", words)):
        places = np.full(columns, -1, dtype=np.int64)
        places[asked] = np.arange(len(asked))
        record.hold(**{name: places})
    # Memory that is never written is never taken.
    record.lengthen(0, room * len(numbers), "numbers", "odd_rows", "odd_numbers", "odd_begins", "odd_ends")
    record.lengthen(0, room * len(words), "begins", "ends", "again")
    rows = int(call("read_cells", record))
    return None if rows < 0 else Cells(block, record, rows, numbers, words)
