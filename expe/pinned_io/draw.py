"""Jobs at the I/O nodes of a line, drawn at random."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.solvers.pinned_io.ranges import Ranges

#: Compute nodes between two I/O nodes of a line.
EVERY = 25


class Drawn(NamedTuple):
    """Jobs on a line of `nodes` compute nodes; durations in seconds."""

    nodes: int
    ranges: list[Ranges]
    durations: NDArray[np.float64]


def draw(rng: np.random.Generator, *, jobs: int, largest: int, nodes: int = 1000, powers: bool = False) -> Drawn:
    """Return jobs at I/O nodes that stand in the middle of each `EVERY` compute nodes.

    The logarithm of a job's size is uniform up to that of `largest` nodes; the size is rounded down to a whole number
    or, with `powers`, to a power of two. Durations are lognormal, with a median of 18 minutes and a mean of 56.
    """
    gaps = rng.choice(np.arange(EVERY // 2, nodes, EVERY), jobs)
    logarithms = rng.uniform(0.0, np.log2(largest + 1), jobs)
    sizes = np.exp2(np.floor(logarithms) if powers else logarithms).astype(np.int64)
    durations = np.ceil(np.exp(rng.normal(7.0, 1.5, jobs)))
    known: dict[tuple[int, int], Ranges] = {}
    for gap, size in zip(gaps.tolist(), sizes.tolist(), strict=True):
        if (gap, size) not in known:
            starts = np.arange(max(0, gap - size), min(gap, nodes - size) + 1, dtype=np.int64)
            known[gap, size] = Ranges(starts, starts + size)
    ranges = [known[gap, size] for gap, size in zip(gaps.tolist(), sizes.tolist(), strict=True)]
    return Drawn(nodes, ranges, durations)
