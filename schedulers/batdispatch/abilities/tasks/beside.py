"""Jobs that are no tasks, beside tasks: any that fits on what tasks leave free."""

from __future__ import annotations

from batdispatch.core.hosts.allocation import Place
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.ledger import Ledger
from batdispatch.dispatchers.backfilling.filler import Filler


class SparingFiller(Filler):
    """`Filler` that leaves some hosts alone.

    Attributes:
        taken: hosts that tasks have, whether or not a job of theirs runs there at the moment, as a mask.
    """

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        self.taken = 0
        self.choose_now = self._choose_beside

    def _choose_beside(self, job: Job) -> Place | None:
        return self.choose(self.ledger.space.only(self.ledger.free, ~self.taken), job)
