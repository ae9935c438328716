"""EASY backfilling of stochastic jobs."""

from __future__ import annotations

from typing import ClassVar

from batdispatch.abilities.stochastic.attempts import Attempts, Rate
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.options import Options
from batdispatch.dispatchers.backfilling.easy import Easy, EasyOptions


class StochasticEasyOptions(EasyOptions, frozen=True, kw_only=True):
    """Options of stochastic EASY.

    requests, rate, speculate: As for `attempts`.
    """

    requests: str = "toptimal"
    rate: Rate = None
    speculate: bool = False


class StochasticEasy(Attempts):
    """Runs `easy` under `attempts`: each job that states its law runs attempt after attempt.

    Capacity that an early end frees is used at once. So long limits waste nothing, and it is best to ask for the most,
    which is the opposite of a rigid plan. When an attempt has failed, the ordering treats the next one as a job that
    has just arrived. With `speculate`, jobs are also tried in what backfilling leaves free until the shadow time of the
    queue's head.

    Typical use: the baseline for stochastic jobs.
    Limits: those of `easy` and `attempts`.
    Guarantee: `start(head) <= shadow(head)` as under `easy`, with limits in place of walltimes. Each stochastic job
        succeeds in the end, as under `attempts`.
    Time: that of `easy` and `attempts`: `O(r + l + c (log l + n))` for a decision, and `O(log n)` for an attempt.
    Deviations: the literature on stochastic jobs has no EASY backfilling. The combination is ours.
    References:
        [1] Lifka: "The ANL/IBM SP scheduling system", JSSPP 1995. doi:10.1007/3-540-60153-8_35 (EASY)
        [2] Gainaru, Pallez, Sun, Raghavan: "Speculative scheduling for stochastic HPC applications", ICPP 2019.
            doi:10.1145/3337821.3337890 (attempts)
    """

    options_type: ClassVar[type[Options]] = StochasticEasyOptions

    def make_inner(self, seed: int) -> Dispatcher:
        return Easy(self.options, seed)
