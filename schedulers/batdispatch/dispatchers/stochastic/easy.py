"""EASY backfilling of stochastic jobs."""

from __future__ import annotations

from typing import ClassVar

from batdispatch.core.dispatcher import Dispatcher
from batdispatch.core.options import Options
from batdispatch.dispatchers.backfilling.easy import Easy, EasyOptions
from batdispatch.layers.attempts import Attempts, Rate


class StochasticEasyOptions(EasyOptions, frozen=True, kw_only=True):
    """Options of stochastic EASY.

    requests, rate, speculate: see `batdispatch explain attempts`.
    ordering, placement, default_walltime, prediction, reservation: see `batdispatch explain easy`.
    """

    requests: str = "toptimal"
    rate: Rate = None
    speculate: bool = False


class StochasticEasy(Attempts):
    """EASY backfilling under `attempts`: each job that states its law runs attempt after attempt.

    Capacity that an early end frees is used at once, so long limits waste nothing and asking for the most is best: the
    opposite of a rigid plan. A failed attempt goes to its place by the ordering as a job that has just arrived.
    Speculation: in what backfilling leaves free until the shadow time of the queue's head.

    Guarantee and time: as EASY and `attempts`.
    References: as `easy` and `attempts`; the combination is this package's.
    """

    options_type: ClassVar[type[Options]] = StochasticEasyOptions

    def make_inner(self, seed: int) -> Dispatcher:
        return Easy(self.options, seed)
