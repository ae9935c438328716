"""First fit: the lowest host ids."""

from __future__ import annotations

from batdispatch.core.hosts.allocation import Place
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.scene import Scene
from batdispatch.parts.placement.base import Placement


class FirstFit(Placement):
    """Takes the lowest free host ids. On shared nodes, it fills each node as far as possible before the next.

    Batsim's reference schedulers place jobs in this way.

    Typical use: where it does not matter which hosts a job gets. It is the default of most dispatchers.
    """

    stable = True

    def place(self, scene: Scene, job: Job) -> Place | None:
        return scene.lowest(job)
