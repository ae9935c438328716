"""TOptimal: the sequence of least expected cost for a job that is alone on its processors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.stochastic.requests.base import RequestSequence
from batdispatch.abilities.stochastic.requests.cost import RESERVED_PRICE, Price
from batdispatch.abilities.stochastic.requests.laws import Empirical, Floats, Law
from batdispatch.abilities.stochastic.requests.price_options import PricedOptions
from batdispatch.abilities.stochastic.requests.refine import increasing_minimum
from batdispatch.core.errors import InputError
from batdispatch.core.line.options import Options
from batdispatch.native.library import Library
from batdispatch.native.record import call

#: Of native/request_limits.c.
_LIBRARY = Library.beside(__file__)
#: Most grid points of the dynamic program.
MAX_GRID = 20_000
#: Mass that may be the rounding of a sum.
ROUNDING = 1e-16
#: Share of the mean run time that it may cost to leave a limit out.
NEGLIGIBLE = 1e-8


class TOptimalOptions(PricedOptions, frozen=True, kw_only=True):
    """Options of toptimal.

    grid: Choose the limits among this many points of the law's support. `none` (the default): look for the continuous
        optimum.
    """

    grid: Annotated[int, msgspec.Meta(ge=1, le=MAX_GRID)] | None = None


class TOptimal(RequestSequence):
    """Asks for the least expected time reserved, as if the job were alone; with a price, for the least expected cost.

    The price of an attempt of limit t is alpha t + beta min(X, t) + gamma, where X is the run time of the job. alpha
    counts the time reserved, which is lost where planned starts stay. beta counts the time used, which is all that is
    lost where starts move up.

    Typical use: under plans whose starts stay, such as `stochastic-batch` with `plan=rigid`.
    Guarantee: on a grid, E[S_J] is least, S_J being the sum of the limits up to the one that suffices. Without a grid,
    a local minimum of it near the optimum on points of the law's support. The same holds for any price, among the
    sequences without a limit shorter than `least`.
    Time: O(n^2) on a grid of n points.
    References: Aupy, Gainaru, Honore, Raghavan, Robert, Sun: "Reservation strategies for stochastic jobs", IPDPS 2019.
    """

    options_type: ClassVar[type[Options]] = TOptimalOptions

    def limits(self, law: Law, zeta: float = 0.0, history: Sequence[float] = ()) -> tuple[float, ...]:
        price, least = self.options.price, self.options.least
        if self.options.grid is not None:
            return toptimal_on_grid(law, self.options.grid, price, least)
        return toptimal(law, price, least)


def toptimal_on_grid(law: Law, n: int = 200, price: Price = RESERVED_PRICE, least: float = 0.0) -> tuple[float, ...]:
    """Return the optimal sequence among those on the grid a + i (b - a) / n; the last limit is b.

    For an empirical law of at most `n` different run times the grid is those, and the optimum is that of all sequences.
    With f_i the mass of cell i, R_i = sum_{k>=i} f_k and E_{n+1} = 0,

        E_i = min_{j>=i} R_i (alpha v_j + gamma) + beta (sum_{k=i..j} f_k v_k + v_j R_{j+1}) + E_{j+1},

    where gamma includes the overhead of a further attempt, which the first cannot avoid anyway. `least` is a
    point, and those below it are left out. Ties go to the shorter limit. Time: O(n^2), vectorised over j.

    Raises:
        InputError: the grid is empty or too large.
    """
    if not 1 <= n <= MAX_GRID:
        raise InputError(f"grid of {n} points, expected 1 to {MAX_GRID:,}")
    return _best_of(*from_least(least, *cells(law, n)), price)


def _best_of(grid: Floats, mass: Floats, price: Price) -> tuple[float, ...]:
    """Return the optimal sequence of some points, float64 [n], whose cells have some mass, float64 [n]."""
    n = len(grid)
    left = np.concatenate((mass[::-1].cumsum()[::-1], [0.0]))
    used = np.concatenate(([0.0], (mass * grid).cumsum()))
    reserved = price.alpha * grid + price.again
    rest: Floats = price.beta * (used[1:] + grid * left[1:])
    best: NDArray[np.int64] = np.empty(n, dtype=np.int64)
    if _LIBRARY.loaded is None:
        fill_best(left, price.beta * used, reserved, rest, best)
    else:
        call("best_limits", n, left, price.beta * used, reserved, rest, best, result=None, library=_LIBRARY)
    limits, i = [], 0
    while i < n:
        # Where nothing is left every sequence costs the same: the shortest ends here.
        i = int(best[i]) if left[i] > ROUNDING else n - 1
        limits.append(float(grid[i]))
        i += 1
    return tuple(limits)


def fill_best(left: Floats, used: Floats, reserved: Floats, rest: Floats, best: NDArray[np.int64]) -> None:
    """Fill in which limit is the best one from each point on; as `best_limits` in native/request_limits.c.

    Args:
        left: R_i, float64 [n + 1].
        used: beta sum_{k<i} f_k v_k, float64 [n + 1].
        reserved: alpha v_j + gamma, float64 [n].
        rest: what depends on j only, without E_{j+1}, which **is added**, from the end; float64 [n].
        best: **is filled**, int64 [n].
    """
    for i in range(len(best) - 1, -1, -1):
        costs = left[i] * reserved[i:] + rest[i:]
        j = int(costs.argmin())
        best[i] = i + j
        if i:
            rest[i - 1] += costs[j] - used[i]


def from_least(least: float, grid: Floats, mass: Floats) -> tuple[Floats, Floats]:
    """Return the points from `least` on and the mass of their cells; `least` is the first, with the mass below it.

    If no point is below it, the points stay as they are; if all are, the last one stays with all the mass. That the run
    times below the first limit count as that limit costs every sequence alike.
    """
    first = int(np.searchsorted(grid, least))
    if first == 0:
        return grid, mass
    if first == len(grid):
        return grid[-1:], np.array([mass.sum()])
    if grid[first] == least:
        kept = mass[first:].copy()
        kept[0] += mass[:first].sum()
        return grid[first:], kept
    return np.concatenate(([least], grid[first:])), np.concatenate(([mass[:first].sum()], mass[first:]))


def cells(law: Law, n: int) -> tuple[Floats, Floats]:
    """Return the grid and the mass of each of its cells, float64 [n]."""
    if isinstance(law, Empirical):
        # They are in ascending order.
        first = np.flatnonzero(np.diff(law.values, prepend=-np.inf))
        if len(first) <= n:
            counts = np.diff(first, append=len(law.values))
            return law.values[first], counts / len(law.values)
    grid = np.asarray(law.lower + np.arange(1, n + 1) * ((law.upper - law.lower) / n), dtype=np.float64)
    grid[-1] = law.upper
    mass: Floats = np.diff(law.cdf(grid), prepend=0.0)
    return grid, mass


def toptimal(law: Law, price: Price = RESERVED_PRICE, least: float = 0.0) -> tuple[float, ...]:
    """Return the optimal sequence; for a law without density, on the grid of its run times or of 2,000 points.

    The minimum is looked for near the optimum on the points of `_spread`, of which limits that hardly ever come to
    pass are left out: that costs less than `NEGLIGIBLE` of the mean run time each.
    """
    if not law.smooth:
        return toptimal_on_grid(law, 2000, price, least)
    grid = _spread(law, least)
    start = _best_of(*from_least(least, grid, np.diff(law.cdf(grid), prepend=0.0)), price)
    # The probability that each limit is asked for.
    reached = np.concatenate(([1.0], 1.0 - law.cdf(np.array(start[:-1]))))
    kept = [t for t, asked in zip(start[:-1], reached, strict=False) if asked * law.upper > NEGLIGIBLE * law.mean]
    start = (*kept, start[-1])
    if len(start) == 1:
        return start
    return increasing_minimum(law, start, lambda times: _cost_and_gradient(law, times, price), least)


def _spread(law: Law, least: float) -> Floats:
    """Return increasing points of a law's support: at equal distances, of equal mass, ever further into its tail.

    `least` is among them if it lies within.
    """
    width = law.upper - law.lower
    shares = np.concatenate((np.arange(1, 128) / 128, 1.0 - 0.5 ** np.arange(8, 45)))
    even = np.arange(1, 129) / 128
    # The law's own quantiles are slow and, far out, inexact; here any point near them will do.
    fine = law.lower + width * np.unique(np.concatenate((np.linspace(0, 1, 1025), np.geomspace(1e-9, 1, 1024))))
    points = np.unique(np.concatenate((law.lower + width * even, np.interp(shares, law.cdf(fine), fine), [least])))
    points = points[(points > max(law.lower, 1e-9 * law.upper)) & (points < law.upper * (1 - 1e-9))]
    return np.append(points, law.upper)


def _cost_and_gradient(law: Law, times: Floats, price: Price) -> tuple[float, Floats]:
    """Return the expected cost, and its derivatives by all limits but the last."""
    tail = 1.0 - np.concatenate(([0.0], law.cdf(times)))
    used = np.diff(law.moment(times), prepend=0.0) + times * tail[1:]
    cost = float(np.sum((price.alpha * times + price.again) * tail[:-1] + price.beta * used))
    inner = times[:-1]
    after = price.alpha * times[1:] + price.again + price.beta * inner
    slope = price.alpha * tail[:-2] + price.beta * tail[1:-1] - law.pdf(inner) * after
    return cost, slope
