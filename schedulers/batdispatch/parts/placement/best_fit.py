"""Best fit: leave large free areas alone."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.hosts import hostset
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.options import Options
from batdispatch.core.line.scene import Scene
from batdispatch.core.machine.machine import Machine
from batdispatch.parts.placement.base import HostPlacement


class BestFitOptions(Options, frozen=True, kw_only=True):
    """Options of best fit.

    sums: Take this for the free amount of a shared node, a sum over its resources. `shares`: of what is free over the
        largest capacity. `amounts`: of what is free in the units of the platform, as in AccaSim.
    """

    sums: Literal["shares", "amounts"] = "shares"


class BestFit(HostPlacement):
    """Fills first what is nearly full.

    On whole hosts, it takes the shortest free run of consecutive ids that holds the job. If no run holds the job,
    it takes the longest runs, so that the job is cut into as few pieces as possible. On shared nodes, it goes through
    the nodes by ascending free amount (`sums`) and fills each node as far as possible. Ties go to the lowest id.

    Typical use: where large jobs should find whole nodes, or long runs of hosts, free.
    """

    options_type: ClassVar[type[Options]] = BestFitOptions

    def begin(self, machine: Machine) -> None:
        super().begin(machine)
        largest = np.maximum(machine.capacity.max(axis=0), 1)
        self._scale = 1.0 / largest if self.options.sums == "shares" else np.ones(len(largest))

    def pick(self, free: int, count: int) -> int | None:
        runs = list(hostset.runs(free))
        holding = [(last - first, first) for first, last in runs if last - first + 1 >= count]
        if holding:
            return ((1 << count) - 1) << min(holding)[1]
        mask = 0
        for first, last in sorted(runs, key=lambda run: (run[0] - run[1], run[0])):
            length = min(last - first + 1, count)
            mask |= ((1 << length) - 1) << first
            count -= length
            if not count:
                break
        return mask

    def spread(self, room: NDArray[np.int64], scene: Scene, job: Job) -> Allocation | None:
        return self.fill_least(room, scene, job, room.nonzero()[0], self._scale)
