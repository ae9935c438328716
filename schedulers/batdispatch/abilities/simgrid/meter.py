"""SimGrid's own plug-in as the meter: it charges by itself at some moments, and whenever it is asked."""

from __future__ import annotations

from batdispatch.core.machine.host_states import AlikeHosts
from batdispatch.engines.energy import Hosts
from batdispatch.engines.timing import PlatformTimer


class SimGridMeter:
    """Asks SimGrid. See `batdispatch.engines.energy.Meter`."""

    def __init__(self, timer: PlatformTimer, hosts: int) -> None:
        """Ask about this many hosts."""
        self._timer = timer
        self._all = range(hosts)

    def look(self, hosts: Hosts, now: float) -> None:
        self.joules(hosts, now)

    def joules(self, hosts: Hosts, now: float) -> float:
        each = self._all[hosts] if isinstance(hosts, slice) else hosts.tolist()
        return sum(self._timer.joules(host, now) for host in each)

    def burnt(self, hosts: Hosts, now: float) -> float:
        return self.joules(hosts, now)

    def change(self, group: AlikeHosts, hosts: Hosts, now: float, load: float | None) -> None:
        """The timer sets the power state, and SimGrid hears of it."""
