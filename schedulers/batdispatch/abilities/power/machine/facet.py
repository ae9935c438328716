"""The power states of a machine's hosts, as a facet of it."""

from __future__ import annotations

from typing import Any

from batdispatch.abilities.power.machine.power import WATTS_PROPERTY, HostPower, read_power
from batdispatch.core.errors import InputError
from batdispatch.core.machine.facet import Facet
from batdispatch.core.machine.machine import SLEEP_PROPERTY, Machine


class HostPowers(Facet):
    """The power states of each host.

    Attributes:
        by_host: those of each host, by id; equal ones are one object.
    """

    def __init__(self, machine: Machine) -> None:
        """Read them.

        Raises:
            InputError: a host states no watts, or wrong ones.
        """
        known: dict[object, HostPower] = {}
        found = []
        for host in machine.hosts:
            stated = host.properties.get(WATTS_PROPERTY), host.properties.get(SLEEP_PROPERTY)
            key = (*stated, host.speeds, host.cores, host.pstate)
            if key not in known:
                try:
                    known[key] = read_power(host.properties, host.speeds, host.cores, host.pstate)
                except InputError as problem:
                    raise InputError(f"host {host.name}: {problem}") from None
            found.append(known[key])
        self.by_host = tuple(found)

    @staticmethod
    def is_stated(machine: Machine) -> bool:
        """Return whether a host states watts."""
        return any(WATTS_PROPERTY in host.properties for host in machine.hosts)

    @property
    def plain_at_first(self) -> bool:
        """Whether no host sleeps at first."""
        return all(power.start in power.computing for power in self.by_host)

    def facts(self) -> list[dict[str, Any]]:
        """Return what hosts burn, by kind."""
        kinds: dict[int, tuple[HostPower, int]] = {}
        for power in self.by_host:
            kinds[id(power)] = power, kinds.get(id(power), (power, 0))[1] + 1
        return [
            {
                "hosts": count,
                "idle": power.states[power.start].idle,
                "peak": max(power.states[state].full for state in power.computing),
                "computing": list(power.computing),
                "sleep": [
                    {
                        "state": state,
                        "watts": power.watts(state, 0.0),
                        "seconds_down": power.seconds_down(state),
                        "seconds_up": power.seconds_up(state),
                    }
                    for state in sorted(power.sleeps)
                ],
            }
            for power, count in kinds.values()
        ]

    @staticmethod
    def in_words(entry: dict[str, Any]) -> str:
        """Return what a kind of host burns, in words."""
        states = f" in {len(entry['computing'])} states" if len(entry["computing"]) > 1 else ""
        sleeps = "".join(
            f"; sleeps in state {each['state']} at {each['watts']:g} W, {each['seconds_down']:g} s to fall asleep, "
            f"{each['seconds_up']:g} s to wake up"
            for each in entry["sleep"]
        )
        return (
            f"{entry['hosts']} x {entry['idle']:g} W idle, {entry['peak']:g} W at most{states}{sleeps or '; no sleep'}"
        )


def powers_of(machine: Machine) -> tuple[HostPower, ...]:
    """Return the power states of each host, by id.

    Raises:
        InputError: a host states no watts, or wrong ones.
    """
    return HostPowers.of(machine).by_host
