"""Fill: start whatever fits."""

import math
from typing import ClassVar

from batdispatch.core.ledger import Ledger
from batdispatch.dispatchers.backfilling.queue import QueueDispatcher


class Filler(QueueDispatcher):
    """Go through the queue in order and start every job that fits now. Large jobs may starve.

    Guarantee: after each decision no waiting job fits what is free. There is none on waiting times.
    Time: see `Lanes` when capacity was freed (with an ordering that changes over time, O(q) for q waiting jobs);
        otherwise only new jobs are looked at, since a job that did not fit cannot fit before capacity is freed.
    Deviations: none from Batsim's `filler`, whose schedules this reproduces.
    References: [1] Dutot, Mercier, Poquet, Richard: "Batsim: a realistic language-independent resources and jobs
        management systems simulator", JSSPP 2015 (the simulator whose reference schedulers have it).
    """

    searches: ClassVar[bool] = True

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        self._epoch = (-1, 0)

    def decide(self, ledger: Ledger) -> None:
        # Since the last decision capacity only shrank, unless the epoch says otherwise: only new jobs can fit.
        fresh = self.epoch(ledger) == self._epoch
        self._epoch = self.epoch(ledger)
        started = []
        for job in self.candidates(ledger, lambda job: math.inf if ledger.fits(job) else -1.0, fresh=fresh):
            place = self.choose_now(job)
            if place is not None:
                ledger.start(job, place)
                started.append(job)
        self.forget_started(started)
