"""What a placement is."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from batdispatch.core.capacity.filling import fill, first_fit
from batdispatch.core.hosts.allocation import Allocation, Place
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import single_choices
from batdispatch.core.line.options import Part
from batdispatch.core.line.scene import Scene
from batdispatch.core.machine.machine import Machine

#: Entry-point group in which a package announces its placements.
GROUP = "batdispatch.placements"


class Placement(Part, ABC):
    """Says where a job goes, within what is free; keeps no state between calls.

    Attributes:
        machine: set by `begin`.
    """

    #: Whether a place is found whenever the job fits the free capacity.
    complete: bool = True
    #: Whether on whole hosts the answer depends on the job and on what is free alone, and stays the same when other
    #: hosts than the chosen ones are free no longer. Plans then leave jobs alone that cannot gain.
    stable: bool = False
    #: Whether it says what shape the hosts of a job have. Several shapes go together, see `join`.
    is_shape: ClassVar[bool] = False

    def join(self, others: Sequence[Placement]) -> Placement:
        """Return a placement on hosts that have the shape of this one and of others at once; only shapes are asked."""
        raise NotImplementedError

    def begin(self, machine: Machine) -> None:
        """Prepare for a machine; called once, before any job."""
        self.machine = machine

    @abstractmethod
    def place(self, scene: Scene, job: Job) -> Place | None:
        """Return where all the job's units go, with whatever mapping belongs to it, or None.

        Args:
            scene: what is free, the machine with its topology, who holds what. Nothing of it may be modified.
            job: a job that can run on the idle machine.
        """

    def place_in_choice(self, scene: Scene, job: Job) -> Place | None:
        """Return where the job's units go, as `place` does, in the first of its choices that has a place for it."""
        if not job.request.choices:
            return self.place(scene, job)
        found = (self.place(scene, replace(job, request=one)) for one in single_choices(job.request))
        return next((place for place in found if place is not None), None)

    def proves_never(self, idle: Scene, job: Job) -> bool:
        """Return whether it is proven that a job which found no place on the idle machine never finds one.

        The job is rejected then. Otherwise, since the search may have overlooked a place, it waits.

        Args:
            idle: the machine with nobody on it, for which `place` returned None.
            job: the job.
        """
        return False

    def patience(self, job: Job, now: float) -> float:
        """Return the next moment from which on it takes places that it refuses a job before, in seconds.

        That is after `now`, and infinite if there is no such moment. A dispatcher has itself called then, see
        `Prospects`.
        """
        return math.inf

    def holds(self, scene: Scene, job: Job, place: Place) -> bool:
        """Return whether a place that was chosen for another scene, with all its hosts free, is one in this scene.

        A plan lets a job start when others are expected to have ended, and some of these may be a moment late.
        """
        return True


class HostPlacement(Placement):
    """A placement that chooses among single hosts or nodes; what a request says beyond that is seen to here.

    A request for consecutive nodes goes to the lowest place there is, whatever the placement prefers.
    """

    def place(self, scene: Scene, job: Job) -> Place | None:
        space, free, request = scene.space, scene.free, job.request
        allocation = None
        if request.contiguous:
            allocation = first_fit(space, free, job)
        elif not self.machine.exclusive:
            (room,) = space.rooms((free,), job)
            if room is not None:
                allocation = self.spread(space.nodes(room), scene, job)
        elif space.fits(free, job):
            nodes = scene.nodes if request.plain else scene.nodes & space.need(job).hosts
            mask = self.pick(nodes, request.units)
            allocation = None if mask is None else Allocation(mask)
        return None if allocation is None else Place(allocation)

    def fill_least(
        self, room: NDArray[np.int64], scene: Scene, job: Job, hosts: NDArray[np.intp], scale: NDArray[np.float64]
    ) -> Allocation | None:
        """Return an allocation that fills shared nodes with the least free first, the first ones of equal ones.

        Args:
            room: as for `spread`.
            scene: as for `place`.
            job: the job.
            hosts: nodes with room, int64 [k].
            scale: what an amount of each resource counts, float64 [resource].
        """
        # Not a matrix product: there, how a row is summed may depend on its position, which would break ties at random.
        amount = (scene.nodes[hosts] * scale).sum(axis=1)
        return fill(room, scene.space.need(job), hosts[np.argsort(amount, kind="stable")])

    @abstractmethod
    def pick(self, free: int, count: int) -> int | None:
        """Return a mask of `count` whole hosts of the mask `free`, which has that many, or None."""

    @abstractmethod
    def spread(self, room: NDArray[np.int64], scene: Scene, job: Job) -> Allocation | None:
        """Return an allocation of the job's units on shared nodes, or None.

        Args:
            room: int64 [host], units of the job that each host can take; the job fits.
            scene: as for `place`.
            job: the job.
        """
