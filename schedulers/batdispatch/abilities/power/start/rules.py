"""Start rules that know the price ahead, or only what it has been."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec

from batdispatch.abilities.power.machine.series import ExponentialMean
from batdispatch.abilities.power.start.base import Flexibility, StartRule
from batdispatch.core.line.options import Options


class Cheapest(StartRule):
    """Keeps a job back until the start at which it would pay least, if it ran as long as expected.

    It takes the price of the whole series for known, as with day-ahead prices. Of several such starts it takes the
    first one.

    Typical use: where the price is known ahead.
    """

    def choose(self, wait: Flexibility) -> float:
        price, length, now, latest = wait.price, wait.length, wait.now, wait.latest
        # What a job pays changes linearly between these moments.
        begins = price.moments(now, latest)
        ends = (moment - length for moment in price.moments(now + length, latest + length))
        starts = sorted({now, latest, *begins, *ends})
        return min(starts, key=lambda start: (round(_paid(wait, start), 9), start))


def _paid(wait: Flexibility, start: float) -> float:
    if not wait.length:
        return wait.price.at(start)
    return wait.price.integral(start, start + wait.length) / wait.length


class BelowMeanOptions(Options, frozen=True, kw_only=True):
    """Options of the start rule that waits for a price below its mean.

    memory: Take the mean over about this many seconds: what was longer ago counts by less and less.
    """

    memory: Annotated[float, msgspec.Meta(gt=0, le=1e9)] = 86_400.0


class BelowMean(StartRule):
    """Keeps a job back until the price is at most its exponential mean until then. It needs no forecast.

    Typical use: where the price is only known as it comes.
    """

    options_type: ClassVar[type[Options]] = BelowMeanOptions

    def choose(self, wait: Flexibility) -> float:
        mean = ExponentialMean.of(wait.price, self.options.memory)
        # Between two changes the mean moves towards the price, and never to its other side.
        moments = (wait.now, *wait.price.moments(wait.now, wait.latest))
        return next((moment for moment in moments if wait.price.at(moment) <= mean.at(moment)), wait.latest)
