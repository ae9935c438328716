"""What an ordering is, and how one is found by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from batdispatch.core import registry
from batdispatch.core.job import Job

#: Entry-point group in which a package announces its orderings.
GROUP = "batdispatch.orderings"


class Ordering(ABC):
    """Says which waiting job goes first."""

    #: Whether keys change while a job waits, so that the queue is sorted again at every decision.
    dynamic: ClassVar[bool] = False

    @abstractmethod
    def key(self, job: Job, now: float, estimate: float) -> float:
        """Return the job's key; the smallest goes first.

        Args:
            job: a waiting job.
            now: simulated time, s.
            estimate: expected run time, s: the walltime unless the dispatcher predicts; may be infinite.
        """


def make_ordering(name: str) -> Ordering:
    """Build an ordering by registered name.

    Raises:
        InputError: there is none of that name.
    """
    return registry.find(GROUP, name, Ordering, "ordering")()
