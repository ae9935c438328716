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
from collections.abc import Iterator, Sequence
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from batdispatch.abilities.power.machine.facet import powers_of
from batdispatch.abilities.power.machine.power import HostPower
from batdispatch.core.hosts import hostset
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.machine.machine import Machine

HostState = Enum("HostState", "COMPUTING FALLING ASLEEP RISING")


class AlikeHosts(NamedTuple):
    """Hosts, a mask, of one kind (see `HostStates.kinds`) that are in the same power state."""

    kind: int
    power: HostPower
    pstate: int
    hosts: int


class HostStates:
    """The power states of all hosts of a machine.

    Attributes:
        powers: of each host, by id.
        kinds: each different one of them, and the mask of the hosts that have it, by the lowest of these.
        within: (kind, power state) -> mask of the hosts in it; those that switch are in the virtual one.
        falling: mask of the hosts that go to sleep, and so on.
    """

    def __init__(self, machine: Machine) -> None:
        """Begin in the states that the platform states.

        Raises:
            InputError: a host states no watts, or wrong ones.
        """
        self._machine = machine
        self.powers: Sequence[HostPower] = powers_of(machine)
        self.kinds = _kinds(self.powers)
        self.within = {(kind, power.start): hosts for kind, (power, hosts) in enumerate(self.kinds)}
        #: (kind, virtual power state, the one that follows it) -> mask of the hosts that switch so.
        self._switching: dict[tuple[int, int, int], int] = {}
        self.falling = self.rising = 0
        self.asleep = sum(hosts for power, hosts in self.kinds if power.start not in power.computing)
        #: Of those that sleep, the hosts that have done so from the beginning.
        self.from_start = self.asleep

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
        kinds = [power for power, _ in self.kinds]
        seconds = [each.seconds_down(state) + each.seconds_up(state) for each in kinds for state in each.sleeps]
        return max((each for each in seconds if not math.isnan(each)), default=0.0)

    @cached_property
    def can_sleep(self) -> int:
        """Mask of the hosts that have a power state to sleep in."""
        return sum(hosts for power, hosts in self.kinds if power.sleeps)

    def pstate(self, host: int) -> int:
        """Return the power state of a host; while it switches, the virtual one that it goes through."""
        return next(alike.pstate for alike in self.alike(1 << host))

    def target(self, host: int) -> int:
        """Return the power state that a host is in, or will be in when it has switched."""
        return self.targets(1 << host)[0].pstate

    def alike(self, hosts: int) -> list[AlikeHosts]:
        """Return some hosts, a mask, in groups that have the same power states and are in the same one."""
        return self._groups([(kind, pstate, members & hosts) for (kind, pstate), members in self.within.items()])

    def targets(self, hosts: int) -> list[AlikeHosts]:
        """Return some hosts, a mask, in groups by the power state that they are in, or will be in when they are."""
        switching = self.falling | self.rising
        if not hosts & switching:
            return self.alike(hosts)
        parts = [(kind, state, members & hosts) for (kind, _, state), members in self._switching.items()]
        there = hosts & ~switching
        parts += [(kind, state, members & there) for (kind, state), members in self.within.items()]
        return self._groups(parts)

    def _groups(self, parts: list[tuple[int, int, int]]) -> list[AlikeHosts]:
        groups = [AlikeHosts(kind, self.kinds[kind][0], pstate, hosts) for kind, pstate, hosts in parts if hosts]
        return groups if len(groups) < 2 else sorted(groups, key=_lowest)

    def switch_groups(self, hosts: int, *, awake: bool) -> Iterator[tuple[Allocation, str]]:
        """Yield some hosts by the power state that they go to: those that switch alike can be told to together.

        Args:
            hosts: mask.
            awake: whether they are to wake up, into their usual states; else they are to sleep, in the deepest ones.
        """
        for power, members in self.kinds:
            part = members & hosts
            if part:
                target = power.usual if awake else power.deepest
                assert target is not None, "it can sleep"
                yield Allocation(part), str(target)

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

    def _alike(self, hosts: int, *others: int) -> bool:
        """Return whether some hosts have the same power states, do the same, and are in the same of the masks."""
        sets = (self.falling, self.asleep, self.rising, *others)
        return len(self.kinds) == 1 and not any(part != hosts for mask in sets if (part := hosts & mask))

    def _refusal_of(self, host: int, state: int, busy: bool, absent: bool) -> str | None:
        power, now = self.powers[host], self.of(host)
        if state >= len(power.states):
            return f"has no power state {state}, expected one of 0-{len(power.states) - 1}"
        if state in power.virtual:
            return f"cannot be set to power state {state}: it only goes through that one when it switches"
        if now in (HostState.FALLING, HostState.RISING):
            return f"is switching to power state {self.target(host)}, and can be set when it is there"
        if now is HostState.ASLEEP and state in power.sleeps:
            return f"sleeps in power state {self.pstate(host)}: it must wake up before it can sleep in {state}"
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
                    f"host {host} ({self._machine.hosts[host].name}) {way} to go from power state {self.pstate(host)} "
                    f"to {state}"
                )
        return None

    def why_not_computing(self, hosts: int) -> str:
        """Return what the first of some hosts does that cannot compute now; one of them cannot."""
        host = hostset.ids(hosts & self.away)[0]
        doing = {
            HostState.ASLEEP: f"sleeps in power state {self.pstate(host)}",
            HostState.FALLING: "is switching off",
            HostState.RISING: "is switching on",
        }
        return f"host {host} ({self._machine.hosts[host].name}) cannot compute now: it {doing[self.of(host)]}"

    def begin(self, group: AlikeHosts, state: int) -> int | None:
        """Set hosts that are alike to a power state.

        Return the virtual one that they go through, or None: they are there at once.
        """
        kind, power, now, hosts = group
        passed = None
        if state in power.sleeps:
            self.falling |= hosts
            passed = power.sleeps[state][0]
        elif now in power.sleeps:
            self.asleep &= ~hosts
            self.from_start &= ~hosts
            self.rising |= hosts
            passed = power.sleeps[now][1]
        if passed is not None:
            self._switching[kind, passed, state] = self._switching.get((kind, passed, state), 0) | hosts
        self._move(kind, now, state if passed is None else passed, hosts)
        return passed

    def _move(self, kind: int, before: int, after: int, hosts: int) -> None:
        within = self.within
        within[kind, before] ^= hosts
        within[kind, after] = within.get((kind, after), 0) | hosts

    def end(self, hosts: int) -> None:
        """Let hosts that switch be in their new power states; `hosts` is a mask."""
        for (kind, virtual, state), members in self._switching.items():
            there = members & hosts
            if there:
                self._switching[kind, virtual, state] ^= there
                self._move(kind, virtual, state, there)
        self.asleep |= self.falling & hosts
        self.falling &= ~hosts
        self.rising &= ~hosts


def _kinds(powers: Sequence[HostPower]) -> list[tuple[HostPower, int]]:
    hosts: dict[int, list[int]] = {}
    for host, power in enumerate(powers):
        hosts.setdefault(id(power), []).append(host)
    return [(powers[members[0]], hostset.mask_of(members)) for members in hosts.values()]


def _lowest(group: AlikeHosts) -> int:
    return group.hosts & -group.hosts
