"""The continuous minimum near a sequence found on a grid."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from batdispatch.abilities.stochastic.requests.laws import Floats, Law


def increasing_minimum(
    law: Law, start: tuple[float, ...], cost: Callable[[Floats], tuple[float, Floats]], least: float = 0.0
) -> tuple[float, ...]:
    """Return increasing limits of less or equal cost than `start`; the last stays the law's upper bound.

    Args:
        law: of the run time.
        start: increasing limits that end with the upper bound.
        cost: of limits, float64 [m], to the cost and its derivatives by all but the last, float64 [m - 1].
        least: no limit is shorter.
    """
    from scipy import optimize

    if len(start) == 1:
        return start
    scale = law.upper

    def objective(inner: Floats) -> tuple[float, Floats]:
        order = np.argsort(inner, kind="stable")
        times = np.append(inner[order], 1.0) * scale
        value, slope = cost(times)
        gradient = np.empty_like(slope)
        gradient[order] = slope
        return value / scale, gradient

    found = optimize.minimize(
        objective,
        np.array(start[:-1]) / scale,
        jac=True,
        # At this size a tenth of L-BFGS-B's time, whose linear algebra wakes every core.
        method="SLSQP",
        bounds=[(max(law.lower, least) / scale, 1.0)] * (len(start) - 1),
        options={"ftol": 1e-15, "maxiter": 200},
    )
    best = np.append(np.maximum(np.sort(found.x) * scale, least), scale)
    # Limits that fell together are one.
    kept = [float(t) for t, after in pairwise(best.tolist()) if after - t > 1e-9 * scale]
    best = np.array([*kept, law.upper])
    return tuple(best.tolist()) if cost(best)[0] <= cost(np.array(start))[0] else start
