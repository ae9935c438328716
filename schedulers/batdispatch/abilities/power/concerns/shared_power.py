"""Power as a resource that jobs share: a cap, what is drawn by no job, and hosts that are closed and lend theirs.

Invariant: what is idle of the power is the machine's, less what jobs that run and holds take, less what is drawn.
"""

from __future__ import annotations

from copy import copy
from typing import Any

from batdispatch.core.capacity.granularity import space_of
from batdispatch.core.capacity.licences import LicensedSpace
from batdispatch.core.line.concern import Concern
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import POWER


class SharedPower(Concern):
    """The power that the jobs of a ledger share. It has a say once hosts are closed.

    Attributes:
        drawn: power that no job has taken and that is not free either, mW.
        lent: power that closed hosts lend to jobs, mW; `drawn` counts it as well.
    """

    offers = ("cap_power", "close", "draw", "drawn", "lent")
    ledger: Ledger

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(ledger)
        self.drawn = self.lent = 0
        self._closed = 0

    def cap_power(self, power: int) -> None:
        """Let jobs share an amount of power, in mW (`Request.power`), from now on; before any job has come."""
        ledger = self.ledger
        ledger.machine = capped = copy(ledger.machine)
        capped.licences = tuple(sorted({**dict(capped.licences), POWER: power}.items()))
        ledger.space = space_of(ledger.machine)
        ledger.idle.recount(ledger.space)
        ledger.idle.change()

    def draw(self, power: int) -> None:
        """Note how much of that power is drawn by no job, in mW. Needs `cap_power`."""
        if power != self.drawn:
            idle = self.ledger.idle
            idle.entry = self._space().drawn(idle.entry, power - self.drawn)
            self.drawn = power
            idle.change()

    def close(self, hosts: int, power: int) -> None:
        """Close `hosts` (a mask) to new jobs and lend their power (mW) to others. Each call replaces the last one."""
        if hosts != self._closed:
            self._closed, self.lent = hosts, power
            self.join()
            self.ledger.shut()

    def _space(self) -> LicensedSpace:
        space = self.ledger.space
        assert isinstance(space, LicensedSpace), "power is shared"
        return space

    # ------------------------------------------------------------------ what it has to say

    def mask(self) -> int:
        return self._closed

    def lends(self, whole: Any) -> Any:
        return self._space().drawn(whole, -self.lent) if self.lent else whole

    def check(self, idle: Any) -> Any:
        return self._space().drawn(idle, self.drawn) if self.drawn else idle
