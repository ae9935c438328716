"""Few cells that are near all I/O nodes of a job."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

#: Most branches of the search for a smallest set; jobs pin few I/O nodes, and few cells are near each of them.
_STEPS = 20_000


def hits(near: Sequence[NDArray[np.bool_]], among: NDArray[np.bool_], most: int) -> list[int] | None:
    """Return at most so many cells of which one is near each I/O node, or None.

    Cells near the most I/O nodes are taken first; if these are too many cells, all choices are tried.

    Args:
        near: for each I/O node, bool [cell].
        among: bool [cell], those that may be used.
        most: number of cells.
    """
    wanted = [frozenset((one & among).nonzero()[0].tolist()) for one in near]
    if not all(wanted):
        return None
    chosen: list[int] = []
    left = wanted
    while left:
        cells = sorted(frozenset().union(*left))
        best = max(cells, key=lambda cell: sum(cell in one for one in left))
        chosen.append(best)
        left = [one for one in left if best not in one]
    return chosen if len(chosen) <= most else _branch(wanted, most, [_STEPS])


def can_hit(near: Sequence[NDArray[np.bool_]], among: NDArray[np.bool_], most: int) -> bool:
    """Return whether there may be such cells as `hits` looks for; False: all choices were tried, and there are none."""
    steps = [_STEPS]
    wanted = [frozenset((one & among).nonzero()[0].tolist()) for one in near]
    return _branch(wanted, most, steps) is not None or steps[0] < 0


def _branch(wanted: list[frozenset[int]], most: int, steps: list[int]) -> list[int] | None:
    if not wanted:
        return []
    steps[0] -= 1
    if not most or steps[0] < 0:
        return None
    fewest = min(range(len(wanted)), key=lambda index: len(wanted[index]))
    for cell in sorted(wanted[fewest]):
        found = _branch([one for one in wanted if cell not in one], most - 1, steps)
        if found is not None:
            return [cell, *found]
    return None
