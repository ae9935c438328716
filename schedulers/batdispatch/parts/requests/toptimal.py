"""TOptimal: the sequence of least expected cost for a job that is alone on its processors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.errors import InputError
from batdispatch.parts.requests.base import Requests
from batdispatch.parts.requests.cost import RESERVED, Price
from batdispatch.parts.requests.laws import Empirical, Floats, Law
from batdispatch.parts.requests.refine import increasing_minimum

#: Most grid points of the dynamic program.
MAX_GRID = 20_000


class TOptimal(Requests):
    """Least expected time reserved, as if the job were alone (Aupy et al., IPDPS 2019).

    Exact on a grid of the law's support by dynamic programming, O(n^2), and, unless a grid is asked for, refined to the
    continuous optimum.
    """

    def sequence(self, law: Law, zeta: float = 0.0, history: Sequence[float] = ()) -> tuple[float, ...]:
        if self.settings.grid is not None:
            return toptimal_on_grid(law, self.settings.grid)
        return toptimal(law)


def toptimal_on_grid(law: Law, n: int = 200, price: Price = RESERVED) -> tuple[float, ...]:
    """Return the optimal sequence among those on the grid a + i (b - a) / n; the last request is b.

    For an empirical law of at most `n` different run times the grid is those, and the optimum is that of all sequences.
    With f_i the mass of cell i, R_i = sum_{k>=i} f_k and E_{n+1} = 0,

        E_i = min_{j>=i} R_i (alpha v_j + gamma) + beta (sum_{k=i..j} f_k v_k + v_j R_{j+1}) + E_{j+1}.

    Ties go to the shorter request. Time: O(n^2), vectorised over j.

    Raises:
        InputError: the grid is empty or too large.
    """
    if not 1 <= n <= MAX_GRID:
        raise InputError(f"grid of {n} points, expected 1 to {MAX_GRID:,}")
    grid, mass = _cells(law, n)
    n = len(grid)
    left = np.concatenate((mass[::-1].cumsum()[::-1], [0.0]))
    used = np.concatenate(([0.0], (mass * grid).cumsum()))
    reserved = price.alpha * grid + price.gamma
    # E_{j+1} plus what depends on j only; filled from the end.
    rest: Floats = price.beta * (used[1:] + grid * left[1:])
    best: NDArray[np.int64] = np.empty(n, dtype=np.int64)
    for i in range(n - 1, -1, -1):
        costs = left[i] * reserved[i:] + rest[i:]
        j = int(costs.argmin())
        best[i] = i + j
        if i:
            rest[i - 1] += costs[j] - price.beta * used[i]
    requests, i = [], 0
    while i < n:
        requests.append(float(grid[best[i]]))
        i = int(best[i]) + 1
    return tuple(requests)


def _cells(law: Law, n: int) -> tuple[Floats, Floats]:
    """Return the grid and the mass of each of its cells, float64 [n]."""
    if isinstance(law, Empirical):
        values, counts = np.unique(law.values, return_counts=True)
        if len(values) <= n:
            return np.asarray(values, dtype=np.float64), np.asarray(counts / len(law.values), dtype=np.float64)
    grid = np.asarray(law.lower + np.arange(1, n + 1) * ((law.upper - law.lower) / n), dtype=np.float64)
    grid[-1] = law.upper
    mass: Floats = np.diff(law.cdf(grid), prepend=0.0)
    return grid, mass


def toptimal(law: Law, price: Price = RESERVED) -> tuple[float, ...]:
    """Return the optimal sequence; for a law without density, on the grid of its run times or of 2,000 points."""
    start = toptimal_on_grid(law, 2000 if not law.smooth else 200, price)
    if not law.smooth or len(start) == 1:
        return start
    return increasing_minimum(law, start, lambda times: _cost_and_gradient(law, times, price))


def _cost_and_gradient(law: Law, times: Floats, price: Price) -> tuple[float, Floats]:
    """Return the expected cost, and its derivatives by all requests but the last."""
    tail = 1.0 - np.concatenate(([0.0], law.cdf(times)))
    used = np.diff(law.moment(times), prepend=0.0) + times * tail[1:]
    cost = float(np.sum((price.alpha * times + price.gamma) * tail[:-1] + price.beta * used))
    inner = times[:-1]
    after = price.alpha * times[1:] + price.gamma + price.beta * inner
    slope = price.alpha * tail[:-2] + price.beta * tail[1:-1] - law.pdf(inner) * after
    return cost, slope
