"""Dispatchers that misbehave, for the tests of the decision process."""

import time

from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.ledger import Ledger


class Overlapping(Dispatcher):
    """Starts every job on host 0."""

    def decide(self, ledger: Ledger) -> None:
        for job in list(ledger.queue.values()):
            ledger.start(job, Allocation.of([0]))


class Slow(Dispatcher):
    """Takes its time over every decision."""

    def decide(self, ledger: Ledger) -> None:
        time.sleep(1.0)


class Stuck(Dispatcher):
    """Never comes to a decision."""

    def decide(self, ledger: Ledger) -> None:
        print("deciding", flush=True)
        while True:
            time.sleep(0.01)
