"""First fit: the lowest host ids."""

from __future__ import annotations

from batdispatch.core.allocation import Place
from batdispatch.core.job import Job
from batdispatch.core.scene import Scene
from batdispatch.parts.placement.base import Placement


class FirstFit(Placement):
    """Take the lowest host ids; on shared nodes, fill each as far as it goes. What Batsim's reference schedulers do."""

    stable = True

    def place(self, scene: Scene, job: Job) -> Place | None:
        return scene.lowest(job)
