"""How many joules hosts have burnt: integrated, or charged as SimGrid's energy plug-in charges them.

The power of a host follows from its power state and from its load (`core.machine.power`). Exactly, energy is the
integral of power over time. SimGrid looks at a host now and then only, and charges the power *of that moment* for all
the time since it last looked. Batsim makes it look at all hosts whenever it writes a row of consumed_energy.csv (a job
starts or ends, a power state is decided or reached) or is asked; at the hosts of a task that ends, and of a task of one
executor that starts; at a job's first host when a delay of the job's ends; and at a host whose power state changes.
Looking comes before what happens at the moment changes any load.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.machine.power import HostPower

#: Host ids, int64 [any], or all of them as a slice.
Hosts = NDArray[np.int64] | slice
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

    def change(self, hosts: Sequence[int], power: HostPower, pstate: int, now: float) -> None:
        """Let some hosts with the same power states be in another one of them."""


class OwnMeter:
    """Counts by itself, given the load of each host."""

    def __init__(self, powers: Sequence[HostPower], pstates: Sequence[int], *, exact: bool) -> None:
        """Begin at 0 s with idle hosts.

        Args:
            powers: of each host.
            pstates: the power state of each host.
            exact: whether to integrate; else to charge as SimGrid does.
        """
        self._exact = exact
        count = len(powers)
        self._joules = np.zeros(count)
        #: Flop/s that run on each host, its watts, and until when it is charged, s.
        self._load, self._watts, self._until = np.zeros(count), np.zeros(count), np.zeros(count)
        #: Watts of each host in its power state: without load, with as little as can be, and what a full load adds.
        self._rest, self._epsilon, self._span = np.zeros(count), np.zeros(count), np.zeros(count)
        #: Flop/s of all its cores.
        self._speed = np.zeros(count)
        for host, (power, pstate) in enumerate(zip(powers, pstates, strict=True)):
            self._be_in(host, power, pstate)
        self._price(EVERY_HOST)

    def _be_in(self, hosts: int | NDArray[np.int64], power: HostPower, pstate: int) -> None:
        speed, idle, epsilon, full = power.states[pstate]
        # A power state of speed 0 counts as fully loaded.
        self._rest[hosts] = idle if speed else full
        self._epsilon[hosts], self._span[hosts] = epsilon, full - epsilon
        self._speed[hosts] = speed * power.cores or _STANDSTILL

    def _price(self, hosts: Hosts) -> None:
        load = self._load[hosts]
        share = np.minimum(load / self._speed[hosts], 1.0)
        self._watts[hosts] = np.where(share > 0, self._epsilon[hosts] + share * self._span[hosts], self._rest[hosts])

    def _charge(self, hosts: Hosts, now: float) -> None:
        self._joules[hosts] += self._watts[hosts] * (now - self._until[hosts])
        self._until[hosts] = now

    def look(self, hosts: Hosts, now: float) -> None:
        self._charge(hosts, now)

    def joules(self, hosts: Hosts, now: float) -> float:
        self._charge(hosts, now)
        return float(self._joules[hosts].sum())

    def burnt(self, hosts: Hosts, now: float) -> float:
        return float(self._joules[hosts].sum())

    def change(self, hosts: Sequence[int], power: HostPower, pstate: int, now: float) -> None:
        changed = np.array(hosts)
        self._charge(changed, now)
        self._be_in(changed, power, pstate)
        self._price(changed)

    def load(self, hosts: Hosts, flops: Any, now: float) -> None:
        """Let some flop/s run on hosts from now on: one number, or float64 [host]."""
        if self._exact:
            self._charge(hosts, now)
        self._load[hosts] = flops
        self._price(hosts)
