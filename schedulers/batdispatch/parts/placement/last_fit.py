"""Last fit: the highest host ids."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.capacity.filling import fill
from batdispatch.core.hosts import hostset
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.scene import Scene
from batdispatch.parts.placement.base import HostPlacement


class LastFit(HostPlacement):
    """Takes the highest free host ids. On shared nodes, it fills each node as far as possible before the next.

    The search of PCP'20 does this when it sets positions to their largest values.

    Typical use: with `pcp20`, whose default it is.
    References: Galleguillos, Kiziltan, Soto: "A constraint programming-based job dispatcher for modern HPC systems and
    applications", 2020, section 5.
    """

    stable = True

    def pick(self, free: int, count: int) -> int | None:
        return free ^ hostset.lowest(free, free.bit_count() - count)

    def spread(self, room: NDArray[np.int64], scene: Scene, job: Job) -> Allocation | None:
        return fill(room, scene.space.need(job), room.nonzero()[0][::-1])
