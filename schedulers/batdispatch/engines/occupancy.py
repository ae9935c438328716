"""Which hosts compute, and how often, during a simulation."""

from __future__ import annotations

from batdispatch.core.allocation import Allocation
from batdispatch.core.machine import Machine


class Occupancy:
    """Counts jobs on hosts. Without sharing, a host carries one job at most and a mask says it all.

    Attributes:
        busy: mask of the hosts that compute.
        away: mask of the unavailable hosts.
        computing: number of hosts that compute.
    """

    def __init__(self, machine: Machine, *, sharing: bool) -> None:
        self.sharing = sharing
        self.busy = 0
        self.away = 0
        self.computing = 0
        self._size = machine.size
        self._jobs_on: dict[int, int] = {}

    @property
    def idle(self) -> int:
        """Number of hosts that are available and do not compute."""
        away = (self.away & ~self.busy).bit_count() if self.away else 0
        return self._size - self.computing - away

    def occupy(self, allocation: Allocation) -> int:
        """Add a job; return the mask of the hosts that began to compute."""
        if not self.sharing:
            # No host of it was busy.
            self.busy |= allocation.mask
            self.computing += allocation.size
            return allocation.mask
        began = allocation.mask & ~self.busy
        self.busy |= allocation.mask
        for host in allocation.ids:
            self._jobs_on[host] = self._jobs_on.get(host, 0) + 1
        self.computing = len(self._jobs_on)
        return began

    def release(self, allocation: Allocation) -> int:
        """Remove a job; return the mask of the hosts that no longer compute."""
        busy = self.busy
        if not self.sharing:
            self.busy ^= allocation.mask
            self.computing -= allocation.size
            return allocation.mask
        for host in allocation.ids:
            self._jobs_on[host] -= 1
            if not self._jobs_on[host]:
                del self._jobs_on[host]
                self.busy &= ~(1 << host)
        self.computing = len(self._jobs_on)
        return busy & ~self.busy
