"""The layer that saves power, with a watch over when it wakes hosts."""

from batdispatch.abilities.power.power_saving import PowerSaving
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import parse_options
from batdispatch.core.line.ticks import TICK


class Punctual(PowerSaving):
    """Notes each host that sleeps beyond the moment at which it had to be woken for a start that is planned.

    Attributes:
        late: (the moment of which this was seen, the moment at which hosts had to be woken, both in s; their mask).
        drowsy: the same of hosts that went to sleep though they could not be awake again by then.
        planned: how often hosts slept on after a decision that had to be woken for a start later.
    """

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        self.late: list[tuple[float, float, int]] = []
        self.drowsy: list[tuple[float, float, int]] = []
        self.planned = 0
        self._deadlines: list[tuple[float, int]] = []

    def decide(self, ledger: Ledger) -> None:
        states, boots, now = ledger.states, ledger.boots, ledger.now
        assert states is not None
        assert boots is not None
        there = states.asleep & ~ledger.unavailable
        for deadline, hosts in self._deadlines:
            if deadline < now - TICK / 2 and hosts & there:
                self.late.append((now, deadline, hosts & there))
        before = states.falling
        super().decide(ledger)
        fallen = states.falling & ~before
        for start, hosts in self.inner.planned_starts(ledger):
            if hosts & fallen and boots.awake_at(hosts & fallen, now) > start:
                self.drowsy.append((now, start, hosts & fallen))
        there = states.asleep & ~ledger.unavailable
        self._deadlines = [
            (start - boots.seconds_up(hosts & there), hosts & there)
            for start, hosts in self.inner.planned_starts(ledger)
            if hosts & there
        ]
        for deadline, hosts in self._deadlines:
            self.planned += deadline > now
            if deadline <= now:
                self.late.append((now, deadline, hosts))


def punctual(dispatcher: str, **options: str) -> Punctual:
    """Return the layer around a dispatcher, whose name may have options in brackets."""
    chosen = {"dispatcher": dispatcher, **options}
    return Punctual(parse_options(Punctual.options_type, chosen, "test"))
