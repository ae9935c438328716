"""How long hosts slept and switched, as Batsim sums it up in schedule.csv."""

from __future__ import annotations

import numpy as np

from batdispatch.abilities.power.engine.energy import index_of
from batdispatch.core.hosts.allocation import Allocation

#: In the order in which masks are given.
STATES = ("sleeping", "switching_on", "switching_off")


class StateTimes:
    """Sums over the hosts of the seconds in each state; a host's time in a state counts when it leaves the state."""

    def __init__(self, hosts: int) -> None:
        """Start at 0 s with none of so many hosts in any of them."""
        self._since = np.zeros(hosts)
        self._masks = (0,) * len(STATES)
        self.seconds = dict.fromkeys(STATES, 0.0)

    def change(self, now: float, *masks: int) -> None:
        """Note which hosts are in which of `STATES` from now on."""
        if masks == self._masks:
            return
        for name, old, new in zip(STATES, self._masks, masks, strict=True):
            left = old & ~new
            if left:
                since = self._since[index_of(Allocation(left))]
                self.seconds[name] += now * len(since) - float(np.add.reduce(since))
        for old, new in zip(self._masks, masks, strict=True):
            come = new & ~old
            if come:
                self._since[index_of(Allocation(come))] = now
        self._masks = masks
