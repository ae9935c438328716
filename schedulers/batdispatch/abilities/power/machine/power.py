"""What a host's power states are: watts, speeds, and which states it sleeps in or switches through.

A platform states them as SimGrid and Batsim read them. ``speed`` has one entry for each power state (pstate).
``wattage_per_state`` has the watts of each, as ``Idle:Epsilon:AllCores`` or ``Idle:AllCores``. ``sleep_pstates`` names
the states in which a host sleeps, as ``sleep:off:on``, each with the two *virtual* states through which it goes: the
second on the way down, the third on the way up. A host takes one flop on one core of a virtual state to get through.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import msgspec

from batdispatch.core.errors import InputError
from batdispatch.core.machine.machine import SLEEP_PROPERTY

#: Host property with the watts of each power state.
WATTS_PROPERTY = "wattage_per_state"
#: What Batsim called it before 2020, and SimGrid before 3.25.
_OLD_WATTS_PROPERTY = "watt_per_state"
#: More than any host burns; sums of joules stay finite.
_MAX_WATTS = 1e12
_WATTS_FORM = "Idle:Epsilon:AllCores or Idle:AllCores in watts for each power state, separated by commas"
_SLEEP_FORM = "sleep:off:on, three power states, for each state that the host sleeps in, separated by commas"


class PowerState(NamedTuple):
    """One power state: flop/s of one core (NaN: not told), and watts."""

    speed: float
    #: With nothing to compute.
    idle: float
    #: With as little to compute as can be.
    epsilon: float
    #: With all cores busy.
    full: float


class HostPower(msgspec.Struct, frozen=True, dict=True):
    """The power states of a host, which many hosts may share.

    Attributes:
        states: by number.
        sleeps: number of a state that the host sleeps in -> those of the virtual states on the way down and up.
        cores: of the host.
        start: the state in which it begins.
    """

    states: tuple[PowerState, ...]
    sleeps: Mapping[int, tuple[int, int]]
    cores: int = 1
    start: int = 0

    @cached_property
    def virtual(self) -> frozenset[int]:
        """The states through which the host only goes."""
        return frozenset(state for pair in self.sleeps.values() for state in pair)

    @cached_property
    def computing(self) -> tuple[int, ...]:
        """The states in which it computes, in order."""
        return tuple(n for n in range(len(self.states)) if n not in self.sleeps and n not in self.virtual)

    @cached_property
    def usual(self) -> int:
        """The state in which it computes unless somebody wants another one."""
        return self.start if self.start in self.computing else self.computing[0]

    @cached_property
    def slower(self) -> tuple[int, ...]:
        """The usual state to compute in, then those in which it computes more slowly, the fastest of them first."""
        speed = self.states[self.usual].speed
        slower = [state for state in self.computing if 0 < self.states[state].speed < speed]
        return self.usual, *sorted(slower, key=lambda state: -self.states[state].speed)

    @cached_property
    def deepest(self) -> int | None:
        """The state to sleep in that burns least; None: it cannot sleep."""
        return min(self.sleeps, key=lambda state: self.states[state].idle, default=None)

    def watts(self, state: int, load: float) -> float:
        """Return what it burns, in watts.

        Args:
            state: its power state.
            load: flop/s that run on it over what all its cores do in this state, 0 to 1.
        """
        speed, idle, epsilon, full = self.states[state]
        if speed == 0:
            return full
        return epsilon + min(load, 1.0) * (full - epsilon) if load > 0 else idle

    @property
    def most(self) -> float:
        """What it burns at most in its usual state, in watts."""
        return self.watts(self.usual, 1.0)

    def switch_watts(self, virtual: int) -> float:
        """Return what it burns while it goes through a virtual state, with one core busy."""
        return self.watts(virtual, 1 / self.cores)

    def seconds_down(self, sleep: int) -> float:
        """Return how long it takes to fall asleep, in seconds."""
        return 1 / self.states[self.sleeps[sleep][0]].speed

    def seconds_up(self, sleep: int) -> float:
        """Return how long it takes to wake up from a state that it sleeps in, in seconds."""
        return 1 / self.states[self.sleeps[sleep][1]].speed

    @cached_property
    def seconds_to_nap(self) -> float:
        """How long it takes to fall asleep in its deepest state and to wake up again, in seconds; 0: it cannot."""
        deepest = self.deepest
        return 0.0 if deepest is None else self.seconds_down(deepest) + self.seconds_up(deepest)


def read_power(properties: Mapping[str, str], speeds: Sequence[float], cores: int, start: int) -> HostPower:
    """Read a host's properties.

    Args:
        properties: of the host.
        speeds: flop/s of one core in each power state; none: they are not told.
        cores: of the host.
        start: the state in which it begins.

    Raises:
        InputError: watts are missing or malformed, or a state that the host sleeps in has no states to switch through.
    """
    text = properties.get(WATTS_PROPERTY)
    if text is None:
        old = ""
        if _OLD_WATTS_PROPERTY in properties:
            old = f" but {_OLD_WATTS_PROPERTY}, its name until 2020, when its middle figure was that of one core"
        raise InputError(f"it has no {WATTS_PROPERTY}{old}, expected {_WATTS_FORM}")
    watts = [_read_watts(part) for part in text.rstrip().rstrip(",").split(",")]
    if speeds and len(watts) != len(speeds):
        raise InputError(
            f"{WATTS_PROPERTY} {text[:80]!r} has the watts of {len(watts)} power states, expected {len(speeds)}, one "
            "for each speed"
        )
    for number, (idle, _, full) in enumerate(watts):
        if full < idle:
            raise InputError(
                f"{WATTS_PROPERTY}: power state {number} has {full:g} W with all cores busy, expected at least its "
                f"{idle:g} W idle"
            )
    known = speeds or [math.nan] * len(watts)
    states = tuple(PowerState(speed, *each) for speed, each in zip(known, watts, strict=True))
    return HostPower(states, _read_sleeps(properties.get(SLEEP_PROPERTY, ""), states), cores, start)


def _read_watts(text: str) -> tuple[float, float, float]:
    try:
        numbers = [float(part) for part in text.split(":")]
    except ValueError:
        numbers = []
    if len(numbers) not in (2, 3) or not all(0 <= number <= _MAX_WATTS for number in numbers):
        raise InputError(
            f"{WATTS_PROPERTY}: {text.strip()[:80]!r} is malformed, expected {_WATTS_FORM}, up to {_MAX_WATTS:g}"
        )
    # Where two are stated, the second is that of all cores.
    return numbers[0], numbers[-2], numbers[-1]


def _read_sleeps(text: str, states: Sequence[PowerState]) -> dict[int, tuple[int, int]]:
    sleeps: dict[int, tuple[int, int]] = {}
    for part in text.split(",") if text.strip() else ():
        numbers = [int(word) if word.strip().isdecimal() else -1 for word in part.split(":")]
        if len(numbers) != 3 or not all(0 <= number < len(states) for number in numbers) or len(set(numbers)) != 3:
            raise InputError(
                f"{SLEEP_PROPERTY}: {part.strip()[:80]!r} is malformed, expected {_SLEEP_FORM}, all different and "
                f"below {len(states)}"
            )
        sleep, down, up = numbers
        if states[down].speed == 0 or states[up].speed == 0:
            raise InputError(f"{SLEEP_PROPERTY}: {part.strip()!r}: a state that the host goes through has speed 0")
        if sleep in sleeps:
            raise InputError(f"{SLEEP_PROPERTY}: state {sleep} is given twice")
        sleeps[sleep] = (down, up)
    virtual = {number for pair in sleeps.values() for number in pair}
    both = sorted(virtual & sleeps.keys())
    if both:
        raise InputError(f"{SLEEP_PROPERTY}: state {both[0]} is one to sleep in and one to go through")
    if len(virtual) + len(sleeps) == len(states):
        raise InputError(f"{SLEEP_PROPERTY} {text[:80]!r}: no power state is left to compute in")
    return sleeps
