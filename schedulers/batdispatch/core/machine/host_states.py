"""Which hosts compute, sleep or switch, and in which power state: one table for whoever decides and whoever simulates.

==============  =======================================  ========================================================
state           what holds                               what ends it
==============  =======================================  ========================================================
`COMPUTING`     It is in a power state to compute in.    It is set to another one, at once: `COMPUTING`. It is
                Jobs may run.                            set to one to sleep in, without a job: `FALLING`.
`FALLING`       It goes through the virtual state on     Its time is over: `ASLEEP`.
                the way down. Nothing may run.
`ASLEEP`        It is in a power state to sleep in.      It is set to a power state to compute in: `RISING`.
                Nothing may run.
`RISING`        It goes through the virtual state on     Its time is over: `COMPUTING`.
                the way up. Nothing may run.
==============  =======================================  ========================================================

`HostStates.refusal` says why a decision is no such move.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from functools import cached_property

from batdispatch.core.hosts import hostset
from batdispatch.core.machine.machine import Machine
from batdispatch.core.machine.power import HostPower

HostState = Enum("HostState", "COMPUTING FALLING ASLEEP RISING")


class HostStates:
    """The power states of all hosts of a machine.

    Attributes:
        powers: of each host, by id.
        pstates: power state of each host, by id; while it switches, the virtual one that it goes through.
        falling: mask of the hosts that go to sleep, and so on.
    """

    def __init__(self, machine: Machine) -> None:
        """Begin in the states that the platform states.

        Raises:
            InputError: a host states no watts, or wrong ones.
        """
        self._machine = machine
        self.powers: Sequence[HostPower] = machine.powers
        self.pstates = [power.start for power in self.powers]
        self.falling = self.rising = 0
        self.asleep = hostset.mask_of(
            host for host, power in enumerate(self.powers) if power.start not in power.computing
        )
        #: Of those that sleep, the hosts that have done so from the beginning.
        self.from_start = self.asleep
        #: Host that switches -> the state that it will be in.
        self._targets: dict[int, int] = {}

    @property
    def away(self) -> int:
        """Mask of the hosts on which nothing may run, because they sleep or switch."""
        return self.falling | self.asleep | self.rising

    def of(self, host: int) -> HostState:
        """Return what a host does."""
        if self.asleep >> host & 1:
            return HostState.ASLEEP
        if self.falling >> host & 1:
            return HostState.FALLING
        return HostState.RISING if self.rising >> host & 1 else HostState.COMPUTING

    @cached_property
    def longest_wake(self) -> float:
        """The most seconds that a host takes to fall asleep and to wake up again; 0 if nobody knows."""
        classes = {id(power): power for power in self.powers}.values()
        seconds = [each.seconds_down(state) + each.seconds_up(state) for each in classes for state in each.sleeps]
        return max((each for each in seconds if not math.isnan(each)), default=0.0)

    @cached_property
    def can_sleep(self) -> int:
        """Mask of the hosts that have a power state to sleep in."""
        return hostset.mask_of(host for host, power in enumerate(self.powers) if power.sleeps)

    def seconds_up(self, host: int) -> float:
        """Return how long a host takes to wake up that sleeps or is about to, in seconds; 0 if nobody knows."""
        seconds = self.powers[host].seconds_up(self.target(host))
        return 0.0 if math.isnan(seconds) else seconds

    def target(self, host: int) -> int:
        """Return the power state that a host is in, or will be in when it has switched."""
        return self._targets.get(host, self.pstates[host])

    def refusal(self, hosts: int, state: str, busy: int, absent: int) -> str | None:
        """Say why hosts cannot be set to a power state; None: they can.

        Args:
            hosts: mask.
            state: the power state, a whole number as text.
            busy: mask of the hosts on which jobs run.
            absent: mask of the hosts that are away.
        """
        if not hosts or hosts >> len(self.powers):
            return f"hosts {hostset.to_text(hosts)!r} are not all in the platform, which has 0-{len(self.powers) - 1}"
        if not state.isdecimal():
            return f"power state {state[:40]!r} is no whole number such as 0"
        # What holds for one of several hosts that are alike holds for all.
        for host in hostset.ids(hosts & -hosts if self._alike(hosts, busy, absent) else hosts):
            problem = self._refusal_of(host, int(state), bool(busy >> host & 1), bool(absent >> host & 1))
            if problem is not None:
                return f"host {host} ({self._machine.hosts[host].name}) {problem}"
        return None

    @cached_property
    def _uniform(self) -> bool:
        return len({id(power) for power in self.powers}) == 1

    def _alike(self, hosts: int, *others: int) -> bool:
        """Return whether some hosts have the same power states, do the same, and are in the same of the masks."""
        sets = (self.falling, self.asleep, self.rising, *others)
        return self._uniform and all(hosts & mask in (0, hosts) for mask in sets)

    def _refusal_of(self, host: int, state: int, busy: bool, absent: bool) -> str | None:
        power, now = self.powers[host], self.of(host)
        if state >= len(power.states):
            return f"has no power state {state}, expected one of 0-{len(power.states) - 1}"
        if state in power.virtual:
            return f"cannot be set to power state {state}: it only goes through that one when it switches"
        if now in (HostState.FALLING, HostState.RISING):
            return f"is switching to power state {self._targets[host]}, and can be set when it is there"
        if now is HostState.ASLEEP and state in power.sleeps:
            return f"sleeps in power state {self.pstates[host]}: it must wake up before it can sleep in {state}"
        if busy and state in power.sleeps:
            return f"cannot sleep in power state {state}: jobs run there"
        if absent and state in power.sleeps:
            return f"cannot sleep in power state {state}: it is unavailable, and would be asleep when it comes back"
        return None

    def wrong_event(self, hosts: int, state: int, turned: bool) -> str | None:
        """Say why hosts that can be set to a power state cannot be so by one of Batsim 5's two events; None: they can.

        Args:
            hosts: mask.
            state: the power state.
            turned: whether they are turned on or off, or else their power state is changed.
        """
        for host in hostset.ids(hosts):
            switches = state in self.powers[host].sleeps or bool(self.asleep >> host & 1)
            if switches != turned:
                way = "is turned on or off (TurnOnOffHostsEvent)" if switches else "is changed (ChangeHostsPStateEvent)"
                return (
                    f"host {host} ({self._machine.hosts[host].name}) {way} to go from power state {self.pstates[host]} "
                    f"to {state}"
                )
        return None

    def why_not_computing(self, hosts: int) -> str:
        """Return what the first of some hosts does that cannot compute now; one of them cannot."""
        host = hostset.ids(hosts & self.away)[0]
        doing = {
            HostState.ASLEEP: f"sleeps in power state {self.pstates[host]}",
            HostState.FALLING: "is switching off",
            HostState.RISING: "is switching on",
        }
        return f"host {host} ({self._machine.hosts[host].name}) cannot compute now: it {doing[self.of(host)]}"

    def alike(self, hosts: Iterable[int]) -> list[list[int]]:
        """Return hosts in groups of those with the same power states that are in the same one."""
        groups: dict[tuple[int, int], list[int]] = {}
        powers, pstates = self.powers, self.pstates
        for host in hosts:
            groups.setdefault((id(powers[host]), pstates[host]), []).append(host)
        return list(groups.values())

    def begin(self, hosts: Sequence[int], state: int) -> int | None:
        """Set hosts that are alike to a power state.

        Return the virtual one that they go through, or None: they are there at once.
        """
        power, now, mask = self.powers[hosts[0]], self.pstates[hosts[0]], hostset.mask_of(hosts)
        passed = None
        if state in power.sleeps:
            self.falling |= mask
            passed = power.sleeps[state][0]
        elif now in power.sleeps:
            self.asleep &= ~mask
            self.from_start &= ~mask
            self.rising |= mask
            passed = power.sleeps[now][1]
        if passed is not None:
            self._targets.update(dict.fromkeys(hosts, state))
        for host in hosts:
            self.pstates[host] = state if passed is None else passed
        return passed

    def end(self, hosts: Iterable[int]) -> None:
        """Let hosts that switch be in their new power states."""
        there = 0
        for host in hosts:
            self.pstates[host] = self._targets.pop(host)
            there |= 1 << host
        self.asleep |= self.falling & there
        self.falling &= ~there
        self.rising &= ~there

    def targets(self, hosts: int) -> Iterator[tuple[int, int]]:
        """Yield each of some hosts with the power state that it is in, or will be in."""
        for host in hostset.ids(hosts):
            yield host, self.target(host)
