"""Conservative backfilling of stochastic jobs."""

from __future__ import annotations

from typing import ClassVar

from batdispatch.core.dispatcher import Dispatcher
from batdispatch.core.options import Options
from batdispatch.dispatchers.backfilling.conservative import Conservative
from batdispatch.dispatchers.backfilling.queue import PlanOptions
from batdispatch.layers.attempts import Attempts, Rate


class StochasticConservativeOptions(PlanOptions, frozen=True, kw_only=True):
    """Options of stochastic conservative backfilling.

    requests, rate, speculate: see `batdispatch explain attempts`.
    ordering, placement, default_walltime, prediction: see `batdispatch explain conservative`.
    """

    requests: str = "toptimal"
    rate: Rate = None
    speculate: bool = False


class StochasticConservative(Attempts):
    """Conservative backfilling under `attempts`: each job that states its law runs attempt after attempt.

    The plan is compressed at every end, so it re-packs: see `stochastic-easy`. Speculation: in gaps of the plan from
    now on; a job is tried only where its own planned start is not before the gap's end, and keeps that start if it
    fails.

    Guarantee and time: as conservative and `attempts`.
    References: as `conservative` and `attempts`; the combination is this package's.
    """

    options_type: ClassVar[type[Options]] = StochasticConservativeOptions

    def make_inner(self, seed: int) -> Dispatcher:
        return Conservative(self.options, seed)
