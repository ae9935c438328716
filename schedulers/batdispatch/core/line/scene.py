"""What a placement is shown: what is free, the machine with its topology, and who holds what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from batdispatch.core.capacity.filling import first_fit
from batdispatch.core.capacity.space import Space, present
from batdispatch.core.hosts.allocation import Place
from batdispatch.core.jobs.job import Job
from batdispatch.core.machine.machine import Machine

if TYPE_CHECKING:
    from batdispatch.core.line.ledger import Ledger


class Scene:
    """What a placement sees of the moment, or of the stretch of a plan, for which it places a job.

    Attributes:
        ledger: the cluster as it is now; a placement only looks at it.
        wanted: the jobs that compete with this one, most urgent first: those in a solver's window, or the whole queue.
    """

    __slots__ = ("_free", "_held", "_time", "_wanted", "ledger")

    def __init__(
        self,
        ledger: Ledger,
        free: Any = None,
        held: Callable[[], Iterable[tuple[Job, Place]]] | None = None,
        wanted: Sequence[Job] | None = None,
        time: float | None = None,
    ) -> None:
        self.ledger = ledger
        #: None: what is free now.
        self._free = free
        self._held = held
        self._wanted = wanted
        self._time = time

    @property
    def free(self) -> Any:
        """The capacity that may be used, a value of the ledger's space."""
        return self.ledger.free if self._free is None else self._free

    def lowest(self, job: Job) -> Place | None:
        """Return the lowest hosts of that capacity on which a job fits, or None."""
        if self._free is None:
            return self.ledger.place(job)
        allocation = first_fit(self.ledger.space, self._free, job)
        return None if allocation is None else Place(allocation)

    @property
    def machine(self) -> Machine:
        """The machine, with `Machine.topology` where it is known."""
        return self.ledger.machine

    @property
    def space(self) -> Space[Any]:
        """What interprets `free`."""
        return self.ledger.space

    @property
    def present(self) -> Any:
        """The capacity of the idle machine without the hosts that are away, a value of the ledger's space."""
        return present(self.ledger.space, self.ledger.unavailable)

    @property
    def nodes(self) -> Any:
        """What hosts have free: a mask on whole hosts, else int64 [host, resource]."""
        return self.ledger.space.nodes(self.free)

    @property
    def held(self) -> Iterable[tuple[Job, Place]]:
        """(job, place) of every job that holds something at any moment for which a place is looked for."""
        if self._held is not None:
            return self._held()
        return ((stay.job, Place(stay.allocation)) for stay in self.ledger.running.values())

    @property
    def time(self) -> float:
        """When the job would start, in seconds."""
        return self.ledger.now if self._time is None else self._time

    @property
    def present_holders(self) -> tuple[int, int] | None:
        """What differs whenever others than before run in this ledger, if `held` are those who run now; else None."""
        ledger = self.ledger
        return None if self._held is not None else (ledger.epoch, len(ledger.running))

    @property
    def wanted(self) -> Sequence[Job]:
        """The jobs that compete for the capacity."""
        return tuple(self.ledger.queue.values()) if self._wanted is None else self._wanted


#: A placement's `place`.
Choose = Callable[[Scene, Job], Place | None]
