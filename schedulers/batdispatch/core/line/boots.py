"""Jobs that were started on hosts which sleep or switch: they begin to run when all their hosts are awake.

To the dispatcher such a job runs: it holds its hosts, and its start is the moment at which they are expected to be
awake. The simulator hears of the job when that has come. If a host goes away before, the start is called off.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from batdispatch.core.hosts import hostset
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.line import decisions as d
from batdispatch.core.machine.host_states import HostStates


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
        #: Host that switches -> when it is expected to have done so, s.
        self._due: dict[int, float] = {}

    def switch(self, hosts: Iterable[int], seconds: float, now: float) -> None:
        """Note that hosts switch from now on, for some seconds; NaN: nobody knows for how many."""
        self._due.update(dict.fromkeys(hosts, now if math.isnan(seconds) else now + seconds))

    def awake_at(self, hosts: int, now: float) -> float:
        """Return when all of some hosts can be awake, in seconds, if each is woken as soon as it can be."""
        states, latest = self.states, now
        for host in hostset.ids(hosts & states.away):
            ready = max(self._due.get(host, now), now)
            if not states.rising >> host & 1:
                ready += states.seconds_up(host)
            latest = max(latest, ready)
        return latest

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

    def groups(self, hosts: int, *, awake: bool) -> Iterator[tuple[Allocation, str]]:
        """Yield some hosts by the power state that they go to: those that switch alike can be told to together.

        Args:
            hosts: mask.
            awake: whether they are to wake up; else they are to sleep.
        """
        groups: dict[tuple[int, int], list[int]] = {}
        states = self.states
        for host in hostset.ids(hosts):
            power = states.powers[host]
            target = power.usual if awake else power.deepest
            assert target is not None, "it can sleep"
            groups.setdefault((id(power), target), []).append(host)
        for (_, target), members in groups.items():
            yield Allocation.of(members), str(target)
