"""What a placement is, and how one is found by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from batdispatch.core import registry
from batdispatch.core.allocation import Allocation
from batdispatch.core.job import Job
from batdispatch.core.machine import Machine

#: Entry-point group in which a package announces its placements.
GROUP = "batdispatch.placements"


class Placement(ABC):
    """Chooses hosts for one job within given free capacity; keeps no state between calls."""

    #: Whether a place is found whenever the free capacity suffices.
    complete: ClassVar[bool] = True

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def choose(self, free: Any, job: Job) -> Allocation | None:
        """Return an allocation of all the job's units, or None.

        Args:
            free: free capacity: a host mask on exclusive hosts, else int64 [host, resource].
            job: a job whose request the ledger has resolved.
        """
        if self.machine.exclusive:
            if free.bit_count() < job.units:
                return None
            mask = self.pick(free, job.units)
            return None if mask is None else Allocation(mask)
        room = self.machine.room(free, job.request)
        return None if room.sum() < job.units else self.spread(room, free, job)

    @abstractmethod
    def pick(self, free: int, count: int) -> int | None:
        """Return a mask of `count` whole hosts of the mask `free`, which has that many, or None."""

    @abstractmethod
    def spread(self, room: NDArray[np.int64], free: NDArray[np.int64], job: Job) -> Allocation | None:
        """Return an allocation of the job's units on shared nodes, or None.

        Args:
            room: int64 [host], units each host can take; their sum suffices.
            free: int64 [host, resource].
            job: the job.
        """


def make_placement(name: str, machine: Machine) -> Placement:
    """Build a placement by registered name for a machine.

    Raises:
        InputError: there is none of that name.
    """
    return find_placement(name)(machine)


def find_placement(name: str) -> type[Placement]:
    """Return a placement class by registered name."""
    return registry.find(GROUP, name, Placement, "placement")
