"""Options of the request sequences that look for the least cost under a price."""

from __future__ import annotations

from typing import Annotated

import msgspec

from batdispatch.abilities.stochastic.requests.base import SequenceOptions
from batdispatch.abilities.stochastic.requests.cost import Price

#: A weight or an amount of a price.
Weight = Annotated[float, msgspec.Meta(ge=0, le=1e9)]


class PricedOptions(SequenceOptions, frozen=True, kw_only=True):
    """Options that make the price of an attempt; at least one of alpha, beta and gamma is more than 0.

    alpha: Charge this for each second reserved. 0: reserved time costs nothing.
    beta: Charge this for each second used. 0: used time costs nothing.
    gamma: Charge this for each attempt, however long it is, in the law's unit of time. 0: attempts themselves cost
        nothing.
    overhead: Charge each attempt after the first for this much more time, reserved and used, which it needs to start
        anew, in the law's unit of time. It counts in the price only: the simulation does not add it. 0: it needs no
        more time.
    """

    alpha: Weight = 1.0
    beta: Weight = 0.0
    gamma: Weight = 0.0
    overhead: Weight = 0.0

    def __post_init__(self) -> None:
        if not self.alpha + self.beta + self.gamma > 0:
            raise ValueError("alpha, beta and gamma are all 0: every sequence would cost the same")

    @property
    def price(self) -> Price:
        """The price that the options make."""
        return Price(self.alpha, self.beta, self.gamma, self.overhead)
