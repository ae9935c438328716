"""Fill: start whatever fits."""

from batdispatch.core.ledger import Ledger
from batdispatch.dispatchers.backfilling.queue import QueueDispatcher


class Filler(QueueDispatcher):
    """Go through the queue in order and start every job that fits now. Large jobs may starve.

    Linear in the queue when capacity was freed; a job that did not fit is not tried again before.
    """

    def begin(self, cluster: Ledger) -> None:
        super().begin(cluster)
        self._epoch = -1

    def decide(self, cluster: Ledger) -> None:
        # Since the last decision capacity only shrank, unless the epoch says otherwise: only new jobs can fit.
        candidates = self.fresh_in_order(cluster) if cluster.epoch == self._epoch else self.in_order(cluster)
        self._epoch = cluster.epoch
        started = []
        for job in cluster.space.plausible(cluster.free, candidates):
            allocation = self.choose(cluster.free, job)
            if allocation is not None:
                cluster.start(job, allocation)
                started.append(job)
        self.forget_started(started)
