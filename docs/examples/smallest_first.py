"""Start the smallest waiting job that fits; ties go by arrival."""

from batdispatch import Dispatcher, Ledger


class SmallestFirst(Dispatcher):
    """Smallest job first, without reservations: large jobs may starve."""

    def decide(self, cluster: Ledger) -> None:
        # A copy: starting a job takes it out of the queue. sorted() keeps the order of arrival among equals.
        for job in sorted(cluster.queue.values(), key=lambda job: job.units):
            allocation = cluster.place(job)
            if allocation is not None:
                cluster.start(job, allocation)
