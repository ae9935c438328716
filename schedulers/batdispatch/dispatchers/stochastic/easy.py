"""EASY backfilling of stochastic jobs."""

from __future__ import annotations

from typing import ClassVar, Literal

from batdispatch.core.ledger import Ledger
from batdispatch.core.options import Options
from batdispatch.dispatchers.backfilling.easy import Easy
from batdispatch.dispatchers.stochastic.attempts import Attempts, StochasticOptions


class StochasticEasyOptions(StochasticOptions, frozen=True, kw_only=True):
    """Options of stochastic EASY.

    requests, rate, grid, runs, factor: see `batdispatch explain stochastic-batch`.
    ordering, placement, default_walltime, prediction, reservation: see `batdispatch explain easy`.
    """

    reservation: Literal["count", "hosts"] = "count"


class StochasticEasy(Attempts, Easy):
    """EASY backfilling with reservation sequences: each job that states its law runs attempt after attempt.

    Capacity that an early end frees is used at once, so long requests waste nothing and asking for the most is best:
    the opposite of a rigid plan. A failed attempt goes to its place by the ordering as a job that has just arrived.

    Source: Gainaru, Pallez, Sun, Raghavan, ICPP 2019 (the sequences); the combination is this package's.
    Guarantee and time: as EASY, with requests in place of walltimes.
    """

    options_type: ClassVar[type[Options]] = StochasticEasyOptions

    def decide(self, cluster: Ledger) -> None:
        self.end_overdue(cluster)
        Easy.decide(self, cluster)
