"""What hosts burnt while they slept and while they switched, by the power states that a run's files tell.

The rows of pstate_changes.csv say which hosts were set to which power state, and when they had reached it, with six
digits. The rows of kind ``p`` of consumed_energy.csv say the same moments in microseconds, in the same order.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np

from batdispatch.core.errors import InputError
from batdispatch.core.hosts import hostset
from batdispatch.core.machine.host_states import HostStates
from batdispatch.core.machine.machine import Machine

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
        """Begin at 0 s, in the states that the platform states."""
        self._states = HostStates(machine)
        #: When hosts changed, s, how many were set then, and what `_level` is from then on.
        self._times, self._set, self._levels = [0.0], [0.0], [self._level()]

    def follow(self, change: Change) -> None:
        """Take up a row; rows come in order."""
        states = self._states
        for group in states.targets(change.hosts):
            if group.pstate != change.pstate:
                states.begin(group, change.pstate)
        if change.reached:
            states.end(change.hosts)
        self._times.append(change.time)
        self._set.append(0 if change.reached else change.hosts.bit_count())
        self._levels.append(self._level())

    def _level(self) -> tuple[float, float, int]:
        """Return the watts of the hosts that sleep, of those that switch, and how many sleep."""
        states = self._states
        sleeping, switching = states.alike(states.asleep), states.alike(states.falling | states.rising)
        return (
            sum(group.hosts.bit_count() * group.power.watts(group.pstate, 0.0) for group in sleeping),
            sum(group.hosts.bit_count() * group.power.switch_watts(group.pstate) for group in switching),
            states.asleep.bit_count(),
        )

    def between(self, begin: float, end: float) -> Split:
        """Return what hosts did from one moment to another, in s."""
        times = np.maximum.accumulate(self._times)
        spent = np.clip(np.append(times[1:], np.inf), begin, end) - np.clip(times, begin, end)
        asleep, switching, seconds = (spent[:, None] * np.array(self._levels)).sum(axis=0).tolist()
        within = (begin < times) & (times <= end)
        return Split(asleep, switching, seconds, float(np.array(self._set)[within].sum()))


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


def _changes(folder: Path) -> list[Change]:
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
    masks = {text: hostset.from_text(text) for text in {text for _, text, _ in rows}}
    found, coming = list[Change](), dict[str, int]()
    for (_, text, _), time, state in zip(reversed(rows), reversed(times), reversed(states), strict=True):
        if state >= 0:
            coming[text] = state
        found.append(Change(time, masks[text], coming.get(text, 0), state >= 0))
    return found[::-1]
