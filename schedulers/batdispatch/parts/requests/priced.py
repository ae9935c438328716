"""Options of the request sequences that look for the least cost under a price."""

from __future__ import annotations

from typing import Annotated

import msgspec

from batdispatch.parts.requests.base import SequenceOptions
from batdispatch.parts.requests.cost import Price

#: A weight or an amount of a price.
Weight = Annotated[float, msgspec.Meta(ge=0, le=1e9)]


class PricedOptions(SequenceOptions, frozen=True, kw_only=True):
    """Options that make the price of an attempt; at least one of alpha, beta and gamma is more than 0.

    alpha: What each second reserved costs. 0: nothing.
    beta: What each second used costs. 0: nothing.
    gamma: What each attempt costs, however long it is, in the law's unit of time. 0: nothing.
    overhead: Time that each attempt after the first needs to start anew, reserved and used, in the law's unit of time.
        It counts in the price only: the simulation does not add it.
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
