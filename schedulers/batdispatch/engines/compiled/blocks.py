"""Files that C writes block by block."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from batdispatch.engines.compiled.state import Ints

#: Bytes that are made and written together, unless a row is longer.
_ROOM = 1 << 20

Writer = Callable[[int, NDArray[np.uint8], Ints], int]


def write_rows(count: int, write: Callable[[memoryview], None], make: Writer) -> None:
    """Write so many rows, of which `make` makes as many as there is room for, and returns the row behind them."""
    out, used, row = np.empty(_ROOM, dtype=np.uint8), np.zeros(1, dtype=np.int64), 0
    while row < count:
        behind = make(row, out, used)
        if behind == row:
            out = np.empty(2 * len(out), dtype=np.uint8)
        write(out.data[: int(used[0])])
        row = behind
