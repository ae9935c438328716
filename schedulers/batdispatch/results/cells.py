"""A block of CSV text taken apart at once: where its fields stand, and the numbers and texts in them.

Only plain text is taken apart: every line has all fields, and quotes stand around whole fields that hold neither quotes
nor commas. Anything else is for Python's csv module.

Eight digits that stand one behind the other are one 64-bit word, and three multiplications make a number of them [1].

References:
    [1] Lemire, "Number parsing at a gigabyte per second", Software: Practice and Experience 51(8), 2021, section 5.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

_COMMA, _NEWLINE, _QUOTE, _POINT, _MINUS = b',\n".-'
_WORD = 8
#: Stands before the text, so that every field has a word before its end.
_FRONT = b"0" * _WORD
#: Digits behind the point in the numbers that Batsim writes.
_DIGITS = 6
#: Up to here a whole number is exactly a float, so that the quotient of it and a power of ten is rounded once.
_EXACT = 1 << 53

_U = np.uint64
_ZEROS, _HIGH, _ABOVE_9 = _U(0x3030303030303030), _U(0x8080808080808080), _U(0x7676767676767676)
#: So many different texts of up to so many bytes are looked for together.
_FEW, _SHORT = 5, 32

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


@dataclass(frozen=True)
class Cells:
    """The fields of a block of lines.

    Attributes:
        text: the block as a text, or as UTF-8 if it is not ASCII.
        starts: position of each field's first byte, int64 [row, column].
        ends: position behind its last byte, int64 [row, column].
    """

    text: str | bytes
    starts: Ints
    ends: Ints
    #: `_FRONT` and the block.
    _framed: NDArray[np.uint8]
    #: The word that ends before each byte of the block.
    _words: Words

    def numbers(self, columns: list[int]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the numbers in some columns and where they could be read, both [row, column of these].

        Those are whole numbers of up to 16 digits, numbers with six digits behind the point and up to 15 in all, and
        empty fields, which are NaN. The numbers are those that ``float`` reads.
        """
        starts, ends = self.starts[:, columns], self.ends[:, columns]
        signed = (self._framed[starts + _WORD] == _MINUS) & (ends > starts)
        length = ends - starts - signed
        pointed = (length > _DIGITS + 1) & (self._framed[ends + _WORD - _DIGITS - 1] == _POINT)
        behind = np.where(pointed, _DIGITS, 0)
        fraction, fine = self._whole(ends, behind)
        behind += pointed
        whole, digits = self._whole(ends - behind, length - behind)
        fine &= digits
        scaled = whole * 10**_DIGITS + fraction
        fine &= ~pointed | (whole < _EXACT // 10**_DIGITS)
        values = np.where(pointed, scaled / 1e6, whole)
        np.negative(values, where=signed, out=values)
        fine &= (length > 0) | ~signed
        values[length == 0] = np.nan
        return values, fine

    def take(self, rows: NDArray[np.bool_]) -> Cells:
        """Return the fields of the lines where a mask holds."""
        return replace(self, starts=self.starts[rows], ends=self.ends[rows])

    def _whole(self, ends: Ints, length: Ints) -> tuple[Ints, NDArray[np.bool_]]:
        """Return the whole numbers of so many bytes before some positions, and whether these were digits."""
        value, fine = _read(self._words[ends], np.minimum(length, _WORD))
        long = length > _WORD
        if long.any():
            fine &= length <= 2 * _WORD
            more, digits = _read(self._words[np.where(long, ends - _WORD, 0)], np.clip(length - _WORD, 0, _WORD))
            value += more * 10**_WORD
            fine &= digits
        return value, fine

    def texts(self, column: int) -> list[str]:
        """Return the texts in a column."""
        starts, ends = self.starts[:, column], self.ends[:, column]
        text = self.text
        if isinstance(text, bytes):
            return [text[start:end].decode() for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
        return [text[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]

    def shared_texts(self, column: int, known: dict[str, str]) -> list[str]:
        """Return the texts in a column that many rows share; equal ones are looked for together where they are few.

        Args:
            column: of the fields.
            known: text -> the same text, of which one object is kept; new ones are added.
        """
        ends = self.ends[:, column]
        length = ends - self.starts[:, column]
        longest = int(length.max(initial=0))
        if longest > _SHORT:
            return kept_once(self.texts(column), known)
        # Words from the last one on; what is before the text becomes zeros.
        words = [
            _last(self._words[np.maximum(ends - at, 0)], np.clip(length - at, 0, _WORD))
            for at in range(0, longest, _WORD)
        ]
        code = np.full(len(ends), -1)
        found: list[str] = []
        left = np.flatnonzero(code < 0)
        while len(left):
            if len(found) == _FEW:
                return kept_once(self.texts(column), known)
            first = int(left[0])
            same = length == length[first]
            for word in words:
                same &= word == word[first]
            code[same] = len(found)
            found += kept_once(self.take(np.arange(len(ends)) == first).texts(column), known)
            left = np.flatnonzero(code < 0)
        return [found[index] for index in code.tolist()]


def kept_once(texts: list[str], known: dict[str, str]) -> list[str]:
    """Return the texts, as `known` has them; new ones are added."""
    return list(map(known.setdefault, texts, texts))


def cells_of(block: bytes, columns: int) -> Cells | None:
    """Return the fields of a block of whole lines, or None if it is not plain.

    Args:
        block: the lines, each with its newline.
        columns: number of fields of a line.

    Raises:
        UnicodeDecodeError: it is not UTF-8.
    """
    ascii_only = block.isascii()
    text = block.decode()
    rows = block.count(b"\n")
    if b"\r" in block:
        return None
    framed = np.frombuffer(_FRONT + block, dtype=np.uint8)
    data = framed[_WORD:]
    stops = np.flatnonzero((data == _COMMA) | (data == _NEWLINE))
    if len(stops) != rows * columns:
        return None
    ends = stops.reshape(rows, columns)
    if not (data[ends[:, -1]] == _NEWLINE).all():
        return None
    starts = np.empty_like(ends)
    starts.flat[0] = 0
    starts.reshape(-1)[1:] = stops[:-1] + 1
    quotes = block.count(b'"')
    if quotes:
        quoted = (data[starts] == _QUOTE) & (data[ends - 1] == _QUOTE) & (ends - starts >= 2)
        # Every such field has two quotes at least; so they have no others, and no other field has any.
        if 2 * int(np.count_nonzero(quoted)) != quotes:
            return None
        starts += quoted
        ends = ends - quoted
    words: Words = np.ndarray((len(framed) - _WORD + 1,), dtype="<u8", buffer=framed, strides=(1,))
    return Cells(text if ascii_only else block, starts, ends, framed, words)


def _last(word: Words, length: Ints) -> Words:
    """Return words of which only the last 0 to 8 bytes are left."""
    # The first byte is the lowest. A shift by 64 leaves nothing.
    unused = ((_WORD - length) * 8).astype(np.uint64)
    return (word >> unused) << unused


def _read(word: Words, length: Ints) -> tuple[Ints, NDArray[np.bool_]]:
    """Return the numbers that the last 0 to 8 bytes of words stand for, and whether they are digits."""
    word = _last(word ^ _ZEROS, length)
    fine = ((word + _ABOVE_9) | word) & _HIGH == 0
    word = (word * _U(10 * (1 << 8) + 1)) >> _U(8)
    word = ((word & _U(0x00FF00FF00FF00FF)) * _U(100 * (1 << 16) + 1)) >> _U(16)
    word = ((word & _U(0x0000FFFF0000FFFF)) * _U(10000 * (1 << 32) + 1)) >> _U(32)
    return word.astype(np.int64), fine
