"""Files that C writes block by block."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

#: Bytes that are made and written together, unless a row is longer.
_ROOM = 1 << 20


def write_rows(count: int, write: Callable[[memoryview], None], make: Callable[..., int], *given: object) -> None:
    """Write so many rows: a function in C makes as many of them as there is room for.

    `make` calls it. It is given, behind what is `given`: the first row, the one behind the last, bytes to write into
    and their number, and an array in which it says how many it has written. It returns the row behind those that it has
    made.
    """
    out, used, row = np.empty(_ROOM, dtype=np.uint8), np.zeros(1, dtype=np.int64), 0
    while row < count:
        behind = make(*given, row, count, out, len(out), used)
        if behind == row:
            out = np.empty(2 * len(out), dtype=np.uint8)
        write(out.data[: int(used[0])])
        row = behind
