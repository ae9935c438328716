"""When hosts that switch or sleep are expected to be there again: what batsched's dispatchers for energy plan with."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Literal

import msgspec

from batdispatch.abilities.power.concerns.power_states import PowerStates
from batdispatch.abilities.power.machine.power import HostPower
from batdispatch.core.errors import InputError
from batdispatch.core.line.ledger import Ledger
from batdispatch.dispatchers.backfilling.queue import PlanOptions

#: What a host does that does not compute.
Stage = Literal["up", "down", "asleep"]


class SwitchOptions(PlanOptions, frozen=True, kw_only=True):
    """Options of every dispatcher that plans when hosts switch.

    time_switch_on: Expect a host to wake up in this many seconds. 0: in as many as the platform says.
    time_switch_off: Expect a host to fall asleep in this many seconds. 0: in as many as the platform says.
    least_sleep: Let a host sleep for at least this many seconds, if that is longer than it takes to save what switching
        burns.
    most_sleep: Let a host be woken after this many seconds of sleep even if that saves nothing.
    """

    rjms_delay: Annotated[float, msgspec.Meta(ge=0, le=1e9)] = 5.0
    time_switch_on: Annotated[float, msgspec.Meta(ge=0, le=1e9)] = 0.0
    time_switch_off: Annotated[float, msgspec.Meta(ge=0, le=1e9)] = 0.0
    least_sleep: Annotated[float, msgspec.Meta(ge=0, le=1e9)] = 0.0
    most_sleep: Annotated[float, msgspec.Meta(ge=0, le=1e9)] = 1e8


class SwitchTimes:
    """Puts hosts to sleep, wakes them, and says when those that do not compute can be had.

    A host that was put to sleep is left asleep until that has saved what switching burns. Both ways it is expected to
    take `rjms_delay` seconds longer than it does, as jobs are.
    """

    def __init__(self, ledger: Ledger, options: SwitchOptions) -> None:
        """Look after the hosts of a machine; one that states no watts has none that can sleep.

        Raises:
            InputError: how long a host takes to switch is neither known nor given.
        """
        self._ledger, self._options = ledger, options
        self.states = PowerStates.of(ledger).know_states()
        #: By the number of the kind of hosts: (seconds up, seconds down, seconds that a sleep takes at least).
        self._seconds = [self._seconds_of(power) for power, _ in self.states.kinds] if self.states else []
        #: (mask of hosts; when they are expected to have switched; when they are awake or may be woken), s.
        self._due: list[tuple[int, float, float]] = []
        #: Mask of the idle hosts that are taken for asleep, and what was noted without them.
        self._supposed, self._known = 0, self._due

    def _seconds_of(self, power: HostPower) -> tuple[float, float, float]:
        sleep, options = power.deepest, self._options
        if sleep is None:
            return 0.0, 0.0, 0.0
        up = options.time_switch_on or power.seconds_up(sleep)
        down = options.time_switch_off or power.seconds_down(sleep)
        if math.isnan(up + down):
            raise InputError(
                "it is not known how long hosts take to switch, expected the platform (--platform) or the options "
                "time_switch_on and time_switch_off"
            )
        least = _saving_time(power, sleep, up, down, 2 * options.rjms_delay)
        most = max(options.most_sleep, options.least_sleep)
        return up + options.rjms_delay, down + options.rjms_delay, min(max(least, options.least_sleep), most)

    @property
    def falling(self) -> int:
        """Mask of the hosts that fall asleep."""
        return 0 if self.states is None else self.states.falling & self._ledger.machine.compute

    @property
    def rising(self) -> int:
        """Mask of the hosts that wake up."""
        return 0 if self.states is None else self.states.rising & self._ledger.machine.compute

    @property
    def sleeping(self) -> int:
        """Mask of the hosts that sleep or fall asleep."""
        if self.states is None:
            return 0
        return self.falling | self._supposed | self.states.asleep & self._ledger.machine.compute

    def suppose(self, hosts: int) -> None:
        """Take some idle hosts, a mask, for hosts that were put to sleep just now, and no others any more."""
        self._due = self._known if self._supposed else self._due
        self._supposed, self._known = hosts, self._due
        for some, (_, down, least) in self._by_kind(hosts):
            over = self._ledger.now + down
            self._note(some, over, over + least)

    def away(self, wakings: Iterable[tuple[int, float]] = ()) -> list[tuple[int, float, float]]:
        """Return masks of the hosts that are not there from one time to another, in seconds.

        Args:
            wakings: (mask of sleeping hosts, when they are to be woken, s); the others sleep for ever.
        """
        asleep, always = self.sleeping, -math.inf
        away = [(hosts & self.rising, always, due) for hosts, _, due in self._due if hosts & self.rising]
        for woken, moment in wakings:
            away += [(hosts, always, moment + up) for hosts, (up, _, _) in self._by_kind(woken)]
            asleep &= ~woken
        return [*away, (asleep, always, math.inf)] if asleep else away

    def stages(self, wakings: Sequence[tuple[int, float]]) -> Iterator[tuple[int, float, float, Stage]]:
        """Yield which hosts, as masks, switch or sleep from one time to another, in seconds.

        Args:
            wakings: as in `away`.
        """
        now, noted = self._ledger.now, sum(hosts for hosts, _, _ in self._due)
        for hosts, over, due in [*self._due, (self.sleeping & ~noted, now, now)]:
            yield hosts & self.rising, now, over, "up"
            asleep = hosts & self.sleeping
            yield asleep, now, over, "down"
            # Until then it is not woken.
            yield asleep, max(over, now), due, "asleep"
            for woken, moment in [*wakings, (asleep & ~sum(hosts for hosts, _ in wakings), math.inf)]:
                yield asleep & woken, max(due, now), moment, "asleep"
        for woken, moment in wakings:
            for some, (up, _, _) in self._by_kind(woken):
                yield some, moment, moment + up, "up"

    def wakeable(self, hosts: int) -> float:
        """Return from when on all of some sleeping hosts, a mask, may be woken, in seconds, now or later."""
        due = max((due for mask, _, due in self._due if mask & hosts), default=-math.inf)
        return max(due, self._ledger.now)

    def by_wakeable(self, hosts: int) -> list[tuple[int, float]]:
        """Return some sleeping hosts as masks of those that may be woken at one time, in s, the soonest first."""
        groups: dict[float, int] = {}
        for mask, _, due in self._due:
            if mask & hosts and due > self._ledger.now:
                groups[due] = groups.get(due, 0) | mask & hosts
        groups[self._ledger.now] = hosts & ~sum(groups.values())
        return [(groups[due], due) for due in sorted(groups) if groups[due]]

    def next_end(self) -> float:
        """Return when the next hosts are expected to have switched, or to have slept for long enough, in seconds."""
        moments = (moment for _, *both in self._due for moment in both)
        return min((moment for moment in moments if moment > self._ledger.now), default=math.inf)

    def switch(self, hosts: int, *, awake: bool) -> None:
        """Wake hosts that sleep, or let idle ones sleep; `hosts` is a mask."""
        if not hosts:
            return
        ledger = self._ledger
        (PowerStates.of(ledger).wake if awake else PowerStates.of(ledger).let_sleep)(hosts)
        for some, (up, down, least) in self._by_kind(hosts):
            over = ledger.now + (up if awake else down)
            self._note(some, over, over if awake else over + least)

    def hear(self, hosts: int) -> None:
        """Note that hosts have switched; `hosts` is a mask."""
        asleep = hosts & self.sleeping
        self._note(hosts & ~asleep, -math.inf, -math.inf)
        for some, (_, _, least) in self._by_kind(asleep):
            self._note(some, -math.inf, self._ledger.now + least)

    def _by_kind(self, hosts: int) -> Iterator[tuple[int, tuple[float, float, float]]]:
        kinds = () if self.states is None else zip(self.states.kinds, self._seconds, strict=True)
        return ((hosts & members, seconds) for (_, members), seconds in kinds if hosts & members)

    def _note(self, hosts: int, switched: float, due: float) -> None:
        others = [(left, over, at) for mask, over, at in self._due if (left := mask & ~hosts)]
        self._due = [*others, (hosts, switched, due)] if hosts and due > self._ledger.now else others


def _saving_time(power: HostPower, sleep: int, up: float, down: float, more: float) -> float:
    """Return for how many seconds a host must sleep to burn no more than an idle one, or infinity.

    Args:
        power: of the host.
        sleep: the state that it sleeps in.
        up: how long it takes to wake up, s.
        down: how long it takes to fall asleep, s.
        more: for how much longer it would be idle, s.
    """
    idle, asleep = power.states[power.usual].idle, power.states[sleep].idle
    down_state, up_state = power.sleeps[sleep]
    # (up + down + more + s) * idle = joules of both switches + s * asleep
    joules = down * power.switch_watts(down_state) + up * power.switch_watts(up_state)
    return (joules - (up + down + more) * idle) / (idle - asleep) if idle > asleep else math.inf
