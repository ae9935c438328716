"""HiGHS, the linear solver that comes with SciPy, for linear programs that a family writes itself."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array

from batdispatch.abilities.solvers.solving.runner import Limits


class Optimum(NamedTuple):
    """What HiGHS says of a linear program.

    Attributes:
        values: of the variables, float64 [variable]; None: it was stopped before it had an optimum.
        duals: how much the least cost grows with the right side of each row, float64 [row]; None as `values`.
        work: iterations.
        stopped: whether the wall-clock limit ended the search.
    """

    values: NDArray[np.float64] | None
    duals: NDArray[np.float64] | None
    work: float
    stopped: bool


def minimise(cost: NDArray[np.float64], rows: csr_array, sides: NDArray[np.float64], limits: Limits) -> Optimum:
    """Return the x >= 0 of least cost with rows x = sides, by HiGHS' interior-point method with crossover.

    Where a program has many more variables than rows, this takes a small part of the simplex method's time. The answer
    is deterministic unless the wall-clock limit ends the search. The program must have an optimum.

    Args:
        cost: float64 [variable].
        rows: the left sides, [row, variable].
        sides: the right sides, float64 [row].
        limits: `work` counts iterations.
    """
    options = {"maxiter": max(int(limits.work), 1), "time_limit": limits.wall}
    answer = linprog(cost, A_eq=rows, b_eq=sides, bounds=(0, None), method="highs-ipm", options=options)
    if answer.status != 0:
        stopped = answer.status == 1 and "ime limit" in answer.message
        return Optimum(None, None, float(answer.nit or 0), stopped)
    return Optimum(answer.x, np.asarray(answer.eqlin.marginals), float(answer.nit), False)
