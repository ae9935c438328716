"""ATOptimal: the sequence of least expected makespan when small jobs fill the idle end of reservations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.stochastic.requests.base import RequestSequence, SequenceOptions
from batdispatch.abilities.stochastic.requests.laws import Floats, Law
from batdispatch.abilities.stochastic.requests.refine import increasing_minimum
from batdispatch.abilities.stochastic.requests.toptimal import toptimal
from batdispatch.core.errors import InputError
from batdispatch.core.line.options import Options

#: Most grid points of the dynamic program, whose work grows with their fourth power.
MAX_GRID = 200
#: Grid from which the continuous optimum is looked for.
START_GRID = 26
#: Most limits of which the continuous optimum is looked for.
MOST_REFINED = 10


class ATOptimalOptions(SequenceOptions, frozen=True, kw_only=True):
    """Options of atoptimal.

    grid: Choose the limits among this many points up to the law's upper bound. `none` (the default): look for the
        continuous optimum.
    """

    grid: Annotated[int, msgspec.Meta(ge=1, le=MAX_GRID)] | None = None


class ATOptimal(RequestSequence):
    """Asks for what makes the job, and the small work that arrived meanwhile, end after the least expected time.

    Small work arrives at the backfilling rate zeta. zeta = 0 is TOptimal, and zeta = 1 is a single limit at the law's
    upper bound.

    Typical use: under plans whose starts stay, if small jobs of known run time fill what stochastic jobs leave.
    Guarantee: on a grid the optimum. Without one, the best of several local minima, none worse than the optimum on a
    grid of 26 points; for a law without density, the optimum on a grid of 46 points.
    Time: O(n^4) on a grid of n points, vectorised.
    References: Gainaru, Pallez, Sun, Raghavan: "Speculative scheduling for stochastic HPC applications", ICPP 2019.
    """

    options_type: ClassVar[type[Options]] = ATOptimalOptions
    uses_rate = True

    def limits(self, law: Law, zeta: float = 0.0, history: Sequence[float] = ()) -> tuple[float, ...]:
        if self.options.grid is not None:
            return atoptimal_on_grid(law, zeta, self.options.grid, self.options.least)
        return atoptimal(law, zeta, self.options.least)


def atoptimal_on_grid(law: Law, zeta: float, n: int = 46, least: float = 0.0) -> tuple[float, ...]:
    """Return the optimal sequence among those on the grid i b / n from `least` on; the last limit is b.

    With s the time lost so far, in multiples of b / n, R_{j+1} the mass beyond v_j, and A(n + 1, s) = 0,

        A(i, s) = min_{j>=i} sum_{k=i..j} f_k max((1 - zeta) v_j, v_k + zeta s)
                             + (1 - zeta) R_{j+1} v_j + A(j + 1, s + v_j),

    which is 1 - zeta times the cost and so holds for zeta = 1 too. Two prefix sums make each entry O(1): about n^4 / 24
    operations, vectorised over s.

    Raises:
        InputError: the rate is not from 0 to 1, or the grid is empty or too large.
    """
    _check_rate(zeta)
    if not 1 <= n <= MAX_GRID:
        raise InputError(f"grid of {n} points, expected 1 to {MAX_GRID}")
    steps = np.arange(n + 1)
    grid = steps * (law.upper / n)
    grid[-1] = law.upper
    f = law.cdf(grid)
    f[0] = 0.0
    mass = np.diff(f)
    f = np.concatenate(([0.0], mass.cumsum()))
    m = np.concatenate(([0.0], (mass * grid[1:]).cumsum()))
    first = int(np.flatnonzero(f[1:] > 0)[0]) + 1
    # The first limit is the shortest.
    shortest = max(first, min(int(np.searchsorted(grid, least)), n))
    keep = 1.0 - zeta
    # later[i][s]: A(i, s); the s reachable before limit i are those of sums of distinct earlier points.
    later: list[Floats] = [np.zeros(0)] * (n + 1) + [np.zeros(n * (n + 1) // 2 + 1)]
    choice: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)] * (n + 1)
    for i in range(n, first - 1, -1):
        lost = np.arange((i - 1) * i // 2 + 1)
        waiting = lost * (zeta * law.upper / n)
        best = np.full(len(lost), np.inf)
        which = np.full(len(lost), i, dtype=np.int64)
        for j in range(shortest if i == first else i, n + 1):
            # Cells up to `edge` end within the reservation, backlog and all.
            edge = np.clip(np.floor(keep * j - zeta * lost).astype(np.int64), i - 1, j)
            rest = f[j] - f[edge]
            cost = keep * grid[j] * (f[edge] - f[i - 1] + f[n] - f[j]) + (m[j] - m[edge]) + waiting * rest
            cost += later[j + 1][lost + j]
            better = cost < best - 1e-15
            best[better] = cost[better]
            which[better] = j
        later[i], choice[i] = best, which
    limits: list[float] = []
    i, s = first, 0
    while i <= n:
        j = int(choice[i][s])
        limits.append(float(grid[j]) if j < n else law.upper)
        i, s = j + 1, s + j
    return tuple(limits)


def atoptimal(law: Law, zeta: float, least: float = 0.0) -> tuple[float, ...]:
    """Return the sequence that minimises the closed form of the cost; on a grid for a law without density.

    The higher the rate, the fewer limits are best. The minimum is looked for near the optimum on a grid, and near
    TOptimal's sequence with ever fewer of its limits, the one that is missed least being left out each time. No limit
    is shorter than `least`, if the law's upper bound is not.

    Raises:
        InputError: the rate is not from 0 to 1.
    """
    _check_rate(zeta)
    if zeta == 0.0:
        return toptimal(law, least=least)
    if zeta == 1.0:
        return (law.upper,)
    if not law.smooth:
        return atoptimal_on_grid(law, zeta, least=least)

    def minimum(start: tuple[float, ...]) -> tuple[float, ...]:
        if len(start) > MOST_REFINED:
            return start
        return increasing_minimum(law, start, lambda times: _cost_and_gradient(law, times, zeta), least)

    def cost(limits: tuple[float, ...]) -> float:
        return _cost_and_gradient(law, np.array(limits), zeta)[0]

    found = [minimum(atoptimal_on_grid(law, zeta, START_GRID, least))]
    times = toptimal(law, least=least)
    while len(times) > 1:
        times = minimum(times)
        found.append(times)
        times = min((times[:k] + times[k + 1 :] for k in range(len(times) - 1)), key=cost, default=times)
    return min([*found, times], key=cost)


def _check_rate(zeta: float) -> None:
    if not 0.0 <= zeta <= 1.0:
        raise InputError(f"backfilling rate {zeta:g}, expected 0 to 1")


def _cost_and_gradient(law: Law, times: Floats, zeta: float) -> tuple[float, Floats]:
    """Return the expected cost times 1 - zeta, and its derivatives by all limits but the last."""
    keep = 1.0 - zeta
    ends = times.cumsum()
    before = ends - times
    previous = np.concatenate(([0.0], times[:-1]))
    edge = np.minimum(np.maximum(keep * ends - before, previous), times)
    points = np.concatenate(([0.0], times, edge))
    f, m = law.cdf(points), law.moment(points)
    count = len(times)
    f[0] = 0.0
    full, linear = f[count + 1 :] - f[:count], f[1 : count + 1] - f[count + 1 :]
    cost = float(np.sum(keep * ends * full + before * linear + m[1 : count + 1] - m[count + 1 :]))
    # Limit i lengthens every S_j from j = i and every S_{j-1} from j = i + 1 on, and moves mass from j = i to i + 1.
    held = keep * full[::-1].cumsum()[::-1]
    lost = np.concatenate((linear[::-1].cumsum()[::-1][1:], [0.0]))
    here = np.maximum(keep * ends, before + times)
    there = np.maximum(keep * np.append(ends[1:], ends[-1]), np.append(before[1:], before[-1]) + times)
    slope = held + lost + law.pdf(times) * (here - there)
    return cost, slope[:-1]
