"""Which hosts compute, and how often, during a simulation."""

from __future__ import annotations

from batdispatch.core.hosts import hostruns
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.hosts.hostruns import Bounds, HostRuns
from batdispatch.core.machine.machine import Machine


class Occupancy:
    """Counts jobs on hosts. Without sharing, a host carries one job at most, and the runs of idle hosts say it all.

    Attributes:
        away: mask of the hosts that nothing may start on, since the peer knows that they are unavailable.
        computing: number of hosts that compute.
    """

    def __init__(self, machine: Machine, *, sharing: bool) -> None:
        self.sharing = sharing
        self.away = 0
        self.computing = 0
        self._compute = machine.compute
        self._size = machine.size
        #: Hosts that do not compute; without sharing.
        self._idle = HostRuns.of(machine.compute)
        #: Mask of the hosts that compute, and how many jobs each carries; with sharing.
        self._busy = 0
        self._jobs_on: dict[int, int] = {}

    @property
    def busy(self) -> int:
        """Mask of the hosts that compute."""
        return self._busy if self.sharing else self._compute ^ self._idle.mask

    @property
    def idle(self) -> int:
        """Number of hosts that are available and do not compute."""
        idle = self._size - self.computing
        return idle - (self.away & ~self.busy).bit_count() if self.away else idle

    def occupy(self, allocation: Allocation) -> bool:
        """Add a job if its hosts can take it, and return whether they can.

        They can if there are any, and all of them run jobs, are available, and have none to themselves.
        """
        if not self.sharing:
            bounds, size = allocation.bounds, allocation.size
            left = self._idle.without(bounds, size) if bounds else None
            if left is None or (self.away and allocation.mask & self.away):
                return False
            self._idle = left
            self.computing += size
            return True
        mask = allocation.mask
        if not mask or mask & self._compute != mask or mask & self.away:
            return False
        self._busy |= allocation.mask
        for host in allocation.ids:
            self._jobs_on[host] = self._jobs_on.get(host, 0) + 1
        self.computing = len(self._jobs_on)
        return True

    def release(self, allocation: Allocation) -> Bounds:
        """Remove a job; return the bounds of the hosts that no longer compute."""
        if not self.sharing:
            self._idle = self._idle.joined(allocation.bounds, allocation.size)
            self.computing -= allocation.size
            return allocation.bounds
        left = []
        for host in allocation.ids:
            self._jobs_on[host] -= 1
            if not self._jobs_on[host]:
                del self._jobs_on[host]
                left.append(host)
        self.computing = len(self._jobs_on)
        mask = Allocation.of(left).mask
        self._busy &= ~mask
        return hostruns.bounds_of(mask)
