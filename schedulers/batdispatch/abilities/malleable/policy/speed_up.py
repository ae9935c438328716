"""Expansion where it pays."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec

from batdispatch.abilities.malleable.policy.base import Action, Situation
from batdispatch.abilities.malleable.policy.dmr import Dmr, DmrOptions
from batdispatch.core.line.options import Options


class SpeedUpOptions(DmrOptions, frozen=True, kw_only=True):
    """Options of the policy speed-up.

    efficiency: Expand a job only if its speed per unit stays at least this share of what it is now. 0: expand whatever
        the loss.
    """

    efficiency: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.7


class SpeedUp(Dmr):
    """Does as `dmr`, but expands a job only if it then ends earlier and the speed-up is worth the nodes.

    A size is worth it if the job gains more time than the resize takes, and if (time on n units) n / ((time on k units)
    k) is at least `efficiency` for the expansion from n to k units. What the application asks for is granted anyway.

    Typical use: where jobs gain little from many nodes, so that not every expansion pays.
    References: the policy is this package's; what is not said here is `dmr`.
    """

    options_type: ClassVar[type[Options]] = SpeedUpOptions

    def expand(self, situation: Situation, most: int) -> Action:
        units, time = situation.units, situation.sizes.scalability.time
        now = time(units) * units
        return situation.expand(
            size
            for size in situation.fitting
            if size <= most
            and situation.gain(size) > 0.0
            # Of a linear scalability the efficiency is 1, up to rounding.
            and now >= self.options.efficiency * time(size) * size * (1.0 - 1e-9)
        )
