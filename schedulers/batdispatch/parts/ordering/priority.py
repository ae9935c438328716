"""Orderings by priorities whose values mean something, as resource managers hand them out."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import Job
from batdispatch.parts.ordering.base import Ordering, make_ordering

#: The first priority that Slurm hands out (0xffff0000), and the largest one.
TOP = 4294901760


class Priority(Ordering):
    """An ordering by whole numbers: the largest goes first.

    Programs that maximise a sum of priorities need the numbers themselves, and not only the order that these imply.
    """

    @abstractmethod
    def value(self, job: Job, now: float) -> int:
        """Return a waiting job's priority at `now`, in seconds: a whole number from 1 to `TOP`."""

    def key(self, job: Job, now: float, expected: float) -> float:
        return -self.value(job, now)


class Basic(Priority):
    """Gives Slurm's priority/basic: the first job to arrive gets 4294901760, and each further job gets one less.

    The jobs are then served in the order of their arrival. All values are nearly equal, so a program that maximises
    their sum starts as many jobs as it can.

    Typical use: to compare with a Slurm whose `PriorityType` is `priority/basic`.
    """

    dynamic: ClassVar[bool] = False

    def value(self, job: Job, now: float) -> int:
        return max(TOP - self.ledger.rank(job), 1)


def make_priority(text: str) -> Priority:
    """Build an ordering that knows priorities from its name and options, as ``multifactor[age=1000]``.

    Raises:
        InputError: there is none of that name, an option is wrong, or the ordering is no `Priority`.
    """
    ordering = make_ordering(text)
    if not isinstance(ordering, Priority):
        raise InputError(f"ordering {text} knows an order and no priorities, expected one that does, such as basic")
    return ordering
