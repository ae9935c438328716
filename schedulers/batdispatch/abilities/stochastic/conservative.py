"""Conservative backfilling of stochastic jobs."""

from __future__ import annotations

from typing import ClassVar

from batdispatch.abilities.stochastic.attempts import Attempts, Rate
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.options import Options
from batdispatch.dispatchers.backfilling.conservative import Conservative
from batdispatch.dispatchers.backfilling.queue import PlanOptions


class StochasticConservativeOptions(PlanOptions, frozen=True, kw_only=True):
    """Options of stochastic conservative backfilling.

    requests, rate, speculate: As for `attempts`.
    """

    requests: str = "toptimal"
    rate: Rate = None
    speculate: bool = False


class StochasticConservative(Attempts):
    """Runs `conservative` under `attempts`: each job that states its law runs attempt after attempt.

    The plan is compressed at every end. So an early end moves other starts up (see `stochastic-easy` for what follows
    from that). With `speculate`, jobs are also tried in gaps of the plan that begin now. A job is tried only if its own
    planned start is not before the gap's end. If it fails, it keeps that start.

    Typical use: where stochastic jobs should have a planned start.
    Limits: those of `conservative` and `attempts`. A further attempt is a new job for the plan, so the start that was
        planned is that of one attempt.
    Guarantee: `start(a) <= planned(a)` for each attempt a, as under `conservative`, with limits in place of walltimes.
        Each stochastic job succeeds in the end, as under `attempts`.
    Time: that of `conservative` and `attempts`: `O(q s)` for a compression, and `O(log n)` for an attempt.
    Deviations: the literature on stochastic jobs has no conservative backfilling. The combination is ours.
    References:
        [1] Mu'alem, Feitelson: "Utilization, predictability, workloads, and user runtime estimates in scheduling the
            IBM SP2 with backfilling", IEEE TPDS 12(6), 2001, pp. 529-543, section 2.2. doi:10.1109/71.932708
        [2] Gainaru, Pallez, Sun, Raghavan: "Speculative scheduling for stochastic HPC applications", ICPP 2019.
            doi:10.1145/3337821.3337890 (attempts)
    """

    options_type: ClassVar[type[Options]] = StochasticConservativeOptions

    def make_inner(self, seed: int) -> Dispatcher:
        return Conservative(self.options, seed)
