"""Jobs that were started on hosts which sleep or switch: they begin to run when all their hosts are awake.

To the dispatcher such a job runs: it holds its hosts, and its start is the moment at which they are expected to be
awake. The simulator hears of the job when that has come. If a host goes away before, the start is called off.
"""

from __future__ import annotations

import math

from batdispatch.abilities.power.machine.host_states import HostStates
from batdispatch.core.line import decisions as d


class Boots:
    """The decisions to start jobs that are held back.

    Attributes:
        states: of the hosts.
        waiting: by the id of the job.
        killed: ids of the jobs that are to be killed as soon as they run.
    """

    def __init__(self, states: HostStates) -> None:
        self.states = states
        self.waiting: dict[str, d.Execute] = {}
        self.killed: set[str] = set()
        #: (mask of hosts that switch, when they are expected to have done so in s).
        self._switches: list[tuple[int, float]] = []

    def switch(self, hosts: int, seconds: float, now: float) -> None:
        """Note that hosts, a mask, switch from now on, for some seconds; NaN: nobody knows for how many."""
        others = (self.states.falling | self.states.rising) & ~hosts
        self._switches = [(left, due) for mask, due in self._switches if (left := mask & others)]
        self._switches.append((hosts, now if math.isnan(seconds) else now + seconds))

    def awake_at(self, hosts: int, now: float) -> float:
        """Return when all of some hosts can be awake, in seconds, if each is woken as soon as it can be."""
        states, latest = self.states, now
        switching = hosts & (states.falling | states.rising)
        for mask, due in self._switches:
            if mask & switching:
                latest = max(latest, max(due, now) + self.seconds_up(mask & switching & states.falling))
        return max(latest, now + self.seconds_up(hosts & states.asleep))

    def seconds_up(self, hosts: int) -> float:
        """Return how long the slowest of some hosts takes to wake up, which sleep or are about to; 0 if none is."""
        known = [group.power.seconds_up(group.pstate) for group in self.states.targets(hosts)] if hosts else ()
        return max((seconds for seconds in known if not math.isnan(seconds)), default=0.0)

    def ready(self, absent: int) -> list[d.Execute]:
        """Take out and return the decisions whose hosts are all awake; `absent`: mask of the hosts that are away."""
        away = self.states.away | absent
        ready = [execute for execute in self.waiting.values() if not execute.allocation.mask & away]
        for execute in ready:
            del self.waiting[execute.job_id]
        return ready

    def on(self, hosts: int) -> list[d.Execute]:
        """Take out and return the decisions for some hosts; `hosts` is a mask."""
        named = [execute for execute in self.waiting.values() if execute.allocation.mask & hosts]
        for execute in named:
            del self.waiting[execute.job_id]
        return named

    def to_wake(self) -> int:
        """Return the mask of the hosts that sleep and that a job waits for."""
        wanted = 0
        for execute in self.waiting.values():
            wanted |= execute.allocation.mask
        return wanted & self.states.asleep
