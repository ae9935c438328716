"""Start the smallest waiting job that fits; ties go by arrival."""

from batdispatch import Dispatcher, Ledger


class SmallestFirst(Dispatcher):
    """Smallest job first, without reservations: large jobs may starve."""

    def decide(self, ledger: Ledger) -> None:
        # A copy: starting a job takes it out of the queue. sorted() keeps the order of arrival among equals.
        for job in sorted(ledger.queue.values(), key=lambda job: job.units):
            place = ledger.place(job)
            if place is not None:
                ledger.start(job, place)
