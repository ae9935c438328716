"""A dispatcher that lets a host sleep until a job needs it."""

from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.ledger import Ledger


class NightShift(Dispatcher):
    """Starts jobs in order of arrival; the last two hosts sleep from the beginning until the head does not fit."""

    needs_energy = True

    def begin(self, ledger: Ledger) -> None:
        size = ledger.machine.size
        self.sleepers = Allocation.of([size - 2, size - 1])
        ledger.set_state(self.sleepers, "3")

    def decide(self, ledger: Ledger) -> None:
        for job in list(ledger.queue.values()):
            place = ledger.place(job)
            if place is None:
                states = ledger.states
                if states is not None and states.asleep & self.sleepers.mask == self.sleepers.mask:
                    ledger.set_state(self.sleepers, "0")
                return
            ledger.start(job, place)
