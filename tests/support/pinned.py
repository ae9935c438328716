"""Lines of nodes with pinned jobs, for tests and benchmarks of `pinned-io`."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.solvers.pinned_io.ranges import Ranges
from batdispatch.abilities.solvers.solving import Limits
from batdispatch.core.machine.machine import Host, Machine

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
LIMITS = Limits(work=100_000, wall=60.0)


class Pinned(NamedTuple):
    """Jobs on a line of `nodes` compute nodes."""

    nodes: int
    ranges: list[Ranges]
    durations: Floats


def machine_of(order: str) -> Machine:
    """Return the machine whose hosts stand in an order such as ``CCIC``: C computes, I is an I/O node."""
    return Machine([Host(id=i, name=f"n{i}", storage=mark == "I") for i, mark in enumerate(order)])


def ranges_at(gap: int, size: int, nodes: int) -> Ranges:
    """Return the ranges of `size` nodes that touch the gap before node `gap`, within a line of `nodes` nodes."""
    starts = np.arange(max(0, gap - size), min(gap, nodes - size) + 1, dtype=np.int64)
    return Ranges(starts, starts + size)


def random_instance(rng: np.random.Generator, *, nodes: int = 24, jobs: int = 30, gaps: int = 4) -> Pinned:
    """Return at most so many jobs at at most so many I/O nodes of a line of at most so many nodes."""
    nodes = int(rng.integers(1, nodes + 1))
    places = rng.integers(0, nodes + 1, size=int(rng.integers(1, gaps + 1)))
    count = int(rng.integers(1, jobs + 1))
    sizes = rng.integers(1, rng.integers(1, nodes + 1) + 1, size=count)
    longest = int(rng.integers(1, 31))
    return Pinned(
        nodes,
        [ranges_at(int(gap), int(size), nodes) for gap, size in zip(rng.choice(places, count), sizes, strict=True)],
        rng.integers(1, longest + 1, size=count).astype(np.float64),
    )


def naive_load(nodes: int, starts: Sequence[int] | Ints, stops: Sequence[int] | Ints, durations: Floats) -> list[float]:
    """Return the sum of the durations of the jobs on each node."""
    return [
        sum(float(p) for a, b, p in zip(starts, stops, durations, strict=True) if a <= node < b)
        for node in range(nodes)
    ]


def conflicts(times: Floats, starts: Ints, stops: Ints, durations: Floats) -> list[tuple[int, int]]:
    """Return the pairs of jobs that use a node together for more than a rounding."""
    found = []
    for one in range(len(times)):
        for other in range(one):
            together = min(times[one] + durations[one], times[other] + durations[other]) - max(times[one], times[other])
            if starts[one] < stops[other] and starts[other] < stops[one] and together > 1e-6:
                found.append((other, one))
    return found
