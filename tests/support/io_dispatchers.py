"""Dispatchers that send I/O traffic along with jobs, for tests."""

from batdispatch import Dispatcher, Ledger
from batdispatch.core.hosts.allocation import Allocation, IoJob, Place


class Writer(Dispatcher):
    """Lets every host of a job write 100 MB to the storage host with the lowest id."""

    def profile(self, hosts: int) -> dict[str, object]:
        """Return the traffic of `hosts` hosts, of which the last is the storage."""
        com = [1e8 if column == hosts - 1 and row != column else 0.0 for row in range(hosts) for column in range(hosts)]
        return {"type": "parallel", "cpu": [0.0] * hosts, "com": com}

    def decide(self, ledger: Ledger) -> None:
        for job in list(ledger.queue.values()):
            place = ledger.place(job)
            if place is not None:
                hosts = Allocation(place.allocation.mask | 1 << ledger.machine.storage[0].id)
                traffic = IoJob(hosts, "write", self.profile(hosts.size))
                ledger.start(job, Place(place.allocation, io_job=traffic))


class Careless(Writer):
    """Sends traffic that cannot run along with a job."""

    def profile(self, hosts: int) -> dict[str, object]:
        return {"type": "data_staging", "nb_bytes": 1, "from": "disk", "to": "spare"}
