"""What a sleep rule is, what it sees, what it answers, and how one is found by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import msgspec

from batdispatch.abilities.power.machine.series import Series
from batdispatch.core.line import registry
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Part

#: Entry-point group in which a package announces its sleep rules.
GROUP = "batdispatch.sleeps"


class IdleHosts(msgspec.Struct, frozen=True, kw_only=True):
    """Hosts that may go to sleep; sets of hosts are masks."""

    #: Those that have been idle for long enough, can sleep, and are not about to be needed.
    hosts: int
    #: All hosts that are awake and idle.
    awake: int
    #: At most so many of `hosts` may go to sleep: the others are kept awake.
    most: int
    #: The cluster; a rule only looks at it.
    ledger: Ledger
    #: What a kilowatt-hour costs; None: the layer was given no price.
    price: Series | None = None

    def highest(self, count: int) -> int:
        """Return the mask of the `count` hosts of `hosts` with the highest ids: most placements take low ids first."""
        hosts, spared = self.hosts, max(self.hosts.bit_count() - count, 0)
        for _ in range(spared):
            hosts &= hosts - 1
        return hosts


class SleepRule(Part, ABC):
    """Says which idle hosts go to sleep; asked after each decision, if there are any that may.

    Attributes:
        needs_price: whether it looks at the price; it is then asked when that changes, too.
        needs_empty_queue: whether no host may sleep while a job waits; it is then asked only when none does.
    """

    needs_price: ClassVar[bool] = False
    needs_empty_queue: ClassVar[bool] = False

    @abstractmethod
    def choose(self, idle: IdleHosts) -> int:
        """Return the mask of the hosts that go to sleep now, at most `IdleHosts.most` of `IdleHosts.hosts`."""


def make_sleep(text: str) -> SleepRule:
    """Build a sleep rule from its name, with options in brackets if any.

    Raises:
        InputError: there is none of that name, or an option is wrong.
    """
    return registry.make(GROUP, text, SleepRule, "sleep rule")
