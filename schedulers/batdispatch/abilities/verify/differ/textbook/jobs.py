"""What a policy knows of a job. Times are whole microseconds, so that their sums are exact."""

from __future__ import annotations

import math
from typing import NamedTuple

#: The walltime of a job that did not ask for one, microseconds; no sum of times comes near.
ENDLESS = 10**18


class RigidJob(NamedTuple):
    """A rigid job that asks for a number of processors, whichever they are."""

    id: str
    #: When it comes, microseconds.
    submission: int
    #: Processors.
    units: int
    #: How long it asked for, microseconds; `ENDLESS`: it did not say.
    walltime: int
    #: How long it takes if nothing kills it, microseconds.
    runtime: int


def microseconds(seconds: float) -> int:
    """Return seconds as whole microseconds; what is infinite becomes `ENDLESS`."""
    return ENDLESS if math.isinf(seconds) else round(seconds * 1e6)


def seconds(microseconds: int) -> float:
    """Return microseconds as seconds."""
    return math.inf if microseconds >= ENDLESS else microseconds / 1e6
