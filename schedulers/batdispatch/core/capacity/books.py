"""How the ledger writes down what is idle: as runs of hosts where jobs take whole hosts, else as a value of the space.

What is written down changes with every start and end, while its value as a `Space` counts it is seldom looked at: those
who plan do, and those who take the lowest hosts do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from batdispatch.core.capacity.filling import first_fit
from batdispatch.core.capacity.space import HostSpace, Space
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.hosts.hostruns import HostRuns
from batdispatch.core.jobs.job import Job

#: Host, resource, free, needed: see `Space.lacking`.
Shortage = tuple[int, str, int, int]


class Books:
    """Idle capacity as entries, here values of the space. What the space asks and does, books ask and do of entries.

    All methods return new entries and change none.
    """

    def __init__(self, space: Space[Any]) -> None:
        self._space = space
        self.whole = space.whole
        self.lacking = space.lacking
        self.take = space.take
        self.give = space.give
        self.only = space.only
        self.fits = space.fits
        self.plausible = space.plausible

    def value(self, entry: Any) -> Any:
        """Return an entry as a value of the ledger's space."""
        return entry

    def pooled(self, entry: Any) -> list[int]:
        """Return how much is free of each resource over the machine, [pooled resource]."""
        amounts: list[int] = self._space.pooled(entry).tolist()
        return amounts

    def count(self, entry: Any) -> int:
        """Return how many hosts are free, on a machine of whole hosts."""
        hosts: int = self._space.nodes(entry)
        return hosts.bit_count()

    def cleared(self, entry: Any, job: Job, allocation: Allocation) -> Any | None:
        """Return the entry less what a job uses, if this can be said at once, else None.

        Then all hosts of the allocation, at least one, run jobs and have enough for the job.
        """
        return None

    def lowest(self, entry: Any, job: Job) -> Allocation | None:
        """Return the lowest hosts on which a job fits, or None."""
        return first_fit(self._space, entry, job)


class HostBooks(Books):
    """Entries are sets of whole hosts, as runs."""

    def __init__(self, space: HostSpace) -> None:
        self._space = space
        #: An entry, the hosts of it that were said to be the lowest for a job last, and what is left without them.
        self._offer: tuple[HostRuns, Allocation, HostRuns] | None = None

    def whole(self) -> HostRuns:
        return HostRuns.of(self._space.machine.compute)

    def value(self, entry: HostRuns) -> int:
        return entry.mask

    def pooled(self, entry: HostRuns) -> list[int]:
        return [entry.size]

    def count(self, entry: HostRuns) -> int:
        return entry.size

    def cleared(self, entry: HostRuns, job: Job, allocation: Allocation) -> HostRuns | None:
        offer = self._offer
        if offer is not None and offer[0] is entry and offer[1] is allocation:
            return offer[2]
        bounds = allocation.bounds
        return entry.without(bounds, allocation.size) if bounds else None

    def lacking(self, entry: HostRuns, job: Job, allocation: Allocation) -> Shortage | None:
        return self._space.lacking(entry.mask, job, allocation)

    def take(self, entry: HostRuns, job: Job, allocation: Allocation) -> HostRuns:
        left = entry.without(allocation.bounds, allocation.size)
        assert left is not None, "what lacks is refused before"
        return left

    def give(self, entry: HostRuns, job: Job, allocation: Allocation) -> HostRuns:
        return entry.joined(allocation.bounds, allocation.size)

    def only(self, entry: HostRuns, hosts: int) -> HostRuns:
        return HostRuns.of(entry.mask & hosts)

    def fits(self, entry: HostRuns, job: Job) -> bool:
        return job.request.units <= entry.size and (job.request.plain or self._space.fits(entry.mask, job))

    def plausible(self, entry: HostRuns, jobs: Sequence[Job]) -> list[Job]:
        count = entry.size
        return [job for job in jobs if job.request.units <= count] if count else []

    def lowest(self, entry: HostRuns, job: Job) -> Allocation | None:
        request = job.request
        if not request.plain:
            return first_fit(self._space, entry.mask, job)
        units = request.units
        if units > entry.size:
            return None
        bounds, left = entry.split(units)
        allocation = Allocation(bounds=bounds, size=units)
        self._offer = entry, allocation, left
        return allocation


class Snapshot:
    """What was free at a moment, to be looked at later; worked out when it is asked for.

    Attributes:
        entry: as the books have it.
    """

    def __init__(self, books: Books, entry: Any) -> None:
        self.entry = entry
        self._books = books

    @cached_property
    def free(self) -> Any:
        """The same as a value of the space."""
        return self._books.value(self.entry)

    @cached_property
    def pooled(self) -> list[int]:
        """What was free of each resource over the machine, [pooled resource]."""
        return self._books.pooled(self.entry)


def books_of(space: Space[Any]) -> Books:
    """Return the books for a space."""
    return HostBooks(space) if isinstance(space, HostSpace) else Books(space)
