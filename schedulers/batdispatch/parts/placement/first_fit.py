"""First fit: the lowest host ids."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from batdispatch.core import hostset
from batdispatch.core.allocation import Allocation
from batdispatch.core.filling import fill
from batdispatch.core.job import Job
from batdispatch.parts.placement.base import Placement


class FirstFit(Placement):
    """Take the lowest host ids; on shared nodes, fill each as far as it goes. What Batsim's reference schedulers do."""

    def pick(self, free: int, count: int) -> int | None:
        return hostset.lowest(free, count)

    def spread(self, room: NDArray[np.int64], free: NDArray[np.int64], job: Job) -> Allocation | None:
        return fill(room, job.units)
