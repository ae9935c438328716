"""Sleep rules that look at the hosts and the queue."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec

from batdispatch.abilities.power.machine.series import ExponentialMean
from batdispatch.abilities.power.sleep.base import IdleHosts, SleepRule
from batdispatch.core.line.options import Options


class Idle(SleepRule):
    """Lets every host sleep that has been idle for long enough.

    Typical use: on machines with little load, or where hosts wake up quickly.
    """

    def choose(self, idle: IdleHosts) -> int:
        return idle.highest(idle.most)


class Quiet(SleepRule):
    """Lets idle hosts sleep only while no job waits.

    While jobs wait, idle hosts are those that a larger job is collecting: it would have to wake them.

    Typical use: on machines with high load, or where hosts take long to wake up.
    """

    needs_empty_queue = True

    def choose(self, idle: IdleHosts) -> int:
        return idle.highest(idle.most)


class DearOptions(Options, frozen=True, kw_only=True):
    """Options of the sleep rule that looks at the price.

    memory: Take the mean over about this many seconds: what was longer ago counts by less and less.
    """

    memory: Annotated[float, msgspec.Meta(gt=0, le=1e9)] = 86_400.0


class Dear(SleepRule):
    """Lets idle hosts sleep only while the price is above its exponential mean.

    Typical use: where hosts switch too seldom to be worth it at any other time.
    """

    options_type: ClassVar[type[Options]] = DearOptions
    needs_price = True

    def choose(self, idle: IdleHosts) -> int:
        price, now = idle.price, idle.ledger.now
        assert price is not None, "the layer sees to it"
        dear = price.at(now) > ExponentialMean.of(price, self.options.memory).at(now)
        return idle.highest(idle.most) if dear else 0
