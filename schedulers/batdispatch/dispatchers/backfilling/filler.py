"""Fill: start whatever fits."""

import math
from typing import ClassVar

from batdispatch.core.line.ledger import Ledger
from batdispatch.dispatchers.backfilling.queue import QueueDispatcher


class Filler(QueueDispatcher):
    """Goes through the queue in order and starts every job that fits now. Large jobs may starve.

    Typical use: to see how full a machine can be kept without planning.
    Limits: a large job waits for as long as smaller jobs keep coming.
    Guarantee: after each decision no waiting job fits what is free. There is no guarantee on waiting times.
    Time: `O(l + c (log l + n))` when capacity was freed, for c jobs that are tried and l groups of jobs that ask alike,
        of at most n jobs each. With an ordering that changes over time it is `O(q)` placements for q waiting jobs. When
        nothing was freed, only new jobs are tried.
    Deviations: none. It gives the schedules of Batsim's `filler`.
    References:
        [1] Dutot, Mercier, Poquet, Richard: "Batsim: a realistic language-independent resources and jobs management
            systems simulator", JSSPP, LNCS 10353, 2017, pp. 178-197 (the simulator whose schedulers have it).
            doi:10.1007/978-3-319-61756-5_10
    """

    searches: ClassVar[bool] = True
    heeds_choices = True

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
