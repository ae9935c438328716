"""How many joules hosts have burnt: integrated, or charged as SimGrid's energy plug-in charges them.

The power of a host follows from its power state and from its load (`machine.power`). Exactly, energy is the
integral of power over time. SimGrid looks at a host now and then only, and charges the power *of that moment* for all
the time since it last looked. Batsim makes it look at all hosts whenever it writes a row of consumed_energy.csv (a job
starts or ends, a power state is decided or reached) or is asked; at the hosts of a task that ends, and of a task of one
executor that starts; at a job's first host when a delay of the job's ends; and at a host whose power state changes.
Looking comes before what happens at the moment changes any load.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np

from batdispatch.abilities.power.machine.host_states import AlikeHosts, HostStates
from batdispatch.core.hosts import hostset
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.engines.timing import Hosts, PlatformTimer

EVERY_HOST = slice(None)
#: Flop/s that stand for none, to divide by.
_STANDSTILL = 1e-300


class Meter(Protocol):
    """Counts the joules of each host."""

    def look(self, hosts: Hosts, now: float) -> None:
        """Look at some hosts at a moment at which Batsim looks at them."""

    def joules(self, hosts: Hosts, now: float) -> float:
        """Return what some hosts have burnt, in joules, after a look at them."""

    def burnt(self, hosts: Hosts, now: float) -> float:
        """Return the same right after a look at all hosts."""

    def change(self, group: AlikeHosts, hosts: Hosts, now: float, load: float | None) -> None:
        """Let hosts that are alike be in another power state, the group's.

        Args:
            group: the hosts.
            hosts: their ids.
            now: s.
            load: flop/s that have run on each of them until now; None: not the same on all.
        """


class OwnMeter:
    """Counts by itself, given the load of each host."""

    def __init__(self, states: HostStates, *, exact: bool) -> None:
        """Begin at 0 s with idle hosts.

        Args:
            states: power states of the hosts.
            exact: whether to integrate; else to charge as SimGrid does.
        """
        self._exact = exact
        count = len(states.powers)
        self._joules = np.zeros(count)
        #: Flop/s that run on each host, its watts, and until when it is charged, s.
        self._load, self._watts, self._until = np.zeros(count), np.zeros(count), np.zeros(count)
        #: When all hosts were charged, if none was since, s, and their joules then.
        self._charged, self._sum = math.nan, 0.0
        #: (number of a power state, flop/s) -> watts.
        self._known: dict[tuple[int, float], float] = {}
        #: Number of the first power state of each kind of host.
        self._first = [0]
        rows = []
        for power, _ in states.kinds:
            # A power state of speed 0 counts as fully loaded.
            rows += [
                (idle if speed else full, epsilon, full - epsilon, speed * power.cores or _STANDSTILL)
                for speed, idle, epsilon, full in power.states
            ]
            self._first.append(len(rows))
        #: Of each power state: watts without load, with as little as can be, and what a full load adds; flop/s of all
        #: cores.
        self._rest, self._epsilon, self._span, self._speed = np.array(rows).T.copy()
        #: Number of the power state of each host.
        self._state = np.zeros(count, dtype=np.int64)
        for group in states.alike((1 << count) - 1):
            self._state[hostset.ids(group.hosts)] = self._number(group)
        self._price(EVERY_HOST)

    def _number(self, group: AlikeHosts) -> int:
        return self._first[group.kind] + group.pstate

    def _price(self, hosts: Hosts) -> None:
        state = self._state[hosts]
        share = np.minimum(self._load[hosts] / self._speed[state], 1.0)
        loaded = self._epsilon[state] + share * self._span[state]
        self._watts[hosts] = np.where(share > 0, loaded, self._rest[state])

    def _charge(self, hosts: Hosts, now: float) -> None:
        if now == self._charged:
            return
        self._charged = math.nan
        self._joules[hosts] += self._watts[hosts] * (now - self._until[hosts])
        self._until[hosts] = now

    def look(self, hosts: Hosts, now: float) -> None:
        self._charge(hosts, now)

    def joules(self, hosts: Hosts, now: float) -> float:
        if now != self._charged:
            self._charge(hosts, now)
            if hosts is EVERY_HOST:
                self._charged, self._sum = now, self.burnt(hosts, now)
        return self._sum if hosts is EVERY_HOST else self.burnt(hosts, now)

    def burnt(self, hosts: Hosts, now: float) -> float:
        return float(np.add.reduce(self._joules[hosts]))

    def change(self, group: AlikeHosts, hosts: Hosts, now: float, load: float | None) -> None:
        self._charge(hosts, now)
        state = self._number(group)
        self._state[hosts] = state
        if load is None:
            self._price(hosts)
        else:
            self._watts[hosts] = self._watts_at(state, load)

    def watts_of(self, group: AlikeHosts, load: float) -> float:
        """Return what each host of a group burns under some flop/s, in watts."""
        return self._watts_at(self._number(group), load)

    def _watts_at(self, state: int, load: float) -> float:
        """Return what a host burns in a power state of some number under some flop/s, in watts."""
        known = self._known.get((state, load))
        if known is None:
            share = min(load / self._speed[state], 1.0)
            watts = self._epsilon[state] + share * self._span[state] if share > 0 else self._rest[state]
            known = self._known[state, load] = float(watts)
        return known

    def load(self, hosts: Hosts, flops: Any, now: float) -> None:
        """Let some flop/s run on hosts from now on: one number, or float64 [host]."""
        if self._exact:
            self._charge(hosts, now)
        self._load[hosts] = flops
        self._price(hosts)

    def unload(self, hosts: Hosts, now: float) -> None:
        """Let nothing run on hosts from now on."""
        if self._exact:
            self._charge(hosts, now)
        self._load[hosts] = 0.0
        self._watts[hosts] = self._rest[self._state[hosts]]

    def load_alike(self, group: AlikeHosts, hosts: Hosts, flops: float, now: float) -> None:
        """Let some flop/s run on each host of a group from now on."""
        if self._exact:
            self._charge(hosts, now)
        self._load[hosts] = flops
        self._watts[hosts] = self.watts_of(group, flops)


class TimerMeter:
    """Asks a timer that charges by itself at some moments, and whenever it is asked, as SimGrid's plug-in does."""

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
        """Do nothing: the timer is told to set the power state, and charges what it has to."""


def index_of(hosts: Allocation) -> Hosts:
    """Return the ids of some hosts as an index, as a slice where they are consecutive."""
    bounds = hosts.bounds
    return slice(*bounds) if len(bounds) == 2 else np.array(hosts.ids)
