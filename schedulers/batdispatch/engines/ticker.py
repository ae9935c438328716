"""What comes again and again in a simulation: calls, and joules of hosts that are probed. See `core.line.periods`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from batdispatch.core.line import events as e
from batdispatch.core.line.periods import Periods, first_multiple
from batdispatch.engines.mail import Mail

#: Seconds by which Batsim 5 comes late to a multiple: other dates of the same moment come before.
_LATE = 2e-10


class Surroundings(Protocol):
    """What is needed of `engines.world.World`."""

    now: float
    calls: int
    mail: Mail | None

    def schedule(self, at: float, action: Callable[[object], None], subject: object) -> None:
        """Let ``action(subject)`` happen at `at`, in seconds."""

    def count_call(self) -> None:
        """Note that the peer is called and nothing else happens."""

    def tell(self, *events: e.Event) -> None:
        """Tell the peer of events."""


#: What is told, given whether that is the last time.
EventMaker = Callable[[bool], e.Event]


class Ticker:
    """All of it in one simulation; what is to be told a finite number of times counts as calls that are to come."""

    def __init__(self, world: Surroundings) -> None:
        self._world = world
        self.periods = Periods()
        #: (name, kind) -> its period, s, the next multiple of it, what is told, and whether it ends by itself.
        self._entries: dict[tuple[str, str], tuple[float, int, EventMaker, bool]] = {}
        #: Moments at which something comes, s.
        self._due: set[float] = set()

    def begin(self, kind: str, name: str, period: float, times: int | None, telling: EventMaker) -> None:
        """Let something come that `Periods.problem` does not object to."""
        self.periods.begin(kind, name, period, times)
        self._world.calls += times is not None
        self._enter((name, kind), period, first_multiple(period, self._world.now), telling, times is not None)

    def _enter(self, key: tuple[str, str], period: float, multiple: int, telling: EventMaker, ends: bool) -> None:
        self._entries[key] = period, multiple, telling, ends
        at = round(multiple * period, 6)
        if at not in self._due:
            self._due.add(at)
            self._world.schedule(at if self._world.mail is None else at + _LATE, self._tick, at)

    def stop(self, kind: str, name: str) -> bool:
        """Let something come no more; return whether it did until now."""
        if (name, kind) in self._entries:
            self._world.calls -= self._entries.pop((name, kind))[3]
        return self.periods.stop(kind, name)

    def _tick(self, at: object) -> None:
        """Tell of all that comes at a moment, in the order of names as Batsim does."""
        world = self._world
        self._due.discard(at)
        events = []
        for key, (period, multiple, telling, ends) in sorted(self._entries.items()):
            if round(multiple * period, 6) != at:
                continue
            name, kind = key
            last = self.periods.came(kind, name)
            if last:
                del self._entries[key]
                world.calls -= 1
            else:
                self._enter(key, period, multiple + 1, telling, ends)
            events.append(telling(last))
        if events:
            world.count_call()
            world.tell(*events)
