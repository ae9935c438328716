"""What hosts burnt while they slept and while they switched, by the power states that a run's files tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.power.engine.energy_files import CHANGES, Changes
from batdispatch.abilities.power.machine.facet import powers_of
from batdispatch.abilities.power.machine.host_states import HostStates
from batdispatch.core.errors import InputError
from batdispatch.core.hosts.hostsets import Intervals
from batdispatch.core.machine.machine import Machine

#: Hosts of rows that are followed together.
_PAIRS = 1 << 16


class Split(NamedTuple):
    """What hosts did from one moment to another: joules and seconds of all of them, and how often they were set."""

    asleep: float
    switching: float
    seconds_asleep: float
    switches: float


class _Numbers:
    """Power states of all kinds of hosts as numbers.

    Attributes:
        start: number of the state in which each host begins, int64 [host].
        first: number of the first state of each host's kind, int64 [host].
        count: number of states of each host, int64 [host].
        down: of a state to sleep in, the virtual state on the way down, else -1; `up` likewise.
        level: watts of a host that sleeps in a state, of one that switches through it, and whether it sleeps there,
            float64 [state, 3].
    """

    def __init__(self, machine: Machine) -> None:
        kinds = [power for power, _ in HostStates(machine).kinds]
        begins = np.cumsum([0, *(len(power.states) for power in kinds)])
        number = {id(power): int(begin) for power, begin in zip(kinds, begins[:-1], strict=True)}
        self.first = np.array([number[id(power)] for power in powers_of(machine)])
        self.start = self.first + [power.start for power in powers_of(machine)]
        self.count = np.array([len(power.states) for power in powers_of(machine)])
        self.down, self.up, self.level = np.full(begins[-1], -1), np.full(begins[-1], -1), np.zeros((begins[-1], 3))
        for power, begin in zip(kinds, begins[:-1].tolist(), strict=True):
            for state, (down, up) in power.sleeps.items():
                self.down[begin + state], self.up[begin + state] = begin + down, begin + up
                self.level[begin + state] = power.watts(state, 0.0), 0.0, 1.0
                for virtual in (down, up):
                    self.level[begin + virtual, 1] = power.switch_watts(virtual)


class PowerSplit:
    """Knows which hosts of a machine slept and switched when."""

    def __init__(self, machine: Machine, changes: Changes) -> None:
        """Follow each host from row to row, from the states that the platform states.

        Raises:
            InputError: a row names a host or a power state that the machine does not have.
        """
        self._numbers, self._changes = _Numbers(machine), changes
        #: Number of the state that each host was set to last, and of the one that it is in, int64 [host].
        self._target = self._state = self._numbers.start
        rows = len(changes.times)
        self._steps = np.zeros((rows, 3))
        for hosts in _blocks(changes.hosts):
            self._follow(*hosts.hosts())
        self._times = np.append(0.0, changes.times)
        #: What `_Numbers.level` sums up to over all hosts from each time on, and how many hosts were set then.
        begin = self._numbers.level[self._numbers.start].sum(axis=0)
        self._levels = np.cumsum(np.concatenate([begin[None], self._steps]), axis=0)
        self._set = np.append(0, np.where(changes.reached, 0, changes.hosts.sizes))

    def _follow(self, hosts: NDArray[np.int64], row: NDArray[np.int32]) -> None:
        """Take up a host and a row each, in order of the rows."""
        numbers, changes = self._numbers, self._changes
        if (hosts >= len(numbers.first)).any() or (changes.pstate[row] >= numbers.count[hosts]).any():
            raise InputError(f"expected hosts and power states of the platform in {CHANGES}")
        # Each host by itself, its rows in order. Numbers of 16 bits are sorted fastest.
        order = np.argsort(hosts.astype(np.uint16) if len(numbers.first) < 1 << 16 else hosts, kind="stable")
        hosts, row = hosts[order], row[order]
        fresh = np.append(True, hosts[1:] != hosts[:-1])[: len(hosts)]
        target = numbers.first[hosts] + changes.pstate[row]
        before = np.where(fresh, self._target[hosts], np.roll(target, 1))
        passed = np.where(numbers.down[target] >= 0, numbers.down[target], numbers.up[before])
        state = np.where(changes.reached[row] | (target == before) | (passed < 0), target, passed)
        since = np.where(fresh, self._state[hosts], np.roll(state, 1))
        last = np.roll(fresh, -1)
        self._target, self._state = self._target.copy(), self._state.copy()
        self._target[hosts[last]], self._state[hosts[last]] = target[last], state[last]
        for column, level in enumerate(numbers.level.T):
            step = level[state] - level[since]
            self._steps[:, column] += np.bincount(row, weights=step, minlength=len(self._steps))

    def between(self, begin: float, end: float) -> Split:
        """Return what hosts did from one moment to another, in s."""
        times = np.maximum.accumulate(self._times)
        spent = np.clip(np.append(times[1:], np.inf), begin, end) - np.clip(times, begin, end)
        asleep, switching, seconds = (spent[:, None] * self._levels).sum(axis=0).tolist()
        within = (begin < times) & (times <= end)
        return Split(asleep, switching, seconds, float(self._set[within].sum()))


def _blocks(hosts: Intervals) -> Iterator[Intervals]:
    """Yield sets of hosts in blocks of some `_PAIRS` hosts, or one set."""
    block = np.cumsum(hosts.length) // _PAIRS
    for part in np.split(np.arange(len(block)), np.flatnonzero(np.diff(block)) + 1):
        yield Intervals(hosts.first[part], hosts.last[part], hosts.row[part], hosts.rows)
