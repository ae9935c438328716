"""Contiguous: one range of consecutive host ids."""

from __future__ import annotations

from batdispatch.core import hostset
from batdispatch.core.allocation import Allocation, Place
from batdispatch.core.filling import fill
from batdispatch.core.job import Job
from batdispatch.core.scene import Scene
from batdispatch.parts.placement.base import Placement


class Contiguous(Placement):
    """Take consecutive host ids, or wait.

    On exclusive hosts: the lowest range of exactly the job's size. On shared nodes: the shortest range of nodes that
    all have room, the lowest of those. Exact: None is returned only if no such range exists.
    """

    complete = False
    stable = True

    def place(self, scene: Scene, job: Job) -> Place | None:
        space, need = scene.space, scene.space.need(job)
        if not space.fits(scene.free, job):
            return None
        if self.machine.exclusive:
            mask = hostset.lowest_run(scene.nodes & need.hosts, need.units)
            return None if mask is None else Place(Allocation(mask))
        allocation = fill(space.room(scene.free, job), need, consecutive=True)
        return None if allocation is None else Place(allocation)
