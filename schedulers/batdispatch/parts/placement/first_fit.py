"""First fit: the lowest host ids."""

from __future__ import annotations

from batdispatch.core.allocation import Place
from batdispatch.core.filling import first_fit
from batdispatch.core.job import Job
from batdispatch.core.scene import Scene
from batdispatch.parts.placement.base import Placement


class FirstFit(Placement):
    """Take the lowest host ids; on shared nodes, fill each as far as it goes. What Batsim's reference schedulers do."""

    stable = True

    def place(self, scene: Scene, job: Job) -> Place | None:
        allocation = first_fit(scene.ledger.space, scene.free, job)
        return None if allocation is None else Place(allocation)
