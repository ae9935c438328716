"""First come, first served."""

from batdispatch.core.line.ledger import Ledger
from batdispatch.dispatchers.backfilling.queue import QueueDispatcher


class Fcfs(QueueDispatcher):
    """Starts jobs strictly in order. The first job that does not fit holds back all others.

    Under another ordering than that of arrival this is strict list scheduling in that order.

    Typical use: the baseline that every other dispatcher should beat. Anybody can predict what it does.
    Limits: a large part of the machine stands idle while a large job waits.
    Guarantee: if job i stands before job j in the queue, `start(i) <= start(j)`. No job starves if each job ends.
    Time: `O(1)` for a decision if nothing can start, else `O(s)` placements for s jobs started.
    Deviations: none. It gives the schedules of batsched's fcfs_fast.
    References:
        [1] Feitelson, Rudolph, Schwiegelshohn, Sevcik, Wong: "Theory and practice in parallel job scheduling", JSSPP
            1997 (as the baseline).
    """

    heeds_choices = True

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        self._blocked_at = ((-1, 0), "")

    def decide(self, ledger: Ledger) -> None:
        queue = self.waiting
        if queue and (self.epoch(ledger), queue[0].id) != self._blocked_at:
            self.start_from_head(ledger)
            if self.waiting and not self.ordering.dynamic:
                self._blocked_at = (self.epoch(ledger), self.waiting[0].id)
        self.fresh.clear()
