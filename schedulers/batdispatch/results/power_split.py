"""What hosts burnt while they slept and while they switched, by the power states that a run's files tell.

The rows of pstate_changes.csv say which hosts were set to which power state, and when they had reached it, with six
digits. The rows of kind ``p`` of consumed_energy.csv say the same moments in microseconds, in the same order.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from batdispatch.core.errors import InputError
from batdispatch.core.hosts import hostset
from batdispatch.core.machine.machine import Machine
from batdispatch.core.machine.power import HostPower

CHANGES = "pstate_changes.csv"
#: Its first three columns are the time, s, the joules of all hosts since 0 s, and the kind of the row.
FILE = "consumed_energy.csv"


class Change(NamedTuple):
    """A row about some hosts, a mask: they are in a power state, or are set to one (`reached` is false)."""

    time: float
    hosts: int
    pstate: int
    reached: bool


class Split(NamedTuple):
    """What hosts did from one moment to another: joules and seconds of all of them, and how often they were set."""

    asleep: float
    switching: float
    seconds_asleep: float
    switches: float


class PowerSplit:
    """Follows which hosts of a machine sleep and switch."""

    def __init__(self, machine: Machine) -> None:
        """Begin at 0 s."""
        kinds: dict[int, tuple[HostPower, list[int]]] = {}
        for host, power in enumerate(machine.powers):
            kinds.setdefault(id(power), (power, []))[1].append(host)
        self._kinds = [(power, hostset.mask_of(members)) for power, members in kinds.values()]
        #: (kind, power state) -> mask of the hosts that sleep in it, or go through it.
        self._within: dict[tuple[int, int], int] = {}
        #: Watts of the hosts that sleep, of those that switch, and how many sleep; how many hosts were set so far.
        self._levels, self._switches = [0.0, 0.0, 0.0], 0
        #: The same by the moments at which they changed.
        self._times, self._rows = [0.0], [(0.0, 0.0, 0.0)]
        self._counts = [0.0]

    def follow(self, change: Change) -> None:
        """Take up a row; rows come in order."""
        for kind, (power, members) in enumerate(self._kinds):
            part = change.hosts & members
            if part:
                self._set(kind, power, part, change)
        self._switches += 0 if change.reached else change.hosts.bit_count()
        self._times.append(change.time)
        self._rows.append((self._levels[0], self._levels[1], self._levels[2]))
        self._counts.append(self._switches)

    def _set(self, kind: int, power: HostPower, hosts: int, change: Change) -> None:
        before = -1
        for (other, pstate), members in list(self._within.items()):
            left = members & hosts if other == kind else 0
            if left:
                self._within[kind, pstate] ^= left
                self._count(power, pstate, -left.bit_count())
                before = pstate
        after = change.pstate
        if not change.reached:
            after = power.sleeps[after][0] if after in power.sleeps else power.sleeps.get(before, (0, after))[1]
        if after in power.sleeps or after in power.virtual:
            self._within[kind, after] = self._within.get((kind, after), 0) | hosts
            self._count(power, after, hosts.bit_count())

    def _count(self, power: HostPower, pstate: int, hosts: int) -> None:
        if pstate in power.sleeps:
            self._levels[0] += hosts * power.watts(pstate, 0.0)
            self._levels[2] += hosts
        else:
            self._levels[1] += hosts * power.switch_watts(pstate)

    def between(self, begin: float, end: float) -> Split:
        """Return what hosts did from one moment to another, in s."""
        times = np.maximum.accumulate(self._times)
        spent = np.clip(np.append(times[1:], np.inf), begin, end) - np.clip(times, begin, end)
        asleep, switching, seconds = (spent[:, None] * np.array(self._rows)).sum(axis=0).tolist()
        counted = np.searchsorted(times, [begin, end], side="right") - 1
        first, last = (self._counts[max(at, 0)] for at in counted.tolist())
        return Split(asleep, switching, seconds, last - first)


def split_of(folder: Path, machine: Machine) -> PowerSplit | None:
    """Return which hosts slept and switched when; None: no file says it.

    Args:
        folder: of the run.
        machine: its machine.

    Raises:
        InputError: pstate_changes.csv is malformed.
    """
    if not (folder / CHANGES).is_file():
        return None
    split = PowerSplit(machine)
    for change in _changes(folder):
        split.follow(change)
    return split


def _changes(folder: Path) -> Iterator[Change]:
    with (folder / CHANGES).open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    try:
        states = [int(state) for _, _, state in rows]
        times = [float(time) for time, _, _ in rows]
    except ValueError as problem:
        expected = f"expected time,machine_id,new_pstate in each row: {problem}"
        raise InputError(expected, source=str(folder / CHANGES)) from None
    lines = (folder / FILE).read_bytes().splitlines()
    exact = [float(line.partition(b",")[0]) for line in lines if b",p," in line]
    # Only the rows of the beginning have none there.
    first = len(rows) - len(exact)
    if first >= 0 and not any(times[:first]):
        times[first:] = exact
    masks = dict[str, int]()
    for _, text, _ in rows:
        if text not in masks:
            masks[text] = hostset.from_text(text)
    targets: list[int] = []
    coming: dict[str, int] = {}
    for (_, text, _), state in zip(reversed(rows), reversed(states), strict=True):
        if state >= 0:
            coming[text] = state
        targets.append(state if state >= 0 else coming.get(text, 0))
    for (_, text, _), time, state, target in zip(rows, times, states, reversed(targets), strict=True):
        yield Change(time, masks[text], target, state >= 0)
