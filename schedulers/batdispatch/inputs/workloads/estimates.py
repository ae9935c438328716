"""How long users say their jobs will run, for models that only tell how long they do.

References:
    Mu'alem, Feitelson, "Utilization, predictability, workloads, and user runtime estimates in scheduling the IBM SP2
    with backfilling", IEEE TPDS 12(6), 2001 (estimates uniform between the run time and a multiple of it).
    Tsafrir, Etsion, Feitelson, "Modeling user runtime estimates", JSSPP 2005 (about 20 round values are used by 90 %
    of the jobs).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.errors import InputError

Kind = Literal["none", "exact", "factor", "modal"]

#: The round values of the modal estimates, in minutes.
ROUND_MINUTES = (5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 300, 360, 480, 600, 720, 1080, 1440, 2160, 2880)


def estimates(
    rng: np.random.Generator, runtimes: NDArray[np.float64], kind: Kind, factor: float = 5.0
) -> NDArray[np.float64]:
    """Return a walltime for each run time, above it (Batsim ends a job that equals its walltime as over it).

    - ``none``: infinite.
    - ``exact``: the run time, rounded up to the next whole second above it.
    - ``factor``: uniform between 1 and `factor` times the run time, rounded likewise.
    - ``modal``: as ``factor``, then rounded up to one of 20 round values from 5 minutes to 48 hours, and to whole days
      beyond. It has the modes of real estimates but not Tsafrir's fitted frequencies.

    Args:
        rng: drawn from for ``factor`` and ``modal``, once a job.
        runtimes: s, float64 [job].
        kind: see above.
        factor: at least 1.

    Raises:
        InputError: the factor is below 1 or not finite.
    """
    if not 1 <= factor < float("inf"):
        raise InputError(f"{factor:g}, expected a factor from 1", source="option --factor")
    if kind == "none":
        return np.full(runtimes.shape, np.inf)
    if kind == "exact":
        return np.floor(runtimes) + 1.0
    stretched = np.floor(runtimes * rng.uniform(1.0, factor, size=runtimes.shape)) + 1.0
    if kind == "factor":
        return stretched
    grid = np.array(ROUND_MINUTES, dtype=np.float64) * 60.0
    places = np.searchsorted(grid, stretched)
    days = np.ceil(stretched / 86_400.0) * 86_400.0
    return np.where(places < len(grid), grid[np.minimum(places, len(grid) - 1)], days)
