"""EASY backfilling that starts fewer jobs ahead of the head the dirtier the power is."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

import msgspec

from batdispatch.abilities.power.machine.series import Series
from batdispatch.abilities.power.power_saving import FILES
from batdispatch.core.jobs.job import Job
from batdispatch.core.line import registry
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options
from batdispatch.dispatchers.backfilling.easy import Easy, EasyOptions

#: A share of hosts that is less than a whole number by no more than this is that number.
_ROUNDING = 1e-9


class GreenEasyOptions(EasyOptions, frozen=True, kw_only=True):
    """Options of greenfilling.

    carbon: Let fewer jobs run ahead while this series is high: carbon per kilowatt-hour (`FILE` or `FILE:COLUMN`).
        `none` (the default): it does not count.
    water: Let fewer jobs run ahead while this series is high: water per kilowatt-hour (`FILE` or `FILE:COLUMN`). `none`
        (the default): it does not count.
    tau: Let jobs that run ahead have at least this share of what is free.
    origin: Take this date for the moment 0 s of series with dates. Unless given, it is their first date.
    """

    carbon: str = "none"
    water: str = "none"
    tau: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.1
    origin: str = ""


class GreenEasy(Easy):
    """Starts jobs as `easy` does, but those ahead of the head of the queue share less the dirtier the power is.

    At each decision, jobs that run ahead may take at most a part of the hosts that are free: all where carbon and water
    are at the least of their whole series, and the share `tau` where one of them is at its most. The head starts
    whenever it fits.

    Typical use: where the carbon of the grid is known ahead, and jobs have no slack of their own.
    Limits: a job that was not let ahead is looked at again when another one ends, not when the power becomes cleaner.
        Without a series it decides as `easy`.
    Guarantee: the hosts given to jobs ahead of the head in a decision are at most
        `floor(free * max(tau, 1 - max(carbon', water')))`, with `x' = (x - least) / (most - least)` at that moment.
    Time: as `easy`.
    Deviations:
        - On nodes that jobs share, the part is one of each resource.
        - The source's text has the formula above. In its code, as of 2026, `tau` bounds `x'` from below instead, so
          that nothing runs ahead where carbon or water is at its most.
        - As `easy`. batsched's is the one with `reservation=hosts`.
    References:
        [1] "Greenfilling" as it is described, and evaluated, in the repository Lucas-Doctorate-Project/experiments (its
            README, 2026), and implemented in Lucas-Doctorate-Project/batsched. No paper was found.
    """

    options_type: ClassVar[type[Options]] = GreenEasyOptions
    heeds_choices = False

    def __init__(self, options: Options | None = None, seed: int = 0) -> None:
        super().__init__(options, seed)
        files = [(text, True) for text in (self.options.carbon, self.options.water) if text != "none"]
        load = registry.load(FILES, "series", "reader of files") if files else None
        self._series: list[Series] = load(files, self.options.origin) if load else []
        #: What jobs that run ahead of the head may still take in this decision, of each pooled resource.
        self._left: list[int] = []

    def decide(self, ledger: Ledger) -> None:
        share = max(self.options.tau, 1 - max((each.level(ledger.now) for each in self._series), default=0.0))
        self._left = [math.floor(free * share + _ROUNDING) for free in ledger.space.pooled(ledger.free).tolist()]
        super().decide(ledger)

    def _backfill(self, ledger: Ledger, job: Job, head: Job | None) -> bool:
        left = [free - need for free, need in zip(self._left, ledger.space.sums_needed(job), strict=True)]
        if min(left) < 0 or not super()._backfill(ledger, job, head):
            return False
        self._left = left
        return True
