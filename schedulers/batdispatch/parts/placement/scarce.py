"""Scarce: stay away from nodes that have what other jobs need."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.hosts import hostset
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.scene import Scene
from batdispatch.core.machine.machine import Machine
from batdispatch.parts.placement.base import HostPlacement

if TYPE_CHECKING:
    from collections.abc import Sequence


class Scarce(HostPlacement):
    """Fills those shared nodes first that have the least free of what the waiting jobs ask for.

    It goes through the nodes by the ascending sum over the resources of (free / largest capacity) x (asked for by the
    waiting jobs / capacity of the machine). Ties go to the last node. Whole hosts are all alike, so there it takes the
    lowest ids.

    Typical use: where nodes have several resources and jobs wait for one that is scarce, such as GPUs. It is the
    default of `best-list`.
    """

    def begin(self, machine: Machine) -> None:
        super().begin(machine)
        self._largest = np.maximum(machine.capacity.max(axis=0), 1)
        self._seen: Sequence[Job] | None = None
        self._scale: NDArray[np.float64] = 1.0 / self._largest

    def pick(self, free: int, count: int) -> int | None:
        return hostset.lowest(free, count)

    def spread(self, room: NDArray[np.int64], scene: Scene, job: Job) -> Allocation | None:
        wanted = scene.wanted
        if wanted is not self._seen:
            self._seen = wanted
            self._scale = self._weigh(scene)
        return self.fill_least(room, scene, job, room.nonzero()[0][::-1], self._scale)

    def _weigh(self, scene: Scene) -> NDArray[np.float64]:
        """Return the weight of each resource, float64 [resource]."""
        needs = [scene.space.need(job) for job in scene.wanted]
        amounts = np.array([need.amounts for need in needs], dtype=np.int64).reshape(-1, len(self._largest))
        asked = (amounts * np.array([need.units for need in needs], dtype=np.int64)[:, None]).sum(axis=0)
        there = scene.space.nodes(scene.present).sum(axis=0)
        return np.asarray((1.0 / self._largest) * (asked / np.maximum(there, 1)))
