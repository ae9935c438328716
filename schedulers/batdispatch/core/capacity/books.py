"""How the ledger writes down what is idle: as runs of hosts where jobs take whole hosts, else as a value of the space.

What is written down changes with every start and end, while its value as a `Space` counts it is seldom looked at: those
who plan do, and those who take the lowest hosts do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from batdispatch.core.capacity.filling import first_fit
from batdispatch.core.capacity.space import HostSpace, Space
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.hosts.hostruns import HostRuns
from batdispatch.core.jobs.job import Job

#: Host, resource, free, needed: see `Space.lacking`.
Lacking = tuple[int, str, int, int]


class Books(Protocol):
    """The form in which idle capacity is written down. All methods return new entries and change none."""

    def whole(self) -> Any:
        """Return the entry of the idle machine."""

    def value(self, entry: Any) -> Any:
        """Return an entry as a value of the ledger's space."""

    def cleared(self, entry: Any, job: Job, allocation: Allocation) -> Any | None:
        """Return the entry less what a job uses, if this can be said at once, else None.

        Then all hosts of the allocation, at least one, run jobs and have enough for the job.
        """

    def lacking(self, entry: Any, job: Job, allocation: Allocation) -> Lacking | None:
        """Return what `Space.lacking` does."""

    def take(self, entry: Any, job: Job, allocation: Allocation) -> Any:
        """Return the entry less what a job uses on an allocation, where nothing lacks."""

    def give(self, entry: Any, job: Job, allocation: Allocation) -> Any:
        """Return the entry with what a job used on an allocation."""

    def only(self, entry: Any, hosts: int) -> Any:
        """Return the entry with nothing left outside the mask `hosts`."""

    def fits(self, entry: Any, job: Job) -> bool:
        """Return whether all units of a job find a place."""

    def plausible(self, entry: Any, jobs: Sequence[Job]) -> list[Job]:
        """Return the jobs that pass a quick necessary test of fitting, in the same order."""

    def lowest(self, entry: Any, job: Job) -> Allocation | None:
        """Return the lowest hosts on which a job fits, or None."""


class SpaceBooks:
    """Entries are values of the space."""

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
        return entry

    def cleared(self, entry: Any, job: Job, allocation: Allocation) -> Any | None:
        return None

    def lowest(self, entry: Any, job: Job) -> Allocation | None:
        return first_fit(self._space, entry, job)


class HostBooks:
    """Entries are sets of whole hosts, as runs."""

    def __init__(self, space: HostSpace) -> None:
        self._space = space

    def whole(self) -> HostRuns:
        return HostRuns.of(self._space.machine.compute)

    def value(self, entry: HostRuns) -> int:
        return entry.mask

    def cleared(self, entry: HostRuns, job: Job, allocation: Allocation) -> HostRuns | None:
        bounds = allocation.bounds
        return entry.without(bounds, allocation.size) if bounds else None

    def lacking(self, entry: HostRuns, job: Job, allocation: Allocation) -> Lacking | None:
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
        return Allocation(bounds=entry.lowest(units), size=units) if units <= entry.size else None


def books_of(space: Space[Any]) -> Books:
    """Return the books for a space."""
    return HostBooks(space) if isinstance(space, HostSpace) else SpaceBooks(space)
