"""Columns of whole numbers as bytes: variable-length, as small as the numbers are; ``decode.js`` reads them.

A number takes a byte for each seven of its bits, the lowest first; the highest bit of a byte says that another one
follows (LEB128, as in DWARF and WebAssembly). A column with negative numbers is folded first (zigzag: 0, -1, 1, -2
become 0, 1, 2, 3). Columns follow each other, compressed by gzip and written in base64. A header says of each table
which columns it has, and how long each is.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]
#: JavaScript's numbers are whole up to here.
LARGEST = 2**53 - 1
#: Of zlib: gzip, with a header that has no time, and a window of 32 kB.
_GZIP = 16 + 15


def pack_numbers(values: Whole) -> bytes:
    """Return numbers from 0 to `LARGEST` as bytes.

    Raises:
        ValueError: one is outside of that.
    """
    if len(values) == 0:
        return b""
    if int(values.min()) < 0 or int(values.max()) > LARGEST:
        raise ValueError(f"expected numbers from 0 to {LARGEST}")
    lengths = np.ones(len(values), dtype=np.int64)
    rest = values >> 7
    while rest.any():
        lengths += rest > 0
        rest >>= 7
    ends = np.cumsum(lengths)
    begins = ends - lengths
    out = np.zeros(int(ends[-1]), dtype=np.uint8)
    rest = values.copy()
    for place in range(int(lengths.max())):
        has = lengths > place
        more = lengths[has] > place + 1
        out[begins[has] + place] = (rest[has] & 0x7F) | (more.astype(np.int64) << 7)
        rest >>= 7
    return out.tobytes()


def fold_signs(values: Whole) -> Whole:
    """Return numbers without a sign: 0, -1, 1, -2 become 0, 1, 2, 3."""
    return np.asarray((values << 1) ^ (values >> 63), dtype=np.int64)


def steps(values: Whole) -> Whole:
    """Return the first number and the differences of the others to the one before."""
    return np.diff(values, prepend=0).astype(np.int64)


def written(tables: Iterable[Iterable[tuple[str, Whole]]]) -> dict[str, Any]:
    """Return tables of named columns of numbers from 0 to `LARGEST` as a page holds them, of types that JSON has."""
    told: list[list[list[str | int]]] = []
    # Compressed one by one: all columns together would take several times the memory of the page.
    packer = zlib.compressobj(6, wbits=_GZIP)
    content = bytearray()
    for columns in tables:
        told.append([])
        for name, values in columns:
            told[-1].append([name, len(values)])
            content += packer.compress(pack_numbers(values))
    content += packer.flush()
    return {"streams": told, "bytes": base64.b64encode(content).decode()}
