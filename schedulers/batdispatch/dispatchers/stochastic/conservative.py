"""Conservative backfilling of stochastic jobs."""

from __future__ import annotations

from batdispatch.core.ledger import Ledger
from batdispatch.dispatchers.backfilling.conservative import Conservative
from batdispatch.dispatchers.stochastic.attempts import Attempts


class StochasticConservative(Attempts, Conservative):
    """Conservative backfilling with reservation sequences: each job that states its law runs attempt after attempt.

    The plan is compressed at every end, so it re-packs: see `stochastic-easy`.

    Source: Gainaru, Pallez, Sun, Raghavan, ICPP 2019 (the sequences); the combination is this package's.
    Guarantee and time: as conservative, with requests in place of walltimes.
    """

    def decide(self, cluster: Ledger) -> None:
        self.end_overdue(cluster)
        Conservative.decide(self, cluster)
