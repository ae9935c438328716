"""Many numbers as decimal texts at once, exactly as Python's formats write them.

A column of texts is a matrix of bytes, uint8 [text, byte], in which bytes that are zero do not count: a text may be
shorter than its row, and stand anywhere in it. Matrices side by side are one column again, and `join_texts` reads it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Texts = NDArray[np.uint8]
Floats = NDArray[np.float64]

#: From here on, the millionths of a number are beyond the whole numbers that floats hold.
_LARGE = 2.0**33
#: A number of millionths this close to a half is rounded by Python. The product that it comes from is off by 6e-11.
_NEAR = 1e-9
_MILLION = 1_000_000


def _words(front: str, *, pad: str = "0") -> NDArray[np.uint32]:
    """Return 0 to 999 as words of four bytes: `front` and three digits, or as few as it takes if `pad` is empty."""
    texts = [front + (f"{number:03}" if pad else f"{number:\0>3}") for number in range(1000)]
    return np.frombuffer("".join(text.rjust(4, "\0") for text in texts).encode(), dtype=np.uint32)


#: Three digits; with a point before them; at the front of a number, where zeros are left out.
_THREE, _BEHIND, _FRONT = _words(""), _words("."), _words("", pad="")
#: By number + 1000 * whether nothing stands before it, for digits that are not the last ones of a number, and the last.
_UPPER, _LAST = np.concatenate((_THREE, _FRONT)), np.concatenate((_THREE, _FRONT))
_UPPER[1000] = 0
_MINUS = np.frombuffer(b"\0\0\0-", dtype=np.uint32)[0]


def _digits(numbers: NDArray[np.integer]) -> list[NDArray[np.uint32]]:
    """Return whole numbers from 0, three digits a word, the first ones first."""
    found: list[NDArray[np.uint32]] = []
    rest, table = numbers, _LAST
    while not found or rest.any():
        rest, last = np.divmod(rest, 1000)
        found.insert(0, table[last + 1000 * (rest == 0)])
        table = _UPPER
    return found


def _bytes_of(words: Sequence[NDArray[np.uint32]]) -> Texts:
    found: Texts = np.stack(words, axis=1).view(np.uint8)
    return found


def whole(numbers: NDArray[np.integer]) -> Texts:
    """Return the texts of whole numbers from 0."""
    return _bytes_of(_digits(numbers))


def six_digits(numbers: Floats) -> tuple[Texts, Floats]:
    """Return numbers with six digits behind the point, as ``%.6f`` writes them, and what ``float`` reads there.

    Numbers whose rounding is a matter of their last bit, very large ones and those that are not finite are written one
    by one.
    """
    negative = np.signbit(numbers)
    size = np.abs(numbers)
    with np.errstate(invalid="ignore", over="ignore"):
        before = np.floor(size)
        scaled = (size - before) * 1e6
        near = np.rint(scaled)
        sure = (size < _LARGE) & (np.abs(np.abs(scaled - near) - 0.5) > _NEAR)
        millionths = np.where(sure, before * 1e6 + near, 0.0).astype(np.int64)
    seconds, rest = np.divmod(millionths, _MILLION)
    high, low = np.divmod(rest, 1000)
    words = [np.where(negative, _MINUS, np.uint32(0)), *_digits(seconds), _BEHIND[high], _THREE[low]]
    found = _bytes_of(words)
    values = np.where(negative, -(millionths / 1e6), millionths / 1e6)
    odd = {row: f"{numbers[row]:.6f}".encode() for row in np.flatnonzero(~sure).tolist()}
    if odd:
        width = max(found.shape[1], *map(len, odd.values()))
        found = np.pad(found, ((0, 0), (0, width - found.shape[1])))
    for row, text in odd.items():
        values[row] = float(text)
        found[row] = 0
        found[row, : len(text)] = np.frombuffer(text, dtype=np.uint8)
    return found, values


def significant(numbers: Floats, digits: int) -> Texts:
    """Return numbers with so many significant digits, as ``%.Ng`` writes them; quickly where all are whole."""
    if ((numbers >= 0) & (numbers < 10**digits) & (numbers == np.floor(numbers)) & ~np.signbit(numbers)).all():
        return whole(numbers.astype(np.int64))
    return chosen([f"{number:.{digits}g}" for number in numbers.tolist()], np.arange(len(numbers)))


def constant(text: str, rows: int) -> Texts:
    """Return a text in every row; it is ASCII without a zero."""
    return np.broadcast_to(np.frombuffer(text.encode("ascii"), dtype=np.uint8), (rows, len(text)))


def chosen(texts: Sequence[str], which: NDArray[np.integer]) -> Texts:
    """Return for each row one of some texts, which are ASCII without a zero."""
    known = np.array([text.encode("ascii") for text in texts])
    found: Texts = known.view(np.uint8).reshape(len(texts), -1)[which]
    return found


def join_texts(*columns: Texts) -> bytes:
    """Return the texts of columns side by side, row after row, with nothing in between."""
    together = np.concatenate(columns, axis=1)
    data: bytes = together[together != 0].tobytes()
    return data
