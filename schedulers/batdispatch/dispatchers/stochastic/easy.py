"""EASY backfilling of stochastic jobs."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

from batdispatch.core.allocation import Allocation
from batdispatch.core.job import Job
from batdispatch.core.ledger import Ledger
from batdispatch.core.options import Options
from batdispatch.dispatchers.backfilling.easy import Easy
from batdispatch.dispatchers.stochastic.attempts import StochasticOptions
from batdispatch.dispatchers.stochastic.speculation import SHORTEST, Gap, Speculative


class StochasticEasyOptions(StochasticOptions, frozen=True, kw_only=True):
    """Options of stochastic EASY.

    requests, rate, grid, runs, factor, speculate: see `batdispatch explain stochastic-batch`.
    ordering, placement, default_walltime, prediction, reservation: see `batdispatch explain easy`.
    """

    reservation: Literal["count", "hosts"] = "count"


class StochasticEasy(Speculative, Easy):
    """EASY backfilling with reservation sequences: each job that states its law runs attempt after attempt.

    Capacity that an early end frees is used at once, so long requests waste nothing and asking for the most is best:
    the opposite of a rigid plan. A failed attempt goes to its place by the ordering as a job that has just arrived.
    Speculation: what backfilling leaves free until the shadow time of the queue's head.

    Source: Gainaru, Pallez, Sun, Raghavan, ICPP 2019 (the sequences, the rule of speculation); the combination is this
    package's.
    Guarantee and time: as EASY, with requests in place of walltimes.
    """

    options_type: ClassVar[type[Options]] = StochasticEasyOptions

    def decide(self, cluster: Ledger) -> None:
        self.end_overdue(cluster)
        Easy.decide(self, cluster)
        self.forget_started(self.speculate(cluster, lambda: self._before_head(cluster)))

    def _before_head(self, cluster: Ledger) -> list[Gap]:
        """Return what is free until the head of the queue may start."""
        length = self._shadow - cluster.now if len(self.waiting) > 1 else 0.0
        return [Gap(cluster.space, cluster.free, length)] if SHORTEST <= length < math.inf else []

    def hold(self, cluster: Ledger, job: Job, end: float, allocation: Allocation) -> None:
        # What runs is entered with its estimate when it starts, and that is the gap's end.
        pass
