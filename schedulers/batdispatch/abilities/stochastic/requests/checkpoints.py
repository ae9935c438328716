"""Requests of which some end in a checkpoint, so that the next attempt continues instead of starting anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

import msgspec
import numpy as np

from batdispatch.abilities.stochastic.requests.base import Plan, RequestSequence
from batdispatch.abilities.stochastic.requests.cost import Price
from batdispatch.abilities.stochastic.requests.laws import Floats, Law
from batdispatch.abilities.stochastic.requests.price_options import PricedOptions, Weight
from batdispatch.abilities.stochastic.requests.toptimal import ROUNDING, cells, from_least
from batdispatch.core.line.options import Options

#: Most grid points of the dynamic program, whose work grows with their third power.
MAX_GRID = 400
#: Which requests end in a checkpoint.
When = Literal["best", "always", "never"]


class CheckpointsOptions(PricedOptions, frozen=True, kw_only=True):
    """Options of checkpoints.

    checkpoint: Let writing a checkpoint at the end of a request take this long, in the law's unit of time (seconds in a
        job). 0: it takes no time.
    restart: Let reading a checkpoint before the work goes on take this long, in the law's unit of time (seconds in a
        job). 0: it takes no time.
    when: `best`: a request ends in a checkpoint where that makes the expected cost least. `always`: every request but
        the last does. `never`: none does.
    grid: Choose the limits among this many points of the law's support.
    """

    checkpoint: Weight = 60.0
    restart: Weight = 60.0
    when: When = "best"
    grid: Annotated[int, msgspec.Meta(ge=1, le=MAX_GRID)] = 100


class Checkpoints(RequestSequence):
    """Asks for what costs least in expectation when requests may end in a checkpoint.

    A limit is the run time that the job may have had by the end of an attempt, over all attempts that went on from one
    another. With s the run time saved (0 at first), an attempt up to limit t asks for (R if s > 0) + t - s + (C if it
    ends in a checkpoint). It costs alpha times what it asks for, beta times what it uses, and gamma.

    Typical use: for applications that can write checkpoints.
    Guarantee: on the grid, the expected cost is least among all sequences and choices of checkpoints. For an empirical
    law of at most `grid` run times that is the optimum.
    Time: O(n^3) for n points, vectorised.
    Deviations: `least` and `overhead` are not in the paper. The paper lets a job compute up to the checkpoint. In a
    simulation, a job that needs no more than C beyond the limit ends while its checkpoint is written.
    References: Gainaru, Goglin, Honore, Pallez, Raghavan, Robert, Sun: "Reservation and checkpointing strategies for
    stochastic jobs", IPDPS 2020.
    """

    options_type: ClassVar[type[Options]] = CheckpointsOptions

    def limits(self, law: Law, zeta: float = 0.0, history: Sequence[float] = ()) -> tuple[float, ...]:
        return self.plan(law, zeta, history).limits

    def plan(self, law: Law, zeta: float = 0.0, history: Sequence[float] = ()) -> Plan:
        told = self.options
        grid, mass = from_least(told.least, *cells(law, told.grid))
        plan = best_plan(grid, mass, told.price, told.checkpoint, told.restart, told.when, told.least)
        # A law that ends below the least request has that one limit.
        return plan if plan.limits[0] >= told.least else Plan((told.least,))


def best_plan(
    grid: Floats,
    mass: Floats,
    price: Price,
    checkpoint: float,
    restart: float,
    when: When = "best",
    least: float = 0.0,
) -> Plan:
    """Return the plan of least expected cost among those on a grid.

    With v_j the points (v_0 = 0), f_k the mass of cell k, L_i = sum_{k>=i} f_k, r_c the restart cost if c > 0, and
    A(c, n + 1) = 0,

        A(c, i) = min_{j>=i, d} L_i (alpha W + gamma) + beta (sum_{k=i..j} f_k (r_c + v_k - v_c) + L_{j+1} W)
                                + A(j if d else c, j + 1),     W = r_c + v_j - v_c + d C,

    is the expected cost from the attempt on that follows the failure at v_{i-1}, with v_c saved. Ties go to no
    checkpoint and the shorter limit. The last limit ends in none.

    Args:
        grid: increasing points, float64 [n].
        mass: of their cells, float64 [n].
        price: of an attempt.
        checkpoint: C.
        restart: R.
        when: whether to choose, or which d is allowed before the last limit.
        least: an attempt asks for no less, but for the last, which is lengthened.
    """
    n = len(grid)
    points = np.concatenate(([0.0], grid))
    left = np.concatenate((mass[::-1].cumsum()[::-1], [0.0]))
    used = np.concatenate(([0.0], (mass * grid).cumsum()))
    share = np.concatenate(([0.0], mass.cumsum()))
    resumed = np.where(np.arange(n + 1) > 0, restart, 0.0) - points
    # after[c, i]: A(c, i + 1) of the formula. With cell j saved, the last one tried, it is after[j + 1, j + 1].
    after = np.zeros((n + 1, n + 1))
    choice = np.zeros((n + 1, n), dtype=np.int64)
    saves = np.zeros((n + 1, n), dtype=np.bool_)
    for i in range(n - 1, -1, -1):
        done = resumed[: i + 1, None]
        ends = done + grid[None, i:]
        ends[:, -1] = np.maximum(ends[:, -1], least)
        succeeded = (used[i + 1 :] - used[i])[None, :] + done * (share[i + 1 :] - share[i])[None, :]
        plain = left[i] * (price.alpha * ends + price.again) + price.beta * (succeeded + left[i + 1 :][None, :] * ends)
        weight = price.alpha * left[i] + price.beta * left[i + 1 :][None, :]
        written = plain + weight * checkpoint + np.diagonal(after)[i + 1 :][None, :]
        plain = plain + after[: i + 1, i + 1 :]
        written[ends + checkpoint < least] = np.inf
        plain[:, :-1][ends[:, :-1] < least] = np.inf
        # The last limit surely suffices: nothing is left to save.
        written[:, -1] = np.inf
        if when == "never":
            written[:] = np.inf
        elif when == "always":
            plain[:, :-1] = np.inf
        best = np.minimum(plain, written)
        column = best.argmin(axis=1)
        rows = np.arange(i + 1)
        after[: i + 1, i] = best[rows, column]
        choice[: i + 1, i] = i + column
        saves[: i + 1, i] = written[rows, column] < plain[rows, column]
    limits: list[float] = []
    kept: list[bool] = []
    saved, i = 0, 0
    while i < n:
        # Where nothing is left every plan costs the same: the shortest ends here.
        j, keeps = (int(choice[saved, i]), bool(saves[saved, i])) if left[i] > ROUNDING else (n - 1, False)
        limits.append(float(grid[j]))
        kept.append(keeps)
        saved, i = (j + 1 if keeps else saved), j + 1
    return Plan(tuple(limits), tuple(kept), checkpoint, restart)
